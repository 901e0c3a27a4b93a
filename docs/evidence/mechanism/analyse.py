"""Tables and figure of the study "what makes WAR work" (plan.md), from its finished runs.

    python docs/evidence/mechanism/analyse.py --collect results     # finished runs of results/<study> into runs.csv
    python docs/evidence/mechanism/analyse.py                       # runs.csv into results.md and sweep.png

A difference is taken seed by seed; its interval is Student's t at 95 %, and p is corrected by Holm within its table.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from warlab.artefacts.run_result import RunResult
from warlab.reporting.stats import holm, mean_over_seeds, p_value

HERE = Path(__file__).parent
MARGIN, LAST, SEEDS = 2.0, 10, 3  # points; epochs; the fewest seeds that are judged or drawn
KEY = ["study", "dataset", "noise", "method", "seed"]
COLUMNS = [*KEY, "epoch", "test_accuracy", "validation_accuracy", "regulariser"]
INTRODUCTION = """\
Written by `python docs/evidence/mechanism/analyse.py` from `runs.csv`; [plan.md](plan.md) says what was decided before
any run. Accuracies in percent. Intervals: Student's t over the seeds, 95 %. The margin is 2 points. *yes*: corrected p
below 0.05 and the mean above the margin; *level*: the interval lies within ± the margin; *no*: the interval lies below
the margin; *open*: everything else, and fewer than three seeds."""
Row3 = tuple[str, str, str]  # study, dataset, noise
Row = tuple[str, str, str, str]  # and method
DEMO = ("references", "fashion_mnist", "asym-40")
SIXTEENTH = ("sixteenth_deciding", "fashion_mnist", "asym-40")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", type=Path, metavar="RESULTS", help="the folder that holds one folder per study")
    if folder := parser.parse_args().collect:
        collect(folder)
    runs = summarise(pd.concat([pd.read_csv(HERE / "runs.csv"), sixteenth()]))
    text = [*report(runs), *recall_table(pd.read_csv(HERE / "recall.csv"))]
    (HERE / "results.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    draw_sweep(runs)


def sixteenth() -> pd.DataFrame:
    """Return the seeds of the rows that decide at the sixteenth that docs/evidence/sixteenth has, see plan.md."""
    epochs = pd.read_csv(HERE.parent / "sixteenth" / "runs.csv").assign(study=SIXTEENTH[0])
    rows = ["cce", "war_w2v", "war_w2v+epsilon=0", "war_w2v+dropout=off"]
    here = epochs["method"].isin(rows) & (epochs["dataset"] == SIXTEENTH[1]) & (epochs["noise"] == SIXTEENTH[2])
    return epochs[here].reindex(columns=COLUMNS)


def collect(results: Path) -> None:
    """Add the finished runs of each study that has a scale file here to runs.csv and recall.csv."""
    epochs, recalls = [], []
    for scale in sorted(HERE.glob("*.yaml")):
        for path in sorted(results.glob(f"{scale.stem}/runs/*/*/*/*/seed*/result.json")):
            result = RunResult.load(path)
            run = result.run
            if run.method.id == "cce" and scale.stem.startswith(("sweep_", "matched_")):
                continue  # the runs of references.yaml once more
            name = {"study": scale.stem, "dataset": run.dataset, "noise": run.noise, "method": run.method.id}
            name["seed"] = run.seed
            epochs.append(pd.read_csv(path.with_name("metrics.csv")).assign(**name).reindex(columns=COLUMNS))
            recalls.append(name | recall(path, result))
    add(HERE / "runs.csv", [*KEY, "epoch"], pd.concat(epochs))
    add(HERE / "recall.csv", KEY, pd.DataFrame(recalls))


def add(file: Path, key: list[str], new: pd.DataFrame) -> None:
    """Add rows to a file; rows with the same key replace those that it has."""
    known = [pd.read_csv(file)] if file.exists() else []
    joined = pd.concat([*known, new]).drop_duplicates(key, keep="last").sort_values(key)
    joined.to_csv(file, index=False, float_format="%.6g")


def recall(path: Path, result: RunResult) -> dict[str, float]:
    """Return the share of each class of the test set that is classified correctly, in the last ten epochs."""
    with np.load(path.parent / result.files["data"]) as data, np.load(path.with_name("test_predictions.npz")) as kept:
        labels = data["test_y"]
        right = kept[kept.files[0]].reshape(-1, len(labels)) == labels
    return {f"recall_{k}": 100 * right[:, labels == k].mean() for k in range(labels.max() + 1)}


def recall_table(recalls: pd.DataFrame) -> Iterator[str]:
    """Show what mean accuracies hide: how the classes that lose labels to another one end, run by run."""
    part = recalls[(recalls["noise"] == "asym-40") & (recalls["dataset"] == "fashion_mnist")]
    part = part[~part["study"].str.startswith("networks")]
    large = part["study"].str.startswith("sixteenth")
    for size, rows in (("Demo size", part[~large]), ("A sixteenth", part[large])):
        yield from ("", f"## {size}, recall of the five classes with wrong labels", "")
        yield "Percent of the test images, mean over the last ten epochs. *lost*: how often a class ends below 20 %."
        yield ""
        yield "| row | dress | coat | sandal | shirt | ankle boot | mean | lost |"
        yield "| --- |" + " ---: |" * 7
        for (study, method), runs in rows.groupby(["study", "method"], sort=False):
            yield f"| `{method}`, {study} | {recall_cells(runs[[f'recall_{k}' for k in (3, 4, 5, 6, 9)]])} |"


def recall_cells(values: pd.DataFrame) -> str:
    cells = [f"{mean:.0f} ± {spread:.0f}" for mean, spread in zip(values.mean(), values.std(), strict=True)]
    return " | ".join([*cells, f"{values.mean().mean():.0f}", f"{int((values < 20).sum().sum())} of {values.size}"])


def summarise(epochs: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each run: its accuracy (last ten epochs; the epoch that the held-out noisy labels choose; the
    best epoch) and R (first epoch after the warm-up; last ten epochs)."""
    rows = []
    for (*name, seed), run in epochs.groupby(["study", "dataset", "noise", "method", "seed"]):
        tested, penalised = run.dropna(subset="test_accuracy"), run.dropna(subset="regulariser")
        held_out = run.dropna(subset="validation_accuracy")
        chosen = held_out.loc[held_out["validation_accuracy"].idxmax(), "test_accuracy"] if len(held_out) else np.nan
        rows.append(
            {
                "row": tuple(name),
                "seed": seed,
                "last": tested["test_accuracy"].tail(LAST).mean(),
                "chosen": chosen,
                "best": tested["test_accuracy"].max(),
                "R first": penalised["regulariser"].head(1).mean(),
                "R last": penalised["regulariser"].tail(LAST).mean(),
            }
        )
    return pd.DataFrame(rows)


def report(runs: pd.DataFrame) -> Iterator[str]:
    yield "# Results of the study: what makes WAR work"
    yield ""
    yield INTRODUCTION
    for title, family in families(runs):
        yield from ("", f"## {title}", "")
        yield from table(runs, family)


Comparison = tuple[Row, str, Row, str]  # a row and its reading, minus another row and its reading


def families(runs: pd.DataFrame) -> Iterator[tuple[str, list[Comparison]]]:
    """Yield the families of comparisons, each with a title, as far as they were run."""
    known = set(runs["row"])

    def against(base: Row, rows: Sequence[tuple[Row, str]], reading: str = "last") -> list[Comparison]:
        return [(row, read, base, reading) for row, read in rows if row in known and base in known and row != base]

    def of(study: str, dataset: str = "fashion_mnist", noise: str = "asym-40") -> list[tuple[Row, str]]:
        return [(row, "last") for row in sorted(known) if row[:3] == (study, dataset, noise)]

    cce: Row = (*DEMO, "cce")
    controls = [(("controls_dropout", *DEMO[1:], "cce"), "last"), (("controls_validation", *DEMO[1:], "cce"), "chosen")]
    sweep = [pair for study in ("sweep_war", "sweep_ar", "sweep_tv") for pair in of(study)]
    yield "Demo size, minus CCE", against(cce, of("references") + sweep + controls)
    yield "Demo size, matched beta times R, minus CCE", against(cce, of("matched_war"))
    yield "Demo size, direction of the perturbation, minus CCE", against(cce, of("direction"))
    same: Row = ("sweep_war", *DEMO[1:], "war_w2v+dropout=off+epsilon=0.1")
    yield (
        "Demo size, direction of the perturbation, minus the adversarial one of equal R",
        against(same, of("direction")),
    )
    yield "Demo size, R-Drop, minus CCE", against(cce, of("controls_rdrop"))
    for study, reading in (("controls_dropout", "last"), ("controls_validation", "chosen")):
        row, base = ((study, *DEMO[1:], method) for method in ("war_w2v", "cce"))
        yield f"Demo size, {study}: WAR minus CCE", against(base, [(row, reading)], reading)
    clean: Row = ("references", "fashion_mnist", "clean", "cce")
    yield "Demo size, clean labels: WAR minus CCE", against(clean, of("references", noise="clean"))
    war: Row = (*DEMO, "war_w2v")
    yield (
        "Demo size, minus WAR (paper)",
        against(war, of("references") + sweep + of("matched_war") + of("direction") + of("controls_rdrop")),
    )
    without = ("no_dropout", *DEMO[1:], "cce")
    yield "Demo size, a network without any dropout, minus CCE", against(without, of("no_dropout"))
    deciding = of(SIXTEENTH[0]) + of("sixteenth_adversarial")
    yield "A sixteenth, minus CCE", against((*SIXTEENTH, "cce"), deciding)
    yield "A sixteenth, minus WAR (paper)", against((*SIXTEENTH, "war_w2v"), deciding)
    large_without = ("sixteenth_no_dropout", *DEMO[1:], "cce")
    yield "A sixteenth, a network without any dropout, minus CCE", against(large_without, of("sixteenth_no_dropout"))
    uniform: Row = ("geometry_uniform", *DEMO[1:], "war+cost=file")
    costs = of("geometry_oracle") + of("geometry_anti_oracle") + [(war, "last")]
    yield "Demo size, ground costs of equal mean, minus the uniform cost", against(uniform, costs)


def table(runs: pd.DataFrame, family: Sequence[Comparison]) -> Iterator[str]:
    if not family:
        yield "Not run."
        return
    tests = [compare(runs, *comparison) for comparison in family]
    corrected = holm([1.0 if np.isnan(p) else p for *_, p in tests])
    yield "| row | accuracy | R first, last | minus | points (95 %) | n | p, Holm | verdict |"
    yield "| --- | ---: | --- | --- | ---: | ---: | ---: | --- |"
    for (row, reading, base, _), (values, mean, low, high, _), p in zip(family, tests, corrected, strict=True):
        mine = runs[runs["row"] == row]
        accuracy = f"{mine[reading].mean():.1f}" + (f" ± {mine[reading].std():.1f}" if len(mine) > 1 else "")
        penalty = "" if mine["R first"].isna().all() else f"{mine['R first'].mean():.2g}, {mine['R last'].mean():.2g}"
        interval = (
            f"{mean:+.1f} ({low:+.1f} to {high:+.1f})".replace("-", "−")
            if values > 1
            else f"{mean:+.1f}".replace("-", "−")
        )
        verdict = judge(mean, low, high, p) if values >= SEEDS else "open"
        name = f"`{row[3]}`" + ("" if row[0] in ("references", base[0]) else f", {row[0]}")
        name += " (epoch chosen on noisy labels)" if reading == "chosen" else ""
        yield f"| {name} | {accuracy} | {penalty} | `{base[3]}` | {interval} | {values} | {p:.3f} | {verdict} |"
    base, reading = family[0][2], family[0][3]
    mine = runs[runs["row"] == base][reading]
    yield ""
    yield f"`{base[3]}` itself: {mine.mean():.1f} ± {mine.std():.1f} over {len(mine)} seeds."


def compare(
    runs: pd.DataFrame, row: Row, reading: str, base: Row, base_reading: str
) -> tuple[int, float, float, float, float]:
    """Return the number of shared seeds, the mean difference, its interval and p."""
    one = runs[runs["row"] == row].set_index("seed")[reading]
    two = runs[runs["row"] == base].set_index("seed")[base_reading]
    gaps = (one - two).dropna()
    if len(gaps) < 2:
        return len(gaps), float(gaps.mean()), np.nan, np.nan, np.nan
    gap = mean_over_seeds(gaps.tolist())
    return len(gaps), gap.value, *gap.interval(), p_value(gap)


def judge(mean: float, low: float, high: float, p: float) -> str:
    if p < 0.05 and mean > MARGIN:
        return "yes"
    if low > -MARGIN and high < MARGIN:
        return "level"
    return "no" if high < MARGIN else "open"


PANELS = [  # title, method, study of its adversarial direction, reference rows, and of the random direction
    ("WAR, demo size", "war_w2v", "sweep_war", DEMO, ("direction", "epsilon")),
    ("WAR, a sixteenth", "war_w2v", "sixteenth_adversarial", SIXTEENTH, (SIXTEENTH[0], "relative_epsilon")),
    ("AR, demo size", "ar", "sweep_ar", DEMO, None),
    ("TV, demo size", "tv", "sweep_tv", DEMO, None),
]


def draw_sweep(runs: pd.DataFrame) -> None:
    """Draw the difference to CCE over the length of the perturbation, without dropout in the extra passes, beside the
    paper's settings and a random direction. A method whose sweep was not run has no panel."""
    points = runs.groupby("row")["seed"].nunique()
    panels = [panel for panel in PANELS if any(row[0] == panel[2] and seeds >= SEEDS for row, seeds in points.items())]
    figure, axes = plt.subplots(1, len(panels), figsize=(1.5 + 3.6 * len(panels), 3.6), sharey=True, squeeze=False)
    for ax, (title, method, study, base, drawn) in zip(axes[0], panels, strict=True):
        alone = f"{method}+dropout=off+"
        curve(ax, runs, base, study, f"{alone}epsilon=", "adversarial", "#0072B2")
        if study == "sweep_war":
            curve(ax, runs, base, "matched_war", f"{alone}epsilon=", "adversarial, beta R as in the paper's", "#56B4E9")
        if drawn:
            curve(ax, runs, base, drawn[0], f"{alone}direction=random+{drawn[1]}=", "random direction", "#D55E00")
        _, mean, low, high, _ = compare(runs, (*base, method), "last", (*base, "cce"), "last")
        ax.axhspan(low, high, color="#009E73", alpha=0.15, lw=0)
        ax.axhline(mean, color="#009E73", lw=1.2, label="paper: dropout masks, epsilon 0.005")
        ax.axhline(0, color="0.5", lw=0.8)
        ax.set(xscale="log", title=title, xlabel="length, % of an image's norm")
        ax.set_xticks([0.3, 1, 3, 10, 30], labels=["0.3", "1", "3", "10", "30"])
        ax.legend(fontsize=7, frameon=False, loc="lower right")
    axes[0, 0].set_ylabel("points above CCE (95 %)")
    figure.tight_layout()
    figure.savefig(HERE / "sweep.png", dpi=110)


def curve(ax: Axes, runs: pd.DataFrame, base: Row3, study: str, begins: str, label: str, colour: str) -> None:
    """Draw the rows of a study with three seeds or more over the length of their perturbation."""
    points = []
    for row in {row for row in runs["row"] if row[0] == study and row[3].startswith(begins)}:
        seeds, *numbers = compare(runs, row, "last", (*base, "cce"), "last")
        if seeds >= SEEDS:
            value = float(row[3].removeprefix(begins).split("+")[0])
            share = (
                value if "relative_epsilon" in begins else value / median_norm("demo" if base == DEMO else "sixteenth")
            )
            points.append((100 * share, *numbers))
    if points:
        lengths, means, lows, highs, _ = map(np.array, zip(*sorted(points), strict=True))
        spread = [means - lows, highs - means]
        ax.errorbar(lengths, means, spread, fmt="o-", ms=4, lw=1.2, capsize=2, color=colour, label=label)


def median_norm(network: str) -> float:
    curves = pd.read_csv(HERE / "curve.csv").query(
        "network == @network and dataset == 'fashion_mnist' and epsilon == 1"
    )
    return float((curves["epsilon"] / curves["share_of_norm"]).iloc[0])


if __name__ == "__main__":
    main()
