"""How well the audit finds the wrong labels of every run whose errors are known, over the seeds."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from warlab.audit.quality import METRICS
from warlab.audit.run import AuditedRun
from warlab.audit.scoring import DEFAULT, SCORES, scores, suggested
from warlab.reporting.read.results import CELL, plain_text, read_csv
from warlab.reporting.tables.labels import Labels, markdown, markdown_method, name

TABLE = (*CELL, "score", "metric", "mean", "low", "high", "seeds", "errors", "data")
LEVEL = 0.95  # of the interval of the mean over the seeds
CORRECTED = "corrected"  # not of a score: how many wrong labels the suggestion mends
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


def run_quality(files: Mapping[str, Any], identity: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row per score and metric; none where no error is known. What was never seen is left out."""
    run = AuditedRun.read(files)
    if run.wrong is None:
        return []
    seen = run.means.seen > 0
    wrong = run.wrong[seen]
    about = {**identity, "errors": float(wrong.mean()), "data": run.data.about.data}
    rows = [
        {**about, "score": score, "metric": metric, "value": measure(values[seen], wrong)}
        for score, values in scores(run.means, run.cost).items()
        for metric, measure in METRICS.items()
    ]
    return [*rows, {**about, "score": "", "metric": CORRECTED, "value": _corrected(run)}]


def _corrected(run: AuditedRun) -> float:
    """Of replaced images no label is right; of objects the truth is not one class."""
    if run.is_tiles or run.wrong is None or run.noise.replaced is not None:
        return float("nan")
    judged = run.wrong & (run.means.seen > 0)
    return float((suggested(run.means) == run.data.arrays["train_y"])[judged].mean())


def audit_table(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Mean over the seeds and its interval, by Student's t; with one seed there is none."""
    frame = pd.DataFrame(list(rows), columns=[*CELL, "seed", "score", "metric", "value", "errors", "data"])
    found = []
    for key, group in frame.groupby([*CELL, "score", "metric"], sort=False):
        low, high = interval(group["value"].to_numpy(float))
        about = {"errors": group["errors"].mean(), "seeds": len(group), "data": group["data"].iloc[0]}
        row = dict(zip((*CELL, "score", "metric"), key, strict=True))
        found.append({**row, "mean": group["value"].mean(skipna=False), "low": low, "high": high, **about})
    return pd.DataFrame(found, columns=list(TABLE))


def interval(values: np.ndarray) -> tuple[float, float]:
    """Of the mean, at 95 %."""
    if len(values) < 2:
        return float("nan"), float("nan")
    from scipy import stats  # slow to import, and every figure reads this module

    half = stats.t.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def read_audit(path: Path) -> pd.DataFrame:
    text = (*CELL, "score", "metric", "data")
    return plain_text(read_csv(path, TABLE, dtype=dict.fromkeys(text, "string")), text)


def audit_rows(table: pd.DataFrame, labels: Labels) -> list[dict[str, str]]:
    """For print: a row per setting, method and metric, a column per score."""
    rows = []
    ordered = table[table["score"] != ""]
    for key, group in ordered.groupby([*CELL, "metric"], sort=False):
        dataset, noise, _, method, metric = map(str, key)
        shown = dict(zip(group["score"], (_shown(row) for row in group.to_dict("records")), strict=True))
        rows.append(
            {
                "dataset": name(labels, "dataset", dataset) + ("†" if "stand-in" in set(group["data"]) else ""),
                "noise": name(labels, "noise", noise),
                "method": name(labels, "method", method),
                "metric": METRIC_TEXT[metric],
                **{SCORE_TEXT[score]: shown.get(score, "–") for score in SCORES},
                "errors": f"{100 * group['errors'].iloc[0]:.1f} %",
            }
        )
    return sorted(rows, key=lambda row: list(METRIC_TEXT.values()).index(row["metric"]))


def _shown(row: Mapping[Any, Any]) -> str:
    if row["mean"] != row["mean"]:
        return "–"
    half = "" if row["low"] != row["low"] else f" ± {row['high'] - row['mean']:.3f}"
    return f"{row['mean']:.3f}{half}"


def audit_markdown(table: pd.DataFrame, labels: Labels) -> str:
    rows = audit_rows(table, labels)
    columns = list(rows[0]) if rows else ["dataset", "noise", "method"]
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for row in rows:
        cells = [markdown_method(text) if key == "method" else markdown(text) for key, text in row.items()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", markdown(legend(table)), ""])


def legend(table: pd.DataFrame) -> str:
    """What stands below the table."""
    text = (
        "How well each score tells wrong labels from right ones, for runs whose errors are known; ± is the 95 % "
        f"interval of the mean over the seeds. Lists are ordered by the score {SCORE_TEXT[DEFAULT]!r}. Transport is "
        "under the run's own ground cost, or the 0-1 cost where it has none."
    )
    return text + (" † stand-in data." if "stand-in" in set(table["data"]) else "")
