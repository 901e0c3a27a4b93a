"""The input files of a run, and their content."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from warlab.artefacts.ground_cost import read_matrix
from warlab.artefacts.labelled_data import DataDescription, NoiseManifest, NoisyLabels, PreparedData
from warlab.common.files import file_digest, read_arrays
from warlab.data import weights_file


@dataclass(frozen=True)
class RunInputs:
    """What a run reads. `other` are images of another dataset, which open-set noise puts in place of some of these."""

    data: PreparedData
    noise: NoisyLabels
    cost: np.ndarray | None = None
    predictions: np.ndarray | None = None
    other: np.ndarray | None = None
    initial: Path | None = None  # weights that the networks begin with


@dataclass(frozen=True)
class RunFiles:
    """The paths of what a run reads. The checksums of all files are part of the run's identity, and so are the
    descriptions of data and noise, JSON files with the same names."""

    data: Path
    noise: Path
    cost: Path | None = None
    predictions: Path | None = None
    images: Path | None = None
    initial: Path | None = None

    @classmethod
    def of(cls, inputs: Mapping[str, str]) -> "RunFiles":
        """The files that a run reads, out of the inputs of a rule."""
        files = {one.name: Path(inputs[one.name]) for one in fields(cls) if one.name in inputs}
        if "initial" in files:
            files["initial"] = weights_file(files["initial"])
        return cls(**files)

    def checksums(self) -> dict[str, str]:
        described = {
            "data_json": DataDescription.load(self.data).identity(),
            "noise_json": NoiseManifest.load(self.noise).identity(),
        }
        return {name: file_digest(path) for name, path in vars(self).items() if path is not None} | described

    def read(self) -> RunInputs:
        data, noise = PreparedData.load(self.data), NoisyLabels.load(self.noise)
        noise.check(data.arrays["train_y"], self.noise)
        replaces = noise.manifest.open_set is not None
        return RunInputs(
            data,
            noise,
            cost=None if self.cost is None else read_matrix(self.cost, data.about.class_names),
            predictions=None if self.predictions is None else read_arrays(self.predictions)["probabilities"],
            other=read_arrays(self.images)["train_x"] if replaces and self.images else None,
            initial=self.initial,
        )
