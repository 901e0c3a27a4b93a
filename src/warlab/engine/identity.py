"""What a run depends on, by checksums: the same identity means the same bits."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from warlab.artefacts.run_config import RunConfig
from warlab.common.files import digest, read_json, write_json

logger = logging.getLogger(__name__)
_FILE = "identity.json"
_WORDS = {
    "run": "its settings",
    "code": "the code",
    "data": "the data",
    "data_json": "the description of the data (mean, deviation, classes or shards)",
    "noise": "the noisy labels",
    "noise_json": "the description of the noise (rate or kind)",
    "cost": "the ground cost",
    "predictions": "the predictions that it reads",
    "images": "the images of the open-set noise",
    "initial": "the initial weights",
}


def identity(run: RunConfig, code: str, checksums: Mapping[str, str]) -> dict[str, str]:
    return {"run": digest(json.dumps(run.to_dict(), sort_keys=True).encode()), "code": code, **checksums}


def remember(folder: Path, mine: Mapping[str, str]) -> None:
    """Keep the identity with the checkpoints; where only states of another identity are there, say what differs."""
    others = sorted(folder.parent.glob(f"*/{_FILE}"), key=lambda path: path.stat().st_mtime)
    if not folder.exists() and others:
        before = read_json(others[-1])
        changed = [_WORDS.get(name, name) for name in {**before, **mine} if before.get(name) != mine.get(name)]
        reason = f"because {' and '.join(changed)} changed since the saved state was made"
        logger.info(f"starting from the beginning, {reason}")
    write_json(folder / _FILE, dict(mine))
