"""The first screen of the report: what label noise does, what WAR does about it, and what this run says and cannot say.

Everything is put together from the study's content; what is not there is left out, never guessed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from warlab.ids import base_method
from warlab.reporting.claims.evidence import Evidence, Setting
from warlab.reporting.page.headline import BASELINE, PROPOSED, Headline, count, interval_text
from warlab.reporting.page.opening_picture import picture
from warlab.reporting.stats.intervals import MIN_SEEDS, single
from warlab.reporting.tables.labels import Labels, name

Row = Mapping[str, Any]
WAR = (PROPOSED, "war_embed", "war_01")
TOLD = ("data", "train images", "train tiles", "test images", "size", "epochs", "width")  # reductions worth a line
MOST_REDUCTIONS = 4
NOISE = (
    "A network that is trained on partly wrong labels first learns what most labels say, and then learns the wrong "
    "ones by heart: its accuracy on clean test images rises, and falls again."
)
REGULARISED = (
    "WAR, Wasserstein adversarial regularisation, adds a second term to the cross entropy: it looks for the small "
    "change of each image that moves the prediction most, and makes that movement expensive, the more so between "
    "classes that resemble each other."
)


@dataclass(frozen=True)
class Opening:
    """Sentences for the first screen; `war` is empty where no variant of WAR was run, and there is no equation then."""

    noise: str = NOISE
    war: str = ""
    numbers: str = ""
    run: Sequence[str] = ()
    limits: Sequence[str] = ()
    picture: Markup = field(default_factory=Markup)
    picture_title: str = ""
    picture_text: str = ""


@dataclass(frozen=True)
class Content:
    """What the first screen is made of; see `page.Context`."""

    labels: Labels
    description: str
    curves: Sequence[Row]
    headlines: Sequence[Headline]
    evidence: Evidence | None
    datasets: Sequence[Row]
    reductions: Sequence[Row]
    claims: Sequence[Row]
    seconds: float  # of all trainings; 0 where it is not known
    duration: str  # the same in words


def opening(content: Content) -> Opening:
    panel = pictured(content.curves)
    methods = {base_method(line["method"]) for one in content.curves for line in one["lines"]}
    return Opening(
        war=REGULARISED if any(method.startswith("war") for method in methods) else "",
        numbers=_numbers(panel, content) if panel else "",
        run=[sentence for sentence in (_run(content), _smaller(content.reductions)) if sentence],
        limits=_limits(content, methods),
        picture=picture(panel["lines"], prominent(panel["lines"])) if panel else Markup(),
        picture_title=panel["title"] if panel else "",
        picture_text=_told(panel, content.labels) if panel else "",
    )


def pictured(panels: Sequence[Row]) -> Row | None:
    """The setting of the picture: on real data, with wrong labels, with WAR and CCE, and with most wrong labels."""
    return max(panels, key=_worth) if panels else None


def _worth(panel: Row) -> tuple[Any, ...]:
    methods = {line["method"] for line in panel["lines"]}
    noise = panel["setting"][1]
    rate = re.search(r"-([\d.]+)$", noise)
    both = (leading(methods) is not None) + (BASELINE in methods)
    return not panel["stand_in"], noise != "clean", both, float(rate[1]) if rate else 0.0, len(methods)


def leading(methods: Sequence[str] | set[str]) -> str | None:
    """The variant of WAR to show: that of the paper's main table, or else the first there is."""
    return next((one for one in (*WAR, *sorted(methods)) if one in methods and one.startswith("war")), None)


def prominent(lines: Sequence[Row]) -> list[str]:
    """CCE, AR and one WAR in colour, the last on top; of a study without them the first and the best at the end."""
    methods = [line["method"] for line in lines]
    found = [one for one in (BASELINE, "ar", leading(methods)) if one is not None and one in methods]
    if len(found) >= 2 or len(methods) <= 2:
        return found if len(found) >= 2 else methods
    best = max(lines, key=lambda line: line["mean"][-1])["method"]
    return list(dict.fromkeys([*(found or methods[:1]), best]))


def _told(panel: Row, labels: Labels) -> str:
    """The picture in numbers: of each coloured line its highest point and its end."""
    bright = prominent(panel["lines"])
    said = []
    for line in (line for method in bright for line in panel["lines"] if line["method"] == method):
        top = max(line["mean"])
        peak = line["epochs"][line["mean"].index(top)]
        said.append(
            f"{line['name']} is highest after epoch {peak} ({_percent(top)}) and ends at {_percent(line['mean'][-1])}"
        )
    others = len(panel["lines"]) - len(said)
    grey = f" Grey: {count(others)} other method{'s' * (others != 1)}." if others else ""
    return f"{'; '.join(said)}.{grey}"


def _numbers(panel: Row, content: Content) -> str:
    """The line of numbers with its uncertainty, of the setting in the picture."""
    if panel["stand_in"]:
        return "These are stand-in data: the numbers say nothing about the methods."
    for headline in content.headlines:
        if list(headline.setting[:3]) == list(panel["setting"]):
            return headline.sentence
    dataset, noise, net = panel["setting"]
    place = Setting(dataset, noise, net, "test_accuracy")
    found = (
        [(line, content.evidence.number(place, line["method"])) for line in panel["lines"]] if content.evidence else []
    )
    said = [
        f"{line['name']} ends at {_percent(number.mean)}{interval_text(single(number), sign=False)}"
        for line, number in found[:2]
        if number
    ]
    return f"{panel['title']}: {', '.join(said)}." if said else ""


def _run(content: Content) -> str:
    """How many trainings of what, and how long they took."""
    lines = [line for panel in content.curves for line in panel["lines"]]
    if not lines:
        return ""
    datasets = dict.fromkeys(name(content.labels, "dataset", panel["setting"][0]) for panel in content.curves)
    noises = dict.fromkeys(name(content.labels, "noise", panel["setting"][1]) for panel in content.curves)
    methods, runs = {line["method"] for line in lines}, sum(line["seeds"] for line in lines)
    seeds = sorted({line["seeds"] for line in lines})
    often = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else f"{count(seeds[0])} seed{'s' * (seeds[0] != 1)}"
    time = f"{content.duration} of training" if content.seconds else "their times were not kept"
    return (
        f"{runs} training{'s' * (runs != 1)} of {_several(len(methods), 'method')} on {_listed(list(datasets))} "
        f"({_listed(list(noises))}), {often} each; {time}."
    )


def _smaller(reductions: Sequence[Row]) -> str:
    """The most telling values that differ from the paper's."""
    telling = [row for word in TOLD for row in reductions if row["what"].endswith(f": {word}")][:MOST_REDUCTIONS]
    chosen = [f"{row['what'].replace(': ', ' ')} {row['here']} (paper: {row['paper']})" for row in telling]
    owners = {row["what"].partition(": ")[0] for row in telling}
    if len(owners) == 1:  # one dataset: it is named already
        chosen = [text.removeprefix(f"{next(iter(owners))} ") for text in chosen]
    rest = len(reductions) - len(chosen)
    more = f"; {_several(rest, 'more value')} below" if rest else ""
    return f"Reduced: {', '.join(chosen)}{more}." if chosen else ""


def _limits(content: Content, methods: set[str]) -> list[str]:
    """What this run cannot say, the gravest first."""
    lines = [line for panel in content.curves for line in panel["lines"]]
    fake = [
        name(content.labels, "dataset", row["dataset"]) for row in content.datasets if row.get("data") == "stand-in"
    ]
    seeds = min((line["seeds"] for line in lines), default=0)
    untested = sum(row["verdict"] == "not tested here" for row in content.claims)
    clean = bool(lines) and all(panel["setting"][1] == "clean" for panel in content.curves)
    found = {
        f"{_listed(fake)}: stand-in data in place of the real ones, which say nothing about the methods.": bool(fake),
        "No label was made wrong here, so nothing shows what wrong labels do.": clean,
        "No variant of WAR was run.": bool(lines) and not any(method.startswith("war") for method in methods),
        "Plain cross entropy was not run, so nothing shows what happens without a remedy.": bool(lines)
        and BASELINE not in methods,
        f"{'One training' if seeds == 1 else f'{count(seeds).capitalize()} trainings'} of each method: how far another "
        "one would end elsewhere is not known; an interval is over the test images only.": 0 < seeds < MIN_SEEDS,
        "Smaller than the paper's experiment: compare the methods with each other, not the percentages with the "
        "paper's.": bool(content.reductions),
        f"{untested} of the {len(content.claims)} claims need data or trainings that are not here.": bool(untested),
    }
    return [sentence for sentence, applies in found.items() if applies]


def _percent(value: float) -> str:
    return f"{value:.1f}\N{NO-BREAK SPACE}%"


def _several(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'s' * (number != 1)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
