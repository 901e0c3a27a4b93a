"""Draw how far WAR leads CCE against the size of a study, from the evidence that is kept in docs/evidence.

    python tools/lead_over_scale.py [docs/evidence]

writes lead_over_scale.png and .svg into that folder and prints the caption. Every subfolder with runs.csv that has the
name of a scale is a point: WAR_w2v minus CCE, on the seeds that both have, with a 95 % interval over the seeds, or over
the test images where there are fewer than three seeds. The paper's published difference stands at full size.
"""

import math
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from warlab import data
from warlab.config.reductions import reductions
from warlab.config.study import Study, load_study
from warlab.errors import WarlabError
from warlab.reporting import style
from warlab.reporting.claims import evidence
from warlab.reporting.read.predictions import read_kept
from warlab.reporting.read.results import ACCURACY, Setting, read_published, read_runs
from warlab.reporting.stats.intervals import Estimate, difference
from warlab.reporting.tables.labels import Labels

ROOT = Path(__file__).parents[1]
OURS, BASELINE = "war_w2v", "cce"
SHOWN = ("size", "epochs", "width")  # other reductions that the caption names


class Point(NamedTuple):
    setting: Setting
    study: str
    share: float  # of the paper's training images
    lead: Estimate
    differs: str = ""


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "evidence"
    try:
        found = [point for file in sorted(folder.glob("*/runs.csv")) for point in points(file.parent)]
        if not found:
            raise WarlabError(
                f"No study in {folder} has runs of {OURS} and {BASELINE}; keep one with make_evidence.py."
            )
    except WarlabError as error:
        print(f"lead_over_scale: {error}", file=sys.stderr)
        return 1
    paper = papers_points(dict.fromkeys(point.setting for point in found))
    style.save(
        draw(found, paper, load_study({"scale": "paper"}, ROOT).labels), folder / "lead_over_scale", ("png", "svg")
    )
    print(caption(found))
    return 0


def points(folder: Path) -> list[Point]:
    """One point per setting in which both methods ran on real data; none if the study is no scale of the repository."""
    if not (ROOT / "config" / "scales" / f"{folder.name}.yaml").is_file():
        return []
    study = load_study({"scale": folder.name}, ROOT)
    kept = read_kept([file for file in [folder / "test_predictions.npz"] if file.is_file()])
    sizes = {name: [reduced(study, name, f"{part} images") for part in ("train", "test")] for name in datasets(study)}
    tested_on = {name: round(here) for name, (_, (_, here)) in sizes.items()}
    ours = evidence.of_runs(read_runs(folder / "runs.csv"), [], study.labels, {}, kept=kept, tested_on=tested_on)
    found = []
    for setting in dict.fromkeys(at for at, _ in ours.numbers if at.metric == ACCURACY):
        one, two = (ours.number(setting, method) for method in (OURS, BASELINE))
        if one and two:
            paper, here = sizes[setting.dataset][0]
            found.append(Point(setting, folder.name, here / paper, difference(one, two), differs(study, setting)))
    return found


def datasets(study: Study) -> list[str]:
    return list(dict.fromkeys(run.dataset for run in study.plan.runs if data.get(run.dataset).samples != "tiles"))


def reduced(study: Study, dataset: str, what: str) -> tuple[float, float]:
    """The paper's number and that of the study."""
    rows = {row["what"]: (float(row["paper"]), float(row["here"])) for row in reductions(study) if what in row["what"]}
    known = data.get(dataset)
    whole = float(known.images["test" in what])
    return rows.get(f"{known.title}: {what}", (whole, whole))


def differs(study: Study, setting: Setting) -> str:
    """ "size 14×14 (paper 28×28), width 0.25 (paper 1)" """
    title = data.get(setting.dataset).title
    shown = {f"{owner}: {word}": word for owner in (title, f"{title}, {setting.net}") for word in SHOWN}
    rows = [row for row in reductions(study) if row["what"] in shown]
    return ", ".join(f"{shown[row['what']]} {row['here']} (paper {row['paper']})" for row in rows)


def papers_points(settings: dict[Setting, None]) -> list[Point]:
    paper = evidence.of_paper(read_published(ROOT / "config" / "published.csv", "main_benchmark"), {})
    both = [(at, paper.number(at, OURS), paper.number(at, BASELINE)) for at in settings]
    return [Point(at, "paper", 1.0, Estimate(one.mean - two.mean)) for at, one, two in both if one and two]


def draw(found: list[Point], paper: list[Point], labels: Labels) -> Figure:
    settings = list(dict.fromkeys(point.setting for point in found))
    with style.context():
        figure = Figure(figsize=(max(style.COLUMN, 0.5 * style.PAGE * len(settings)), 3.0), layout="constrained")
        axes = figure.subplots(1, len(settings), squeeze=False, sharey=True).ravel()
        for ax, setting in zip(axes, settings, strict=True):
            here = [point for point in (*found, *paper) if point.setting == setting]
            for number, point in enumerate(sorted(here, key=lambda point: point.share)):
                _mark(ax, point, below=number % 2 == 1 and point.study != "paper")
            ax.axhline(0, color="#888888", linewidth=0.8)
            ax.set(xscale="log", xlim=(0.03, 1.6), title=setting.called(labels))
            ax.set_xlabel("training images (share of the paper's)")
            ax.set_xticks([1 / 16, 1 / 8, 1 / 4, 1 / 2, 1], ["1/16", "1/8", "1/4", "1/2", "1"])
            ax.minorticks_off()
            ax.margins(y=0.12)
        axes[0].set_ylabel("WAR$_{\\mathrm{w2v}}$ − CCE (points)")
    return figure


def _mark(ax: Axes, point: Point, below: bool) -> None:
    """The names stand above and below their bars in turn, since neighbours are close."""
    published = point.study == "paper"
    colour, value = style.BLACK if published else style.line(OURS)[0], point.lead.value
    low, high = point.lead.interval()
    reach = [[value - low], [high - value]] if math.isfinite(low) else None
    ax.errorbar(point.share, value, reach, fmt="o", color=colour, markerfacecolor="white" if published else colour)
    name = "the paper" if published else "\n".join([point.study, *point.lead.basis.split(", ")])
    end, side = (low if below else high), "top" if below else "bottom"
    place = (point.share, end if math.isfinite(end) else value)
    ax.annotate(name, place, (0, -22 if below else 5), textcoords="offset points", ha="center", va=side, fontsize=6)


def caption(found: list[Point]) -> str:
    text = (
        "How far WAR_w2v leads CCE in test accuracy (mean of the last ten epochs), against the training images as "
        "a share of the paper's. Bars: 95 % intervals, over the seeds where there are three or more, else over the "
        "test images of the seeds that both methods have, which leaves out the spread between trainings. Open marker: "
        "the paper's published difference, for which it gives no interval. The studies differ in more than the number "
        "of images, so the points are not one curve: "
    )
    differences = dict.fromkeys(f"{point.study}: {point.differs}" for point in found if point.differs)
    return "\n".join(textwrap.wrap(f"{text}{'; '.join(differences)}.", 120))


if __name__ == "__main__":
    sys.exit(main())
