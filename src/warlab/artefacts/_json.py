"""Dataclasses as JSON: one key per field. A field that has its default value is left out."""

import json
from dataclasses import MISSING, Field, asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from warlab.common.files import digest, read_json
from warlab.errors import WarlabError

T = TypeVar("T")


def to_json(described: Any) -> dict[str, object]:
    left_out = {field.name for field in fields(described) if getattr(described, field.name) == _default(field)}
    return {name: value for name, value in asdict(described).items() if name not in left_out}


def from_json(cls: type[T], path: Path) -> T:
    content, known = read_json(path), {field.name: _default(field) for field in fields(cls)}  # type: ignore[arg-type] # a dataclass
    keys = set(content) if isinstance(content, dict) else set()
    required = {name for name, default in known.items() if default is MISSING}
    if wrong := sorted(required - keys) or sorted(keys - set(known)):
        problem = "lacks" if wrong[0] in known else "has the unknown entry"
        raise WarlabError(f"{path} {problem} {wrong[0]!r}; delete it and run again.")
    return cls(**content)


def identity(described: Any, decides_nothing: set[str]) -> str:
    """A checksum of the entries that decide a number."""
    content = {key: value for key, value in to_json(described).items() if key not in decides_nothing}
    return digest(json.dumps(content, sort_keys=True).encode())


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()
