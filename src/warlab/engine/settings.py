"""The settings of a run, as the workflow resolved them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Training:
    """The section `training`: schedule, optimiser and batches; what stands below `steps` is of tiles."""

    epochs: int
    batch_size: int
    optimiser: str
    lr: float
    drops: tuple[int, ...] = ()
    weight_decay: float = 0.0
    momentum: float = 0.0
    validation: float = 0.0  # share of the training set that is kept back
    evaluate_every: int = 1  # epochs
    mean: tuple[float, ...] = ()  # of the channels, where an experiment scales its inputs differently
    std: tuple[float, ...] = ()
    steps: int = 0
    patch: int = 0
    overlap: int = 0
    sigma: float = 1.0


@dataclass(frozen=True)
class DeviceOptions:
    """What the owner of a GPU may switch on. Each of them changes the last bits of a result."""

    tf32: bool = False
    channels_last: bool = False
    compile: bool = False


@dataclass(frozen=True)
class RunSettings:
    """All that decides a run apart from its files."""

    dataset: str
    noise: str
    net: str
    net_settings: Mapping[str, object]
    method_id: str
    method_file: str
    method_settings: Mapping[str, object]
    training: Training
    seed: int
    device: DeviceOptions = DeviceOptions()

    @classmethod
    def of(cls, run: Mapping[str, Any]) -> "RunSettings":
        return cls(
            dataset=run["dataset"],
            noise=run["noise"],
            net=run["net"]["name"],
            net_settings=run["net"]["settings"],
            method_id=run["method"]["id"],
            method_file=run["method"]["file"],
            method_settings=run["method"]["settings"],
            training=typed(Training, run["training"]),
            seed=run["seed"],
            device=typed(DeviceOptions, run.get("device", {})),
        )

    def __str__(self) -> str:
        return f"{self.dataset}/{self.noise}/{self.net}/{self.method_id}/seed{self.seed}"


def typed(kind: type[T], values: Mapping[str, Any]) -> T:
    """The dataclass with those of the values that it has a field for; lists become tuples."""
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k in names})
