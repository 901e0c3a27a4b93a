"""The files of a run, and what is in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeVar

import numpy as np

from warlab.common.files import digest, file_digest, read_arrays, read_json
from warlab.data.resources._weights import initial_file
from warlab.engine.identity import description_digest
from warlab.errors import WarlabError
from warlab.ot.costfile import read_cost

T = TypeVar("T")


@dataclass(frozen=True)
class DataDescription:
    """As far as a training needs it."""

    class_names: list[str]
    mean: list[float]
    std: list[float]
    data: str = "real"  # or "stand-in"
    samples: str = "images"  # warlab.engine.<samples> knows how to train on them
    shards: str = ""  # folder of the images that stay on disk
    crop: int | None = None
    scored: dict[str, str] = field(default_factory=dict)  # class → its metric, of tiles


@dataclass(frozen=True)
class PreparedData:
    about: DataDescription
    arrays: Mapping[str, np.ndarray]

    @classmethod
    def load(cls, path: Path) -> "PreparedData":
        return cls(_known(DataDescription, path), read_arrays(path))


@dataclass(frozen=True)
class NoiseManifest:
    """As far as a training needs it."""

    rate: float
    realised_rate: float
    kind: str
    labels_sha256: str
    clean_sha256: str
    open_set: dict[str, str] | None = None


@dataclass(frozen=True)
class NoisyLabels:
    """With open-set noise, image `by[k]` of another dataset is in the place of training image `replaced[k]`."""

    manifest: NoiseManifest
    labels: np.ndarray
    replaced: np.ndarray | None = None
    by: np.ndarray | None = None

    @classmethod
    def load(cls, path: Path) -> "NoisyLabels":
        return cls(_known(NoiseManifest, path), **read_arrays(path))

    def check(self, clean: np.ndarray, path: Path) -> None:
        """Refuse labels of other data, or labels that are not those of the manifest."""
        if digest(self.labels) != self.manifest.labels_sha256 or digest(clean) != self.manifest.clean_sha256:
            raise WarlabError(
                f"{path} does not belong to the data it is used with (checksums differ): delete it and run again."
            )


def _known(kind: type[T], path: Path) -> T:
    content = read_json(path.with_suffix(".json"))
    return kind(**{one.name: content[one.name] for one in fields(kind) if one.name in content})  # type: ignore[arg-type]


@dataclass(frozen=True)
class RunInputs:
    """What a run reads. `other` are the images that open-set noise puts in place of some."""

    data: PreparedData
    noise: NoisyLabels
    cost: np.ndarray | None = None
    predictions: np.ndarray | None = None
    other: np.ndarray | None = None
    initial: Path | None = None  # weights that the networks begin with


@dataclass(frozen=True)
class RunFiles:
    """The paths of what a run reads. All of it is part of the run's identity by checksums, as are the descriptions of
    data and noise, the JSON files with the same names."""

    data: Path
    noise: Path
    cost: Path | None = None
    predictions: Path | None = None
    images: Path | None = None
    initial: Path | None = None

    @classmethod
    def of(cls, named: Mapping[str, str]) -> "RunFiles":
        """Those among the named files that a run reads."""
        files = {one.name: Path(named[one.name]) for one in fields(cls) if one.name in named}
        if "initial" in files:
            files["initial"] = initial_file(files["initial"])
        return cls(**files)

    def checksums(self) -> dict[str, str]:
        described = {"data_json": self.data, "noise_json": self.noise}
        return {name: file_digest(path) for name, path in vars(self).items() if path is not None} | {
            name: description_digest(path.with_suffix(".json")) for name, path in described.items()
        }

    def read(self) -> RunInputs:
        data, noise = PreparedData.load(self.data), NoisyLabels.load(self.noise)
        noise.check(data.arrays["train_y"], self.noise)
        replaces = noise.manifest.open_set is not None
        return RunInputs(
            data,
            noise,
            cost=None if self.cost is None else read_cost(self.cost, data.about.class_names),
            predictions=None if self.predictions is None else read_arrays(self.predictions)["probabilities"],
            other=read_arrays(self.images)["train_x"] if replaces and self.images else None,
            initial=self.initial,
        )
