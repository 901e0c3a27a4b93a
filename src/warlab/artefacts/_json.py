"""Dataclasses as JSON: one key per field. A field that has its default value is left out."""

import json
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


class Description:
    """A dataclass that describes the content of a file. It is saved as a JSON file of the same name."""

    DECIDES_NOTHING: ClassVar[frozenset[str]] = frozenset()  # fields that change no number of a run

    @classmethod
    def load(cls, path: Path) -> Self:
        """Of the file that is described, whose path is given."""
        path = Path(path).with_suffix(".json")
        content, known = read_json(path), {field.name: _default(field) for field in fields(cls)}  # type: ignore[arg-type]
        keys = set(content) if isinstance(content, dict) else set()
        required = {name for name, default in known.items() if default is MISSING}
        if wrong := sorted(required - keys) or sorted(keys - set(known)):
            problem = "lacks" if wrong[0] in known else "has the unknown entry"
            raise WarlabError(f"{path} {problem} {wrong[0]!r}; delete it and run again.")
        return cls(**content)

    def save(self, path: Path) -> None:
        write_json(Path(path).with_suffix(".json"), to_json(self))

    def identity(self) -> str:
        """A checksum of what decides the numbers of a run."""
        content = {key: value for key, value in to_json(self).items() if key not in self.DECIDES_NOTHING}
        return digest(json.dumps(content, sort_keys=True).encode())
