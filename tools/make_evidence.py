"""Keep a finished scale as evidence: its runs, a summary next to the paper's numbers, and the learning curves.

    python tools/make_evidence.py results/laptop docs/evidence/laptop [--no-times] [--unfinished] [--add]

writes runs.csv (a row per run and epoch; tables and figures can be made from it again), summary.csv (a row per cell),
summary.md (the same as text, for every setting, with Kendall's tau between our order of the methods and the paper's,
and with the differences of every method to WAR_w2v and AR and of each variant to its method), learning_curves.png, the
test predictions of the last epochs if the runs kept them, and reductions.md with the scale's differences from the paper
(if the scale is one of the repository or lies in the folder of the evidence). A README.md in the folder is written by
hand and stays as it is.
--no-times leaves out how long runs took, which means nothing if other work ran at the same time. --unfinished takes
the runs that are finished if others are not. --add takes the finished runs, too, and adds them to those that the
evidence already has, for a study whose runs come from several results folders; a run that both have must have the same
numbers in both. Neither option writes learning_curves.png.
"""

import argparse
import csv
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from warlab.common.files import write_atomic
from warlab.common.readings import LAST
from warlab.config.reductions import reductions
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.ids import base_method
from warlab.reporting.formats import markdown_table
from warlab.reporting.read import results
from warlab.reporting.read.predictions import Predictions, collect_predictions, read_predictions
from warlab.reporting.read.results import CELL, SETTING, Scenario, group_by_setting, read_runs, readings, run_ids
from warlab.reporting.stats import Number, collect_numbers, difference, kendall

Numbers = Mapping[Scenario, Mapping[str, Number]]  # setting → method → number

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "config" / "published.csv"
AGAINST = ("war_w2v", "ar")
TIMES = ("seconds", "processor_seconds")
COLUMNS = {  # column: (its title, how a number is printed)
    "method": ("method", "{}"),
    "seeds": ("seeds", "{}"),
    "ours": ("ours, mean of the last ten epochs", "{:.2f}"),
    "last": ("last epoch", "{:.2f}"),
    "best_on_test": ("best epoch on test (diagnostic)", "{:.2f}"),
    "published": ("paper", "{:.2f}"),
    "above_cce": ("ours − CCE, same seeds", "{:+.2f}"),
    "interval": ("95 % interval", "{}"),
    "interval_from": ("from", "{}"),
    "published_above_cce": ("paper − CCE", "{:+.2f}"),
    "rank": ("our rank", "{:g}"),
    "published_rank": ("paper's rank", "{:g}"),
    "minutes": ("minutes", "{:.1f}"),
}


class Material(NamedTuple):
    """What evidence is made of: runs.csv as text and as a table, and the test predictions."""

    text: str
    runs: pd.DataFrame
    kept: Predictions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    for option in ("--no-times", "--unfinished", "--add"):
        parser.add_argument(option, action="store_true")
    options = parser.parse_args()
    try:
        files = evidence(options.source, options.target, not options.no_times, options.unfinished, options.add)
    except WarlabError as error:
        print(f"make_evidence: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"make_evidence: {error}; run the whole scale first.", file=sys.stderr)
        return 1
    for name, content in files.items():
        write_atomic(options.target / name, partial(_put, content))
    return 0


def evidence(source: Path, target: Path, times: bool, unfinished: bool, add: bool) -> dict[str, bytes]:
    """The content of all files by their names, so that nothing is written before everything was read."""
    text, runs, kept = material(source, unfinished or add)
    if add:
        text, runs, kept = added(target, runs, kept)
    timed = runs if times else runs.drop(columns=list(TIMES), errors="ignore")
    per_run = readings(runs)
    numbers = collect_numbers(per_run.assign(run=run_ids(per_run), epochs=LAST), "last10_mean", kept, {})
    table = summary(timed, results.read_published(PUBLISHED), numbers)
    pages = [
        f"{page(' · '.join(at[:3]), part, numbers[at])}\n\n{pairs(numbers[at])}" for at, part in group_by_setting(table)
    ]
    picture = source / "figures" / "learning_curves.png"
    differences = reduced(source.name, target)
    return {
        **({"test_predictions.npz": packed(kept)} if kept else {}),
        **({"reductions.md": differences.encode()} if differences else {}),
        "runs.csv": (text if times else without(text, *TIMES)).encode(),
        "summary.csv": table.to_csv(index=False, float_format="%.2f").encode(),
        "summary.md": ("\n\n".join(pages) + "\n").encode(),
        **({} if unfinished or add else {"learning_curves.png": picture.read_bytes()}),
    }


def material(source: Path, unfinished: bool) -> Material:
    """The content of a results folder: all runs if the scale is finished, or those that are."""
    runs = finished_runs(source) if unfinished else read_runs(source / "runs.csv")
    text = runs.to_csv(index=False) if unfinished else (source / "runs.csv").read_text()
    return Material(text, runs, collect_predictions(source, dict.fromkeys(run_ids(results.finished_runs(runs)))))


def added(target: Path, runs: pd.DataFrame, kept: Predictions) -> Material:
    """What the evidence in `target` has and the runs that are new to it, in the order of their ids."""
    earlier = read_runs(target / "runs.csv")
    earlier_kept = read_predictions([file for file in [target / "test_predictions.npz"] if file.is_file()])
    shared = set(run_ids(earlier)).intersection(run_ids(runs))
    refuse_other_numbers(target, earlier, runs, sorted(shared))
    refuse_other_predictions(target, earlier_kept, kept)
    new = runs[[run not in shared for run in run_ids(runs)]]
    if "seconds" not in earlier:  # the times of some runs alone mean nothing
        new = new.drop(columns=list(TIMES), errors="ignore")
    texts = [as_text(target / "runs.csv"), as_text(io.StringIO(new.to_csv(index=False)))]
    joined = [pd.concat(parts, ignore_index=True) for parts in (texts, [earlier, new])]
    text, table = (part.astype({"seed": int}).sort_values([*CELL, "seed"], kind="stable") for part in joined)
    return Material(text.to_csv(index=False), table, {**earlier_kept, **kept})


def as_text(file: Path | IO[str]) -> pd.DataFrame:
    """A CSV with every cell as it is written, so that numbers keep all their digits."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def refuse_other_numbers(target: Path, earlier: pd.DataFrame, runs: pd.DataFrame, shared: Sequence[str]) -> None:
    """What is measured of the machine (time, memory) may differ; what the run reached may not."""
    numbers = [name for name in earlier if name in runs and name not in (*results.RUN, *TIMES, "peak_memory_mb")]
    tables = [table.assign(run=run_ids(table)).sort_values("epoch") for table in (earlier, runs)]
    for run in shared:
        one, two = (table[table["run"] == run] for table in tables)
        before, after = (part[numbers].to_numpy(float) for part in (one, two))
        same = len(one) == len(two) and np.allclose(before, after, rtol=1e-9, atol=0, equal_nan=True)
        if not same or set(one["data"]) != set(two["data"]):
            raise WarlabError(
                f"The run {run} is in {target} with other numbers; find out which one is right and delete the other."
            )


def refuse_other_predictions(target: Path, earlier: Predictions, kept: Predictions) -> None:
    for name in sorted(earlier.keys() & kept.keys()):
        if not np.array_equal(earlier[name], kept[name]):
            raise WarlabError(
                f"{target / 'test_predictions.npz'} and this results folder differ in {name}; find out which one is "
                "right and delete the other."
            )


def finished_runs(source: Path) -> pd.DataFrame:
    """The runs that have a result."""
    return results.collect(file.parent for file in sorted((source / "runs").glob("*/*/*/*/*/result.json")))


def packed(arrays: Predictions) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def reduced(scale: str, target: Path) -> str:
    """The scale's differences from the paper as a table; empty if neither the repository nor the folder of the evidence
    has the scale."""
    files = [folder / f"{scale}.yaml" for folder in (ROOT / "config" / "scales", target)]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return ""
    rows = reductions(load_study({"scale": str(file)}, ROOT))
    return markdown_table(["what", "paper", "here"], [list(row.values()) for row in rows]) + "\n"


def without(text: str, *columns: str) -> str:
    """A CSV without these columns; every other character stays the same."""
    rows = list(csv.reader(io.StringIO(text)))
    kept = [number for number, name in enumerate(rows[0]) if name not in columns]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([row[number] for number in kept] for row in rows)
    return out.getvalue()


def summary(runs: pd.DataFrame, published: pd.DataFrame, numbers: Numbers) -> pd.DataFrame:
    """A row per cell: our readings averaged over the seeds, the paper's number, both minus CCE, both ranks."""
    values = ["last10_mean", "last", "best_on_test_diagnostic"]
    per_run = readings(runs)
    cells = per_run.groupby(list(CELL), sort=False)
    ours = cells[values].mean().assign(seeds=cells.size()).reset_index()
    ours = ours.set_axis([*CELL, "ours", "last", "best_on_test", "seeds"], axis=1)
    ours = ours.merge(above_cce(numbers), how="left", on=list(CELL))
    timed = runs if "seconds" in runs else runs.assign(seconds=np.nan)
    seconds = timed.groupby(list(CELL), sort=False)["seconds"].sum(min_count=1) / 60
    theirs = published[published["metric"] == "test_accuracy"].drop_duplicates(list(CELL))
    theirs = theirs[[*CELL, "mean"]].rename(columns={"mean": "published"})
    table = ours.merge(theirs, how="left", on=list(CELL)).merge(seconds.rename("minutes").reset_index(), on=list(CELL))
    parts = [compare(part) for _, part in group_by_setting(table)]
    return pd.concat(parts, ignore_index=True)[[*SETTING, *COLUMNS]].dropna(axis=1, how="all")


def above_cce(numbers: Numbers) -> pd.DataFrame:
    """Every method's number minus CCE's, on the seeds that both have, with its 95 % interval and the basis of that."""
    rows = [
        (*setting[:3], method, *(gap(here, method, "cce") if method != "cce" else (0.0, None, None)))
        for setting, here in numbers.items()
        for method in here
        if "cce" in here
    ]
    return pd.DataFrame(rows, columns=[*CELL, "above_cce", "interval", "interval_from"])


def gap(numbers: Mapping[str, Number], one: str, two: str) -> tuple[float, str | None, str | None]:
    """The first minus the second, and the 95 % interval and its basis, if it is known."""
    estimate = difference(numbers[one], numbers[two])
    low, high = estimate.interval()
    known = np.isfinite([low, high]).all()
    return (estimate.value, f"{low:+.2f} to {high:+.2f}", estimate.basis) if known else (estimate.value, None, None)


def pairs(numbers: Mapping[str, Number]) -> str:
    """A table of the differences that show where a gain comes from: every method against WAR_w2v and AR, and every
    variant against its method."""
    compared = [(one, two) for two in AGAINST if two in numbers for one in numbers if one != two]
    variants = [(one, base_method(one)) for one in numbers if base_method(one) in numbers.keys() - {one}]
    gaps = {(one, two): gap(numbers, one, two) for one, two in dict.fromkeys(compared + variants)}
    rows = [(*pair, f"{value:+.2f}", span or "", basis or "") for pair, (value, span, basis) in gaps.items()]
    header = ["first", "second", "first − second, same seeds", "95 % interval", "from"]
    return markdown_table(header, rows, right=header[2:])


def compare(part: pd.DataFrame) -> pd.DataFrame:
    """Add both ranks, among the methods that the paper has, too: ours by the distance from CCE; 1 is the best."""
    both = part[part["published"].notna()]
    cce = part[part["method"] == "cce"].iloc[0]
    return part.assign(
        published_above_cce=part["published"] - cce["published"],
        rank=both["above_cce"].rank(ascending=False),
        published_rank=both["published"].rank(ascending=False),
    ).sort_values("above_cce", ascending=False)


def page(setting: str, part: pd.DataFrame, numbers: Mapping[str, Number]) -> str:
    """One setting as a table, the method farthest above CCE first, and the agreement of our order with the paper's."""
    shown = {name: entry for name, entry in COLUMNS.items() if name in part}
    columns = [[text(value, form) for value in part[name]] for name, (_, form) in shown.items()]
    header = [title for title, _ in shown.values()]
    table = markdown_table(header, zip(*columns, strict=True), right=header[1:])
    ours, published = (dict(zip(part["method"], part[name], strict=True)) for name in ("above_cce", "published"))
    tau = kendall({method: replace(numbers[method], mean=value) for method, value in ours.items()}, published)
    interval = "" if np.isnan(tau.low) else f"; 95 %: {tau.low:.2f} to {tau.high:.2f}, other seeds or test images"
    agreement = f"τ with the paper: {tau.value:.2f} (p = {tau.p_value:.3f}, {tau.cells:g} methods{interval})"
    return "\n\n".join([f"### {setting}", table, tau.note or f"Kendall's {agreement}"])


def _put(content: bytes, file: IO[bytes]) -> None:
    file.write(content)


def text(value: Any, form: str) -> str:
    return "" if pd.isna(value) else form.format(value)


if __name__ == "__main__":
    sys.exit(main())
