"""The ids that name folders, rows of tables and settings. Each parses and prints itself; nothing else splits one.

run       fashion_mnist/asym-40/cnn9/war_w2v+beta=5/seed0
method    war_w2v+beta=5: the method war_w2v with one setting changed
cost      w2v, or embed@asym-40@seed0 where the cost is computed from noisy labels
place     cifar10@asym-40: a dataset with a noise, a sort of noise or a method
column    cce@clean: a method in a table whose other methods were trained on another noise
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class MethodId:
    """A method and the settings that its id changes, such as ("beta=5",)."""

    base: str
    changes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "MethodId":
        base, *changes = text.split("+")
        return cls(base, tuple(changes))

    def __str__(self) -> str:
        return "+".join([self.base, *self.changes])

    @property
    def changed(self) -> dict[str, str]:
        """setting → value as it is written"""
        return dict(change.split("=", 1) for change in self.changes if "=" in change)


def base_method(method: str) -> str:
    """`war_w2v` of `war_w2v+beta=5`."""
    return MethodId.parse(method).base


@dataclass(frozen=True, order=True)
class RunId:
    """One run: dataset, noise, network, method with its changes, and seed."""

    dataset: str
    noise: str
    net: str
    method: str
    seed: int

    @classmethod
    def parse(cls, path: str) -> "RunId":
        """Of the last five folders of a path."""
        *_, dataset, noise, net, method, seed = path.strip("/").split("/")
        return cls(dataset, noise, net, method, int(seed.removeprefix("seed")))

    def __str__(self) -> str:
        """Its folder below the runs of a scale."""
        return f"{self.dataset}/{self.noise}/{self.net}/{self.method}/seed{self.seed}"

    @property
    def cell(self) -> tuple[str, str, str, str]:
        """The cell of a table that the run counts in: all but the seed."""
        return self.dataset, self.noise, self.net, self.method


@dataclass(frozen=True, order=True)
class CostId:
    """A ground cost of a dataset, with the noise and the seed whose labels it is computed from, if it reads labels."""

    name: str
    noise: str | None = None
    seed: int | None = None

    @classmethod
    def parse(cls, text: str) -> "CostId":
        name, *labels = text.split("@")
        if not labels:
            return cls(name)
        noise, seed = labels
        return cls(name, noise, int(seed.removeprefix("seed")))

    def __str__(self) -> str:
        return self.name if self.noise is None else f"{self.name}@{self.noise}@seed{self.seed}"


def split_place(place: str) -> tuple[str, str]:
    """`cifar10` and `asym-40` of the place cifar10@asym-40, where a setting has a value of its own."""
    dataset, _, special = place.partition("@")
    return dataset, special


@dataclass(frozen=True, order=True)
class ColumnId:
    """A method as a column of a table, with its noise where the other columns have another one."""

    method: str
    noise: str = ""

    @classmethod
    def parse(cls, text: str) -> "ColumnId":
        method, _, noise = text.partition("@")
        return cls(method, noise)

    def __str__(self) -> str:
        return f"{self.method}@{self.noise}" if self.noise else self.method


# One spelling per rate (no 040, no 40.0), because the id is also the name of a folder.
_RATED = re.compile(r"([a-z0-9_]+)-((?:0|[1-9][0-9]?)(?:\.[0-9]*[1-9])?)", re.ASCII)


@dataclass(frozen=True, order=True)
class NoiseId:
    """`asym-40` is the kind asym at 40 percent; clean, human_worse or file_mine have no percentage."""

    kind: str
    percent: str | None = None

    @classmethod
    def parse(cls, text: str) -> "NoiseId":
        match = _RATED.fullmatch(text)
        return cls(text) if match is None else cls(match[1], match[2])

    def __str__(self) -> str:
        return self.kind if self.percent is None else f"{self.kind}-{self.percent}"

    @property
    def rate(self) -> float:
        """The nominal share of changed labels, 0 where the id has none."""
        return 0.0 if self.percent is None else float(self.percent) / 100
