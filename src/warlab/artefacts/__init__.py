"""Typed artefacts passed between packages; each can save and load itself. JSON files have one key per field; fields
with their default value are left out."""

import json
from collections.abc import Set
from dataclasses import MISSING, Field, asdict, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from warlab.common.files import digest, read_json, write_json
from warlab.errors import WarlabError


def to_json(described: Any) -> dict[str, object]:
    left_out = {field.name for field in fields(described) if getattr(described, field.name) == _default(field)}
    return {name: value for name, value in asdict(described).items() if name not in left_out}


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def read_entries(path: Path, required: Set[str]) -> dict[str, Any]:
    """Return the content of a JSON file, a dictionary with at least the required keys."""
    content = read_json(path)
    entries = content if isinstance(content, dict) else {}
    if missing := sorted(required - entries.keys()):
        raise WarlabError(f"{path} lacks {missing[0]!r}; delete it and run again.")
    return entries


class Description:
    """A dataclass that describes the content of a file. It is saved as a JSON file with the same name."""

    DECIDES_NOTHING: ClassVar[frozenset[str]] = frozenset()  # fields that change no number of a run

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the description of the file at `path`."""
        path = Path(path).with_suffix(".json")
        defaults = {field.name: _default(field) for field in fields(cls)}  # type: ignore[arg-type]
        content = read_entries(path, {name for name, default in defaults.items() if default is MISSING})
        if unknown := sorted(content.keys() - defaults.keys()):
            raise WarlabError(f"{path} has the unknown entry {unknown[0]!r}; delete it and run again.")
        return cls(**content)

    def save(self, path: Path) -> None:
        write_json(Path(path).with_suffix(".json"), to_json(self))

    def identity(self) -> str:
        """Return a checksum of the fields that can change a number of a run."""
        content = {key: value for key, value in to_json(self).items() if key not in self.DECIDES_NOTHING}
        return digest(json.dumps(content, sort_keys=True).encode())
