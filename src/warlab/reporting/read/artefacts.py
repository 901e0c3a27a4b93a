"""What other steps of the workflow wrote: prepared data, noise, ground costs, times and maps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np

from warlab.artefacts.ground_cost import read_matrix
from warlab.common.files import read_arrays, read_json
from warlab.ids import RunId

Arrays = Mapping[str, np.ndarray]


class DataMeta(TypedDict, total=False):
    """The JSON of a prepared dataset, the keys that reporting reads; colours, tiles and world files of tiles only."""

    dataset: str
    data: str
    source: str
    class_names: list[str]
    colours: list[list[int]]
    train_tiles: list[str]
    test_tiles: list[str]
    world: dict[str, str]


class Noise(TypedDict, total=False):
    """A manifest, with the array of labels."""

    dataset: str
    noise: str
    data: str
    rate: float
    realised_rate: float
    class_names: list[str]
    transition: list[list[float]]
    objects: dict[str, float]
    labels: np.ndarray


class Cost(TypedDict, total=False):
    """The provenance of a ground cost, with its matrix (C, C) and its verification."""

    dataset: str
    key: str
    data: str
    class_names: list[str]
    matrix: np.ndarray
    verified: Mapping[str, object]


class Timing(TypedDict):
    """Measured times: method → epoch, step and error in seconds; `spec` is what was timed."""

    dataset: str
    noise: str
    net: str
    seconds: dict[str, dict[str, float]]
    spec: dict[str, Any]


@dataclass(frozen=True)
class PredictedMap:
    """The classes that a run predicts for all pixels of the test tiles."""

    run: RunId
    labels: np.ndarray


Data = Mapping[str, tuple[Arrays, DataMeta]]  # by dataset


def read_data(paths: Iterable[Path]) -> Data:
    return {path.stem: (read_arrays(path), read_json(path.with_suffix(".json"))) for path in paths}


def read_noise(paths: Iterable[Path]) -> list[Noise]:
    described = ((path, read_json(path.with_suffix(".json"))) for path in paths)
    return [cast(Noise, manifest | {"labels": read_arrays(path)["labels"]}) for path, manifest in described]


def read_costs(verified: Iterable[Path]) -> list[Cost]:
    found: list[Cost] = []
    for path in verified:
        provenance = read_json(path.with_name("cost.json"))
        matrix = read_matrix(path.with_name("cost.csv"), provenance["class_names"])
        found.append(cast(Cost, provenance | {"matrix": matrix, "verified": read_json(path)}))
    return found


def read_maps(paths: Iterable[Path]) -> list[PredictedMap]:
    """Files labels.npz in folders that end in the id of their run."""
    return [PredictedMap(RunId.parse(str(path.parent)), read_arrays(path)["labels"]) for path in paths]
