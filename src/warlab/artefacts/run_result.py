"""The result of one training: result.json."""

import time
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from warlab.common.files import read_json, write_json
from warlab.errors import WarlabError


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass(frozen=True)
class RunResult:
    """`id` names all that the result depends on; `run` are its settings as the workflow resolved them."""

    id: str
    run: dict[str, Any]
    data: str  # "real" or "stand-in"
    summary: dict[str, float]
    provenance: dict[str, Any]
    finished: str = field(default_factory=now)

    def save(self, path: Path) -> None:
        write_json(path, vars(self))

    @classmethod
    def load(cls, path: Path) -> "RunResult":
        content = read_json(path)
        missing = [one.name for one in fields(cls) if one.name not in content]
        if missing:
            raise WarlabError(f"{path} has no {missing[0]!r}, so it is not the result of a run; train this run again.")
        return cls(**{one.name: content[one.name] for one in fields(cls)})
