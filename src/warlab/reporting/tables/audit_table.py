"""How well the audit finds the wrong labels of every run whose errors are known, over the seeds."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from warlab.audit.audited_run import AuditedRun
from warlab.audit.quality import METRICS
from warlab.audit.scoring import DEFAULT, SCORES, scores, suggested
from warlab.reporting.formats import Row
from warlab.reporting.names import Labels, display_name
from warlab.reporting.read.csv_rows import read_csv
from warlab.reporting.read.results import CELL, kind_of_data
from warlab.reporting.stats import interval_over_seeds
from warlab.reporting.tables.plain import to_markdown

TABLE = (*CELL, "score", "metric", "mean", "low", "high", "seeds", "errors", "data")
CORRECTED = "corrected"  # a metric of the suggested labels, not of a score
METRIC_TEXT = {
    "auroc": "area under the ROC curve",
    "average_precision": "average precision",
    "precision": "precision at the true number of errors",
    CORRECTED: "wrong labels whose suggested label is the true one",
}
SCORE_TEXT = {
    "combined": "combined",
    "margin": "logit margin",
    "loss": "loss",
    "confident": "confident learning",
    "transport": "transport",
}


def run_quality(files: Mapping[str, str], identity: Row) -> list[Row]:
    """Return a row per score and metric; none if the errors are not known. Samples never seen are left out.

    The share of corrected labels is not defined for replaced images, which have no right label, nor for tiles, which
    have several classes.
    """
    run = AuditedRun.read(files)
    if run.wrong is None:
        return []
    seen = run.means.seen > 0
    wrong = run.wrong[seen]
    about = {**identity, "errors": float(wrong.mean()), "data": run.data.about.data}
    rows: list[Row] = [
        {**about, "score": score, "metric": metric, "value": measure(values[seen], wrong)}
        for score, values in scores(run.means, run.cost).items()
        for metric, measure in METRICS.items()
    ]
    corrected = float("nan")
    if not run.is_tiles and run.noise.replaced is None:
        corrected = float((suggested(run.means) == run.data.arrays["train_y"])[run.wrong & seen].mean())
    return [*rows, {**about, "score": "", "metric": CORRECTED, "value": corrected}]


def audit_table(rows: Iterable[Row]) -> pd.DataFrame:
    """Return means over the seeds with their intervals by Student's t; with fewer than three there is no interval."""
    key = [*CELL, "score", "metric"]
    frame = pd.DataFrame(list(rows), columns=[*key, "seed", "value", "errors", "data"])
    means = []
    for where, group in frame.groupby(key, sort=False):
        values = group["value"].to_list()
        mean = group["value"].mean(skipna=False)
        means.append(
            (*where, mean, *interval_over_seeds(values), len(group), group["errors"].mean(), group["data"].iloc[0])
        )
    return pd.DataFrame(means, columns=list(TABLE))


def read_audit(path: Path) -> pd.DataFrame:
    return read_csv(path, TABLE, text=(*CELL, "score", "metric", "data"))


def audit_rows(table: pd.DataFrame, labels: Labels) -> list[dict[str, str]]:
    """Return a row for print per setting, method and metric, with a column per score."""
    rows = []
    nets = table.groupby("dataset")["net"].nunique()
    for key, group in table[table["score"] != ""].groupby([*CELL, "metric"], sort=False):
        *setting, method, metric = map(str, key)
        numbers = group[["score", "mean", "low", "high"]].itertuples(index=False)
        texts = {score: _interval_text(*ends) for score, *ends in numbers}
        stand_in = "†" if kind_of_data(group["data"]) == "stand-in" else ""
        rows.append(
            {
                "dataset": display_name(labels, "dataset", setting[0]) + stand_in,
                "noise": display_name(labels, "noise", setting[1])
                + (f", {setting[2]}" if nets[setting[0]] > 1 else ""),
                "method": display_name(labels, "method", method),
                "metric": METRIC_TEXT[metric],
                **{SCORE_TEXT[score]: texts.get(score, "–") for score in SCORES},
                "errors": f"{100 * group['errors'].iloc[0]:.1f} %",
            }
        )
    return sorted(rows, key=lambda row: list(METRIC_TEXT.values()).index(row["metric"]))


def _interval_text(mean: float, low: float, high: float) -> str:
    if mean != mean:
        return "–"
    return f"{mean:.3f}" + ("" if low != low else f" ± {high - mean:.3f}")


def audit_markdown(table: pd.DataFrame, labels: Labels) -> str:
    rows = audit_rows(table, labels)
    return to_markdown(rows, list(rows[0]) if rows else ["dataset", "noise", "method"], legend(table))


def legend(table: pd.DataFrame) -> str:
    """Return the text below the table."""
    text = (
        "How well each score tells wrong labels from right ones, for runs whose errors are known; ± is the 95 % "
        f"interval of the mean over the seeds. Lists are ordered by the score {SCORE_TEXT[DEFAULT]!r}. Transport is "
        "under the run's own ground cost, or the 0-1 cost where it has none."
    )
    return text + (" † stand-in data." if kind_of_data(table["data"]) == "stand-in" else "")
