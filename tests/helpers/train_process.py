"""`python -m tests.helpers.train_process '{"run": …}'`: one training as the workflow's script runs it."""

import json
import sys
from pathlib import Path

from warlab.artefacts.run_config import RunConfig
from warlab.engine.build import RunFiles
from warlab.engine.run import train_run
from warlab.pipeline.script import job

given = json.loads(sys.argv[1])
out = Path(given["out"])
with job(str(out / "log.txt")) as log:
    log.info("ready")
    train_run(
        RunConfig.from_dict(given["run"]), {}, RunFiles(**{k: Path(v) for k, v in given["files"].items()}), out, 1
    )
