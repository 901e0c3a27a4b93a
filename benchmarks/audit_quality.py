"""How well the audit and cleanlab find wrong labels, from the same predictions of the same trainings.

    snakemake --cores 1 --config scale=docs/evidence/audit/audit_evidence.yaml -- audit
    python benchmarks/audit_quality.py results/audit_evidence --out docs/evidence/audit

All runs of the folder whose wrong labels are known are used. cleanlab's scores (get_label_quality_scores: three
methods, with and without adjusted probabilities) are computed from the mean predictions over the same epochs as ours.
cleanlab (Apache-2.0) is no dependency: it is installed into a temporary folder, or left out if that fails.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from warlab.audit.audited_run import AuditedRun
from warlab.audit.quality import METRICS
from warlab.audit.record import Means
from warlab.audit.scoring import DEFAULT, scores
from warlab.common.files import read_json, write_text
from warlab.reporting.stats import mean_over_seeds
from warlab.reporting.tables.audit_table import audit_table

Quality = Callable[..., np.ndarray]
PACKAGES = ("cleanlab", "tqdm", "termcolor")  # warlab itself needs the other packages that cleanlab needs
VARIANTS = [
    (method, adjust)
    for adjust in (False, True)
    for method in ("self_confidence", "normalized_margin", "confidence_weighted_entropy")
    if not (adjust and method == "confidence_weighted_entropy")  # not supported by cleanlab
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="results/<scale> of a finished study")
    parser.add_argument("--out", type=Path, help="folder for quality.csv and quality.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(options.study, cleanlab_in(Path(folder)))
    table = audit_table(rows)
    text = f"{as_markdown(table)}\n{differences(rows)}"
    print(text)
    if options.out:
        write_text(options.out / "quality.csv", table.round(5).to_csv(index=False))
        write_text(options.out / "quality.md", text)


def cleanlab_in(folder: Path) -> Quality | None:
    """cleanlab's get_label_quality_scores, installed into `folder`; None if it cannot be installed."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *PACKAGES]
    if subprocess.run(command, capture_output=True).returncode != 0:
        return None
    sys.path.insert(0, str(folder))
    try:
        from cleanlab.rank import get_label_quality_scores  # type: ignore[import-not-found]
    except ImportError:
        return None
    finally:
        sys.path.remove(str(folder))
    found: Quality = get_label_quality_scores
    return found


def measured(study: Path, cleanlab: Quality | None) -> list[dict[str, Any]]:
    rows = []
    for audit in sorted(study.glob("runs/*/*/*/*/seed*/audit.npz")):
        dataset, noise, net, method, seed = audit.parts[-6:-1]
        run = AuditedRun.read(files_of(study, audit, dataset, noise, seed))
        if run.wrong is None:
            continue
        cell = {"dataset": dataset, "noise": noise, "net": net, "method": method, "seed": int(seed[4:])}
        about = {**cell, "errors": float(run.wrong.mean()), "data": run.data.about.data}
        for score, values in (scores(run.means, run.cost) | theirs(run.means, cleanlab)).items():
            found = {metric: measure(values, run.wrong) for metric, measure in METRICS.items()}
            rows += [{**about, "score": score, "metric": metric, "value": value} for metric, value in found.items()]
    return rows


def files_of(study: Path, audit: Path, dataset: str, noise: str, seed: str) -> dict[str, str]:
    """The files of a run; its cost is the one that its settings name."""
    files = {
        "audit": audit,
        "data": study / "data" / f"{dataset}.npz",
        "noise": study / f"noise/{dataset}/{noise}/{seed}.npz",
    }
    name = read_json(audit.with_name("result.json"))["run"]["method"]["settings"].get("cost", "")
    costs = [study / "costs" / dataset / key / "cost.csv" for key in (name, f"{name}@{noise}@{seed}") if name]
    if cost := next((cost for cost in costs if cost.exists()), None):
        files["cost"] = cost
    return {kind: str(path) for kind, path in files.items()}


def theirs(means: Means, cleanlab: Quality | None) -> dict[str, np.ndarray]:
    """cleanlab's scores with the opposite sign, because its high scores mean good labels."""
    if cleanlab is None:
        return {}
    p = means.probabilities.astype(np.float64)
    p /= p.sum(1, keepdims=True)
    return {
        f"cleanlab {method.replace('_', ' ')}{', adjusted' if adjust else ''}": -cleanlab(
            means.labels, p, method=method, adjust_pred_probs=adjust
        )
        for method, adjust in VARIANTS
    }


def as_markdown(table: pd.DataFrame) -> str:
    """A row for each setting, method and score: mean ± half of the interval."""
    lines = ["| dataset | noise | method | score | AUROC | average precision | precision |", "|" + " --- |" * 7]
    for key, group in table.groupby(["dataset", "noise", "method", "score"], sort=False):
        by = group.set_index("metric")
        cells = [_cell(by.loc[metric]) for metric in METRICS]
        lines.append("| " + " | ".join([*map(str, key), *cells]) + " |")
    return "\n".join([*lines, ""])


def differences(rows: list[dict[str, Any]]) -> str:
    """Our default score minus each of cleanlab's, paired by seed."""
    lines = [f"| dataset | noise | method | {DEFAULT} minus | AUROC |", "|" + " --- |" * 5]
    frame = pd.DataFrame(rows).query("metric == 'auroc'")
    for key, group in frame.groupby(["dataset", "noise", "method"], sort=False):
        by = group.pivot(index="seed", columns="score", values="value")
        for score in [name for name in map(str, by) if name.startswith("cleanlab")]:
            paired = (by[DEFAULT] - by[score]).to_numpy()
            low, high = mean_over_seeds(paired.tolist()).interval()
            lines.append(
                "| " + " | ".join([*map(str, key), score, f"{paired.mean():+.3f} ({low:+.3f} to {high:+.3f})"]) + " |"
            )
    return "\n".join([*lines, ""])


def _cell(row: Any) -> str:
    half = row["high"] - row["mean"]
    return f"{row['mean']:.3f}" + ("" if half != half else f" ± {half:.3f}")


if __name__ == "__main__":
    main()
