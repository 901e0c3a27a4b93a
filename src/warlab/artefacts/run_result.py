"""The result of one training: result.json."""

import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import NotRequired, TypedDict

from warlab.artefacts import read_entries
from warlab.artefacts.run_config import RunConfig
from warlab.artefacts.run_identity import RunIdentity
from warlab.common.files import write_json

# The files of a finished run.
OUTPUTS = ("metrics.csv", "weights.pt", "test_predictions.npz", "audit.npz", "result.json")
Machine = dict[str, str | int]


class RunProvenance(TypedDict):
    """The versions, the machines and the time of a run."""

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
    """What a run has reached, and what that depends on. `files` are the inputs by role, relative to its folder."""

    identity: RunIdentity
    files: dict[str, str]
    data: str  # "real" or "stand-in"
    summary: dict[str, float]
    provenance: RunProvenance
    finished: str = field(default_factory=now)

    @property
    def run(self) -> RunConfig:
        return RunConfig.from_dict(self.identity.run)

    def to_dict(self) -> dict[str, object]:
        """Return one entry for each field; those of the identity stand beside the others."""
        content = asdict(self)
        return content.pop("identity") | {"id": self.identity.id} | content

    def save(self, path: Path) -> None:
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: Path) -> "RunResult":
        names = {field.name for field in fields(cls)} - {"identity"}
        content = read_entries(path, names | {field.name for field in fields(RunIdentity)})
        return cls(RunIdentity.from_dict(content), **{name: content[name] for name in names})
