"""The result of one training: result.json."""

import time
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NotRequired, TypedDict

from warlab.artefacts.run_config import RunConfig
from warlab.common.files import read_json, write_json
from warlab.errors import WarlabError

Machine = dict[str, str | int]


class Provenance(TypedDict):
    """What a result rests on."""

    inputs_sha256: dict[str, str]
    git: str
    versions: dict[str, str]
    host: str
    processor: str
    cuda: str | None
    cudnn: int | None
    float32: dict[str, str]
    threads: int
    slurm_job: str | None
    visible_gpus: str | None
    seconds: float
    processor_seconds: float
    peak_memory_mb: float
    machines: NotRequired[list[Machine]]  # those that a run was trained on


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass(frozen=True)
class RunResult:
    """`id` names all that the result depends on; `run` are its settings."""

    id: str
    run: RunConfig
    data: str  # "real" or "stand-in"
    summary: dict[str, float]
    provenance: Provenance
    finished: str = field(default_factory=now)

    def save(self, path: Path) -> None:
        write_json(path, {**vars(self), "run": self.run.to_dict()})

    @classmethod
    def load(cls, path: Path) -> "RunResult":
        content = read_json(path)
        missing = [one.name for one in fields(cls) if one.name not in content]
        if missing:
            raise WarlabError(f"{path} has no {missing[0]!r}, so it is not the result of a run; train this run again.")
        known = {one.name: content[one.name] for one in fields(cls)}
        return cls(**{**known, "run": RunConfig.from_dict(content["run"])})
