"""`python -m tests.helpers.train_process '{"run": …}'`: one training as the workflow's script runs it."""

import json
import sys
from pathlib import Path
from typing import Any

from warlab.artefacts.run_config import RunConfig
from warlab.engine.build import RunFiles
from warlab.engine.run import train_run
from warlab.pipeline.script import job


def train(given: dict[str, Any]) -> None:
    out = Path(given["out"])
    files = RunFiles(**{name: Path(path) for name, path in given["files"].items()})
    with job(str(out / "log.txt")) as log:
        log.info("ready")
        train_run(RunConfig.from_dict(given["run"]), {}, files, out, 1)


if __name__ == "__main__":
    train(json.loads(sys.argv[1]))
