"""`warlab status`: what is running, done and waiting, from the files alone, while the workflow works."""

import argparse
import csv
import sys
from pathlib import Path

from warlab.config import Cell, Study, load_study
from warlab.configfiles import read_yaml
from warlab.engine.progress import duration
from warlab.errors import WarlabError
from warlab.files import read_json
from warlab.plan import overview


def main() -> int:
    parser = argparse.ArgumentParser(prog="warlab", description="Learning with label noise: look at a study.")
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    parser.add_argument("--scale", help="smoke, demo, laptop, cifar, paper or a YAML file (default: config/config.yaml)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("status", help="every run with its epoch, accuracy and remaining time")
    commands.add_parser("plan", help="jobs and time of every scale")
    given = parser.parse_args()
    try:
        config = read_yaml(given.root / "config" / "config.yaml")
        config["scale"] = given.scale or config["scale"]
        print(overview(config, given.root) if given.command == "plan" else status(load_study(config, given.root)))
    except WarlabError as error:
        print(f"warlab: {error}", file=sys.stderr)
        return 1
    return 0


def status(study: Study) -> str:
    folder = Path(study.config.get("results_root", "results")) / study.name / "runs"
    lines = [_run_line(study, cell, folder / cell.path) for cell in study.runs]
    done = sum(line.startswith("done") for line in lines)
    return "\n".join([*lines, f"{done} of {len(lines)} runs done"])


def _run_line(study: Study, cell: Cell, run: Path) -> str:
    epochs = study.training(cell.dataset, cell.noise, cell.method)["epochs"]
    if (run / "result.json").exists():
        mean = read_json(run / "result.json")["summary"]["last10_mean"]
        return f"{'done':9}{cell.path:60} {mean:6.2f} %"
    live = sorted((run / "checkpoint").glob("*/metrics.csv"), key=lambda p: p.stat().st_mtime)
    if not live:
        return f"{'waiting':9}{cell.path:60}"
    rows = list(csv.DictReader(live[-1].read_text().splitlines()))
    left = (epochs - len(rows)) * float(rows[-1]["seconds"])
    return (
        f"{'begun':9}{cell.path:60} {float(rows[-1]['test_accuracy']):6.2f} %  "
        f"epoch {len(rows)}/{epochs}  remaining {duration(left)}"
    )
