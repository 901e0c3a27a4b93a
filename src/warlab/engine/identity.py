"""What a run depends on, by checksums: the same identity means the same bits."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from warlab.artefacts.run_config import RunConfig
from warlab.common.files import digest, read_json, write_json

logger = logging.getLogger(__name__)
_FILE = "identity.json"
# What a description says that changes no number of a run: where things are, sentences, what only costs and maps read.
_OF_DATA = {"source", "licence", "shards", "words", "colours", "world", "train_files"}
_OF_NOISE = {"file", "file_sha256", "estimated"}
_DECIDES_NOTHING = _OF_DATA | _OF_NOISE
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


def description_digest(path: Path) -> str:
    """Of what decides a result in the JSON file that describes arrays."""
    content = {key: value for key, value in read_json(path).items() if key not in _DECIDES_NOTHING}
    return digest(json.dumps(content, sort_keys=True).encode())


def identity(run: RunConfig, code: str, checksums: Mapping[str, str]) -> dict[str, str]:
    return {"run": digest(json.dumps(run.to_dict(), sort_keys=True).encode()), "code": code, **checksums}


def remember(folder: Path, mine: Mapping[str, str]) -> None:
    """Keep the identity beside the checkpoints; where only states of another identity are there, say what differs."""
    others = sorted(folder.parent.glob(f"*/{_FILE}"), key=lambda path: path.stat().st_mtime)
    if not folder.exists() and others:
        before = read_json(others[-1])
        changed = [_WORDS.get(name, name) for name in {**before, **mine} if before.get(name) != mine.get(name)]
        reason = f"because {' and '.join(changed)} changed since the saved state was made"
        logger.info(f"starting from the beginning, {reason}")
    write_json(folder / _FILE, dict(mine))
