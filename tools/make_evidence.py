"""Commit the finished runs of a study as evidence.

    python tools/make_evidence.py results/laptop docs/evidence/laptop --no-times

The last folder is the target, which gets runs.csv, test_predictions.npz, evidence.json and summary.md. The others are
results folders, named as their scale, or folders of evidence. To add runs to evidence, name its folder first and last.
--no-times leaves out how long runs took, which means nothing if other work ran at the same time.
"""

import argparse
import io
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from warlab.common.files import read_json, write_arrays, write_json, write_text
from warlab.config.reductions import reductions
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.ids import base_method
from warlab.reporting.claims.evidence import load_evidence
from warlab.reporting.formats import render, signed
from warlab.reporting.names import markdown_method
from warlab.reporting.ranking import median_times, rank
from warlab.reporting.read.predictions import FILE, Predictions, collect_predictions, read_predictions
from warlab.reporting.read.results import ACCURACY, CELL, collect, read_published, read_runs, run_ids, summarise
from warlab.reporting.stats import difference, kendall
from warlab.reporting.tables.results_table import tidy, to_markdown

ROOT = Path(__file__).parents[1]
RUN, NUMBERS = [*CELL, "seed"], ["data", "epoch", ACCURACY]
AGAINST = ("cce", "war_w2v", "war_ordinal", "ar")  # what all methods are compared with; a variant also with its method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("target", type=Path)
    parser.add_argument("--no-times", action="store_true")
    try:
        write_evidence(**vars(parser.parse_args()))
    except (WarlabError, OSError) as error:
        sys.exit(f"make_evidence: {error}")


def write_evidence(sources: Sequence[Path], target: Path, no_times: bool) -> None:
    known = target / "evidence.json"
    about = read_json(known) if known.is_file() else describe_scale(target, sources[-1].name)
    tables, predictions, commits = zip(*map(read_source, sources), strict=True)
    runs, kept = join_runs(tables), join_predictions(predictions)
    times = runs.columns.intersection(["seconds", "processor_seconds"])
    if no_times or runs[times].isna().any(axis=None):  # the times of some runs alone mean nothing
        runs = runs.drop(columns=times)
    about["commits"] = sorted(set(about.get("commits", [])).union(*commits))
    about["seeds"] = sorted(set(runs["seed"].tolist()))
    write_text(target / "runs.csv", runs.to_csv(index=False))
    if kept:
        write_arrays(target / FILE, **kept)
    write_json(known, about)
    write_text(target / "summary.md", summarise_evidence(read_runs(target / "runs.csv"), kept, about))


def describe_scale(target: Path, scale: str) -> dict[str, Any]:
    """Return the beginning of evidence.json, for a scale of the repository or one whose file is in the target."""
    name = str(target / f"{scale}.yaml") if (target / f"{scale}.yaml").is_file() else scale
    study, command = load_study({"scale": name}, ROOT), f"snakemake --cores all --config scale={name}"
    return {"what": study.scale["description"], "scale": scale, "command": command, "reductions": reductions(study)}


def read_source(folder: Path) -> tuple[pd.DataFrame, Predictions, set[str]]:
    """Return runs, predictions and commits. Runs are read as text, so that numbers keep all their digits."""
    results = sorted((folder / "runs").glob("*/*/*/*/*/result.json"))
    runs = collect(file.parent for file in results) if results else read_runs(folder / "runs.csv")
    text = io.StringIO(runs.to_csv(index=False)) if results else folder / "runs.csv"
    kept = collect_predictions(folder, run_ids(runs)) if results else read_predictions([*folder.glob(FILE)])
    commits = {read_json(file).get("provenance", {}).get("git", "unknown") for file in results}
    return pd.read_csv(text, dtype=str, keep_default_na=False), kept, commits


def join_runs(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join the runs in the order of their ids. A run in several tables must have the same numbers in all."""
    joined: dict[str, pd.DataFrame] = {}
    for _, rows in (item for table in tables for item in table.groupby(RUN)):
        (run,) = run_ids(rows.head(1).astype({"seed": int}))
        if rows[NUMBERS].to_numpy().tolist() != joined.setdefault(run, rows)[NUMBERS].to_numpy().tolist():
            raise WarlabError(f"The run {run} has different numbers in these folders; delete the wrong one.")
    return pd.concat(joined.values()).astype({"seed": int, "epoch": int}).sort_values([*RUN, "epoch"])


def join_predictions(parts: Sequence[Predictions]) -> Predictions:
    joined: dict[str, np.ndarray] = {}
    for name, array in (item for part in parts for item in part.items()):
        if not np.array_equal(array, joined.setdefault(name, array)):
            raise WarlabError(f"{name} has different test predictions in these folders; delete the wrong one.")
    return joined


def summarise_evidence(runs: pd.DataFrame, kept: Predictions, about: Mapping[str, Any]) -> str:
    """Return the workflow's table of results, and for each setting differences with intervals and Kendall's tau."""
    labels, cells = load_study({"scale": "paper"}, ROOT).labels, runs[list(CELL)].drop_duplicates().to_numpy().tolist()
    table = tidy(summarise(runs), cells, read_published(ROOT / "config" / "published.csv"))
    paper = {tuple(cell): value for *cell, value in table[[*CELL, "published"]].itertuples(index=False)}
    numbers, settings = load_evidence(runs, labels, {}, predictions=kept).numbers, []
    for setting in dict.fromkeys(setting for setting, _ in numbers if setting.metric == ACCURACY):
        here = {method: number for (at, method), number in numbers.items() if at == setting}
        pairs = [(one, two) for two in AGAINST if two in here for one in here if one != two]
        pairs += [(one, base_method(one)) for one in here if base_method(one) in here.keys() - {one, *AGAINST}]
        gaps = [(one, two, difference(here[one], here[two])) for one, two in pairs]
        tau = kendall(here, {method: paper[*setting[:3], method] for method in here})
        ranking = rank(here, median_times(runs, setting[:3]))
        left_out = [method for method in here if ranking and method not in {row.method for row in ranking}]
        settings.append((setting.display_name(labels), ranking, left_out, gaps, tau))
    layout, method = to_markdown(table, "methods_as_rows", labels).strip(), partial(markdown_method, labels)
    return render("evidence.md", about=about, table=layout, settings=settings, method=method, signed=signed)


if __name__ == "__main__":
    main()
