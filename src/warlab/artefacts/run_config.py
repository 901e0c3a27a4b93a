"""The settings that decide the result of a run. As a dictionary they are the parameter `run` of rules."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NotRequired, TypedDict

Options = dict[str, object]  # the settings of a network, a method or a cost: each has keys of its own


class Training(TypedDict):
    """The schedule of a run, scaled to the epochs that are trained."""

    epochs: int
    batch_size: int
    optimiser: str
    lr: float
    drops: list[int]
    weight_decay: float
    momentum: float
    validation: NotRequired[float]
    keep: NotRequired[str]  # last, or best_validation
    evaluate_every: NotRequired[int]
    augmentation: NotRequired[str]  # none if it is not there
    mean: NotRequired[list[float]]
    std: NotRequired[list[float]]
    steps: NotRequired[int]  # this and the following are for tiles
    patch: NotRequired[int]
    overlap: NotRequired[int]
    sigma: NotRequired[float]


@dataclass(frozen=True)
class MethodConfig:
    id: str
    file: str  # the method that `id` is a variant of, or `id` itself
    settings: Options


@dataclass(frozen=True)
class NetConfig:
    name: str
    settings: Options


class TimingSpec(TypedDict):
    """Everything that decides how long a step takes. `images` is their number in an epoch; `net` and `methods` have the
    fields of a NetConfig and of MethodConfigs."""

    shape: list[int]
    classes: int
    images: int
    net: Mapping[str, Any]
    training: Training
    methods: dict[str, Mapping[str, Any]]
    steps: int


@dataclass(frozen=True)
class DeviceOptions:
    """Options for GPUs. Each changes the last bits of a result, so none is on by default."""

    tf32: bool = False
    channels_last: bool = False
    compile: bool = False


@dataclass(frozen=True)
class RunConfig:
    dataset: str
    noise: str
    net: NetConfig
    method: MethodConfig
    training: Training
    seed: int
    device: DeviceOptions = DeviceOptions()

    @property
    def path(self) -> str:
        return f"{self.dataset}/{self.noise}/{self.net.name}/{self.method.id}/seed{self.seed}"

    def to_dict(self) -> Options:
        """Options of the device only if they are on: they are part of the identity of such runs only."""
        content = asdict(self)
        on = {name: True for name, value in content.pop("device").items() if value}
        return content | ({"device": on} if on else {})

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "RunConfig":
        net, method = NetConfig(**content["net"]), MethodConfig(**content["method"])
        return cls(**{**content, "net": net, "method": method, "device": DeviceOptions(**content.get("device", {}))})
