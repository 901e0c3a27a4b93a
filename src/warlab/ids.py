"""The ids that name folders, rows of tables and settings. They are parsed and printed here and nowhere else.

run       fashion_mnist/asym-40/cnn9/war_w2v+beta=5/seed0
method    war_w2v+beta=5: the method war_w2v with one setting changed
cost      w2v, random.7 with a seed, or embed@asym-40@seed0 where the cost is computed from noisy labels
place     cifar10@asym-40: a dataset with a noise, a kind of noise or a method, where a setting has another value
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
        """The changed settings with their values as text."""
        return dict(change.split("=", 1) for change in self.changes if "=" in change)


def base_method(method: str) -> str:
    """Return the method without its changes: `war_w2v` for war_w2v+beta=5."""
    return MethodId.parse(method).base


@dataclass(frozen=True, order=True)
class RunId:
    """A run: dataset, noise, network, method with its changes, and seed."""

    dataset: str
    noise: str
    net: str
    method: str
    seed: int

    @classmethod
    def parse(cls, path: str) -> "RunId":
        *_, dataset, noise, net, method, seed = path.strip("/").split("/")
        return cls(dataset, noise, net, method, int(seed.removeprefix("seed")))

    def __str__(self) -> str:
        """The folder of the run below those of its scale."""
        return f"{self.dataset}/{self.noise}/{self.net}/{self.method}/seed{self.seed}"

    @property
    def cell(self) -> tuple[str, str, str, str]:
        """The cell of a table that the run belongs to: everything but the seed."""
        return self.dataset, self.noise, self.net, self.method


@dataclass(frozen=True, order=True)
class CostId:
    """A ground cost of a dataset, with the noise and the seed of the labels that it is computed from, if any."""

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


def split_cost(name: str) -> tuple[str, str | None]:
    """Split random.7 into `random` and the seed `7`; w2v has no seed, which is None."""
    base, dot, seed = name.partition(".")
    return base, seed if dot else None


def split_place(place: str) -> tuple[str, str | None]:
    """Split cifar10@asym-40 into `cifar10` and `asym-40`; the second part is None where there is no @."""
    dataset, at, special = place.partition("@")
    return dataset, special if at else None


def places_of(dataset: str, noise_id: str = "", *method_names: str) -> list[str]:
    """Return the places of a run from the general to the special: cifar10, cifar10@openset, cifar10@openset_svhn,
    cifar10@openset_svhn-40, then cifar10@<method> for each of the names."""
    ends = [match.start() for match in re.finditer("[_-]", noise_id)]
    special = [*(noise_id[:end] for end in (*ends, len(noise_id))), *method_names]
    return [dataset, *(f"{dataset}@{name}" for name in special if name)]


@dataclass(frozen=True, order=True)
class ColumnId:
    """A method as a column of a table, with its noise where that differs from the other columns."""

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
    """A noise: `asym-40` is the kind asym at 40 percent; clean, human_worse and file_mine have no percentage."""

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
        """The nominal share of wrong labels, 0 where the id has no percentage."""
        return 0.0 if self.percent is None else float(self.percent) / 100
