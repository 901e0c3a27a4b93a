"""What the result of a run depends on, and in words how that differs between two moments."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from warlab.artefacts.labelled_data import DataDescription, NoiseManifest
from warlab.common.files import digest, file_digest

# The input files of a training by their role.
ROLES = {
    "data": "data",
    "data_json": "description of the data (mean, deviation, classes or shards)",
    "noise": "noise labels",
    "noise_json": "description of the noise (rate or kind)",
    "cost": "ground cost",
    "predictions": "predictions that the method reads",
    "images": "images of the open-set noise",
    "initial": "initial weights",
}


@dataclass(frozen=True)
class RunIdentity:
    """Everything that decides the result of a run.

    run      its settings, as `RunConfig.to_dict` gives them
    sources  the settings and the user's files that its data, noise and ground cost are made from
    code     path of a module → digest
    inputs   role of an input file → checksum
    """

    run: Mapping[str, Any]
    sources: Mapping[str, Any]
    code: Mapping[str, str]
    inputs: Mapping[str, str]

    @property
    def id(self) -> str:
        return digest(json.dumps(asdict(self), sort_keys=True).encode())

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "RunIdentity":
        return cls(**{field.name: content[field.name] for field in fields(cls)})


def input_checksums(files: Mapping[str, Path], checksum: Callable[[Path], str] = file_digest) -> dict[str, str]:
    """Return the checksums of the input files of a run by role, and those of the descriptions of data and noise."""
    checksums = {role: checksum(path) for role, path in files.items()}
    checksums["data_json"] = DataDescription.load(files["data"]).identity()
    checksums["noise_json"] = NoiseManifest.load(files["noise"]).identity()
    return checksums


def compare(stored: RunIdentity, current: RunIdentity) -> list[str]:
    """Return what has changed, such as "beta: 10 → 5", "methods/war.py changed" or "noise labels changed"."""
    changes = [*_changed_values(stored.run, current.run), *_changed_values(stored.sources, current.sources)]
    for name in sorted(stored.code.keys() | current.code.keys()):
        if name not in current.code:
            changes.append(f"{name} is no longer used")
        elif stored.code.get(name) != current.code[name]:
            changes.append(f"{name} changed" if name in stored.code else f"{name} is used now")
    for role in {**stored.inputs, **current.inputs}:
        if stored.inputs.get(role) != current.inputs.get(role):
            changes.append(f"{ROLES.get(role, role)} changed")
    return changes


def _changed_values(stored: Mapping[str, Any], current: Mapping[str, Any]) -> Iterator[str]:
    before, now = (dict(_flatten(json.loads(json.dumps(values)))) for values in (stored, current))
    for key in {**before, **now}:
        if before.get(key, "unset") == now.get(key, "unset"):
            continue
        name = key.removeprefix("method.").removeprefix("training.").replace("settings.", "")  # beta, epochs, net.width
        if key.endswith("_sha256"):
            yield f"{name.removesuffix('_sha256')} changed"
        else:
            yield f"{name}: {before.get(key, 'unset')} → {now.get(key, 'unset')}"


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested values with names such as `method.settings.beta`."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
