"""What a run depends on, by checksums: the same identity means the same bits."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from warlab.common.files import digest, read_json, write_json

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


def identity(run: Mapping[str, Any], code: str, checksums: Mapping[str, str]) -> dict[str, str]:
    return {"run": digest(json.dumps(run, sort_keys=True).encode()), "code": code, **checksums}


def remember(folder: Path, mine: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Keep the identity beside the checkpoints; where only states of another identity are there, say what differs."""
    others = sorted(folder.parent.glob(f"*/{_FILE}"), key=lambda path: path.stat().st_mtime)
    if not folder.exists() and others:
        before = read_json(others[-1])
        changed = [_WORDS.get(name, name) for name in {**before, **mine} if before.get(name) != mine.get(name)]
        say(f"starting from the beginning, because {' and '.join(changed)} changed since the saved state was made")
    write_json(folder / _FILE, dict(mine))
