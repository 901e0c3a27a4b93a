"""The first screen of the report: what label noise does, what WAR does about it, and what this run says and cannot say.

Everything is put together from the study's content; what is not there is left out, never guessed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from warlab.ids import NoiseId, base_method
from warlab.reporting.claims.verdicts import UNTESTED
from warlab.reporting.page.context import Context
from warlab.reporting.page.curves import Line, Panel, picture
from warlab.reporting.page.filters import duration
from warlab.reporting.page.headline import BASELINE, PROPOSED, Headline, count, interval_text, percent
from warlab.reporting.stats.intervals import MIN_SEEDS, single
from warlab.reporting.tables.labels import name

WAR = (PROPOSED, "war_embed", "war_01")
TELLING = ("data", "train images", "train tiles", "test images", "size", "epochs", "width")  # reductions worth a line
MOST_REDUCTIONS = 4


@dataclass(frozen=True)
class Opening:
    """What the first screen says of this study; `war`: whether any variant of WAR was run."""

    war: bool
    numbers: str = ""
    run: Sequence[str] = ()
    limits: Sequence[str] = ()
    picture: Markup = field(default_factory=Markup)
    picture_title: str = ""
    picture_text: str = ""


def opening(context: Context, headlines: Sequence[Headline], seconds: float) -> Opening:
    """`seconds` of all trainings, 0 where they are not known."""
    panel = pictured(context.curves)
    lines = [line for one in context.curves for line in one.lines]
    methods = {base_method(line.method) for line in lines}
    seeds = sorted({line.seeds for line in lines})
    reductions = context.reductions if context.has_papers_numbers else ()  # your own data reduce nothing
    return Opening(
        war=any(method.startswith("war") for method in methods),
        numbers=_numbers(panel, context, headlines) if panel else "",
        run=[sentence for sentence in (_run(context, lines, seeds, seconds), _reduced(reductions)) if sentence],
        limits=_limits(context, methods, seeds, bool(reductions)),
        picture=picture(panel.lines, prominent(panel.lines)) if panel else Markup(),
        picture_title=panel.title if panel else "",
        picture_text=_in_words(panel) if panel else "",
    )


def pictured(panels: Sequence[Panel]) -> Panel | None:
    """The setting of the picture: on real data, with wrong labels, with WAR and CCE, and with most wrong labels."""

    def worth(panel: Panel) -> tuple[float, ...]:
        methods, noise = {line.method for line in panel.lines}, panel.setting.noise
        both = (leading(methods) is not None) + (BASELINE in methods)
        return not panel.stand_in, noise != "clean", both, NoiseId.parse(noise).rate, len(methods)

    return max(panels, key=worth, default=None)


def leading(methods: Collection[str]) -> str | None:
    """The variant of WAR to show: that of the paper's main table, or else the first there is."""
    return next((one for one in (*WAR, *sorted(methods)) if one in methods and one.startswith("war")), None)


def prominent(lines: Sequence[Line]) -> list[Line]:
    """CCE, AR and one WAR in colour, the last on top; of a study without them the first and the best at the end."""
    by_method = {line.method: line for line in lines}
    found = [by_method[one] for one in (BASELINE, "ar", leading(by_method)) if one in by_method]
    if len(found) >= 2:
        return found
    if len(lines) <= 2:
        return list(lines)
    first, best = (found or lines)[0], max(lines, key=lambda line: line.mean[-1])
    return [first] if best is first else [first, best]


def _in_words(panel: Panel) -> str:
    """The picture in numbers: of each coloured line its highest point and its end."""
    said = []
    for line in prominent(panel.lines):
        top = max(line.mean)
        peak = line.epochs[line.mean.index(top)]
        said.append(f"{line.name} is highest after epoch {peak} ({percent(top)}) and ends at {percent(line.mean[-1])}")
    others = len(panel.lines) - len(said)
    return f"{'; '.join(said)}." + (f" Grey: {_several(others, 'other method')}." if others else "")


def _numbers(panel: Panel, context: Context, headlines: Sequence[Headline]) -> str:
    """The line of numbers with its uncertainty, of the setting in the picture."""
    if panel.stand_in:
        return "These are stand-in data: the numbers say nothing about the methods."
    for headline in headlines:
        if headline.setting[:3] == panel.setting[:3]:
            return headline.sentence
    evidence = context.evidence
    found = [(line, evidence.number(panel.setting, line.method)) for line in panel.lines[:2]] if evidence else []
    said = [
        f"{line.name} ends at {percent(number.mean)}{interval_text(single(number), sign=False)}"
        for line, number in found
        if number
    ]
    return f"{panel.title}: {', '.join(said)}." if said else ""


def _run(context: Context, lines: Sequence[Line], seeds: Sequence[int], seconds: float) -> str:
    """How many trainings of what, and how long they took."""
    if not lines:
        return ""
    datasets, noises = (
        list(dict.fromkeys(panel.setting.called(context.labels, [kind]) for panel in context.curves))
        for kind in ("dataset", "noise")
    )
    methods, runs = {line.method for line in lines}, sum(line.seeds for line in lines)
    often = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else _several(seeds[0], "seed")
    time = f"{duration(seconds)} of training" if seconds else "their times were not kept"
    return (
        f"{runs} training{'s' * (runs != 1)} of {_several(len(methods), 'method')} on {_listed(datasets)} "
        f"({_listed(noises)}), {often} each; {time}."
    )


def _reduced(reductions: Sequence[Mapping[str, str]]) -> str:
    """The most telling values that differ from the paper's."""
    telling = [row for word in TELLING for row in reductions if row["what"].endswith(f": {word}")][:MOST_REDUCTIONS]
    chosen = [f"{row['what'].replace(': ', ' ')} {row['here']} (paper: {row['paper']})" for row in telling]
    owners = {row["what"].partition(": ")[0] for row in telling}
    if len(owners) == 1:  # one dataset: it is named already
        chosen = [text.removeprefix(f"{next(iter(owners))} ") for text in chosen]
    rest = len(reductions) - len(chosen)
    more = f"; {_several(rest, 'more value')} below" if rest else ""
    return f"Reduced: {', '.join(chosen)}{more}." if chosen else ""


def _limits(context: Context, methods: Collection[str], seeds: Sequence[int], reduced: bool) -> list[str]:
    """What this run cannot say, the gravest first."""
    marked = [row["dataset"] for row in context.datasets if row["data"] == "stand-in"]
    stand_ins = _listed([name(context.labels, "dataset", dataset) for dataset in marked])
    fewest = min(seeds, default=0)
    trainings = "One training" if fewest == 1 else f"{count(fewest).capitalize()} trainings"
    untested = sum(row.verdict == UNTESTED for row in context.claims)
    clean = bool(methods) and all(panel.setting.noise == "clean" for panel in context.curves)
    found = {
        f"{stand_ins}: stand-in data in place of the real ones, which say nothing about the methods.": bool(marked),
        "No label was made wrong here, so nothing shows what wrong labels do.": clean,
        "No variant of WAR was run.": bool(methods) and not any(method.startswith("war") for method in methods),
        "Plain cross entropy was not run, so nothing shows what happens without a remedy.": bool(methods)
        and BASELINE not in methods,
        f"{trainings} of each method: how far another one would end elsewhere is not known; an interval is over the "
        "test images only.": 0 < fewest < MIN_SEEDS,
        "Smaller than the paper's experiment: compare the methods with each other, not the percentages with the "
        "paper's.": reduced,
        f"{untested} of the {len(context.claims)} claims need data or trainings that are not here.": bool(untested),
    }
    return [sentence for sentence, applies in found.items() if applies]


def _several(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'s' * (number != 1)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
