"""All that decides a run's result apart from its input files. As a dictionary it is the parameter `run` of rules."""

from dataclasses import asdict, dataclass
from typing import NotRequired, TypedDict, cast

Options = dict[str, object]  # the settings of a network, a method or a cost: each has keys of its own


class Training(TypedDict):
    """The schedule of a run, with its numbers for the epochs that are trained."""

    epochs: int
    batch_size: int
    optimiser: str
    lr: float
    drops: list[int]
    weight_decay: float
    momentum: float
    validation: NotRequired[float]
    evaluate_every: NotRequired[int]
    mean: NotRequired[list[float]]
    std: NotRequired[list[float]]
    steps: NotRequired[int]  # this and the following are of tiles
    patch: NotRequired[int]
    overlap: NotRequired[int]
    sigma: NotRequired[float]


class NetEntry(TypedDict):
    name: str
    settings: Options


class MethodEntry(TypedDict):
    id: str
    file: str  # the method that `id` is a variant of, or `id` itself
    settings: Options


class RunEntry(TypedDict):
    """A run's configuration as Snakemake hands it on and result.json keeps it."""

    dataset: str
    noise: str
    net: NetEntry
    method: MethodEntry
    training: Training
    seed: int


@dataclass(frozen=True)
class RunConfig:
    dataset: str
    noise: str
    net: NetEntry
    method: MethodEntry
    training: Training
    seed: int

    def to_dict(self) -> RunEntry:
        return cast(RunEntry, asdict(self))

    @classmethod
    def from_dict(cls, content: RunEntry) -> "RunConfig":
        return cls(**content)
