"""The files of a run, and what is in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from warlab.common.files import digest, file_digest, read_arrays, read_json
from warlab.data.resources._weights import initial_file
from warlab.engine.identity import description_digest
from warlab.engine.settings import typed
from warlab.errors import WarlabError
from warlab.ot.costfile import read_cost

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class DataInfo:
    """The description of prepared data, as far as a training needs it."""

    class_names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    data: str = "real"  # or "stand-in"
    samples: str = "images"  # warlab.engine.<samples> knows how to train on them
    shards: str = ""  # folder of the images that stay on disk
    crop: int = 0
    scored: Mapping[str, str] = field(default_factory=dict)  # class → its metric, of tiles


@dataclass(frozen=True)
class NoiseInfo:
    """The manifest of noisy labels, as far as a training needs it."""

    rate: float
    realised_rate: float
    kind: str
    labels_sha256: str
    clean_sha256: str
    open_set: Mapping[str, str] | None = None


@dataclass(frozen=True)
class RunInputs:
    """What a run reads. `other` are the images that open-set noise puts in place of some."""

    arrays: Arrays
    info: DataInfo
    noise: Arrays
    noise_info: NoiseInfo
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
        arrays, noise = read_arrays(self.data), read_arrays(self.noise)
        info = typed(DataInfo, read_json(self.data.with_suffix(".json")))
        noise_info = typed(NoiseInfo, read_json(self.noise.with_suffix(".json")))
        checksums = digest(noise["labels"]), digest(arrays["train_y"])
        if checksums != (noise_info.labels_sha256, noise_info.clean_sha256):
            raise WarlabError(
                f"{self.noise} does not belong to the data it is used with (checksums differ): delete it and run again."
            )
        return RunInputs(
            arrays=arrays,
            info=info,
            noise=noise,
            noise_info=noise_info,
            cost=None if self.cost is None else read_cost(self.cost, list(info.class_names)),
            predictions=None if self.predictions is None else read_arrays(self.predictions)["probabilities"],
            other=None if self.images is None or noise_info.open_set is None else read_arrays(self.images)["train_x"],
            initial=self.initial,
        )
