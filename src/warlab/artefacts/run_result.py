"""The result of one training: result.json."""

import time
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NotRequired, TypedDict

from warlab.artefacts import read_entries
from warlab.artefacts.run_config import RunConfig
from warlab.common.files import write_json

Machine = dict[str, str | int]


class RunProvenance(TypedDict):
    """The inputs, the code and the machines of a run."""

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
    machines: NotRequired[list[Machine]]  # on which the run was trained


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass(frozen=True)
class RunResult:
    """`id` identifies everything that the result depends on; `run` has the settings."""

    id: str
    run: RunConfig
    data: str  # "real" or "stand-in"
    summary: dict[str, float]
    provenance: RunProvenance
    finished: str = field(default_factory=now)

    def save(self, path: Path) -> None:
        write_json(path, {**vars(self), "run": self.run.to_dict()})

    @classmethod
    def load(cls, path: Path) -> "RunResult":
        names = {field.name for field in fields(cls)}
        content = read_entries(path, names)
        return cls(**{name: content[name] for name in names} | {"run": RunConfig.from_dict(content["run"])})
