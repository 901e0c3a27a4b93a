"""The noise of one (data set, noise, seed), whatever its sort: arrays, of which `labels` is one, and the manifest."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warlab.errors import WarlabError
from warlab.files import file_digest, read_arrays, read_json
from warlab.noise import HUMAN, OPEN_SET, given, openset, parse
from warlab.noise.inject import corrupt, make_manifest, noise_seed, noisy_labels, realised_transition

Made = tuple[dict[str, np.ndarray], dict[str, Any]]


@dataclass(frozen=True)
class Wanted:
    dataset: str
    noise: str
    seed: int
    class_names: list[str]
    data: str  # real or stand-in


def make_noise(wanted: Wanted, data: Mapping[str, np.ndarray], files: Mapping[str, Path]) -> Made:
    """`data` has train_x and train_y; `files` are those that `warlab.noise.needs` asks for."""
    kind, rate = parse(wanted.noise)
    if kind in OPEN_SET:
        return _open_set(wanted, data, files["images"], rate)
    if kind in HUMAN:
        labels = given.human_labels(data["train_y"], wanted.dataset, wanted.noise, files["human"])
        return _given(wanted, data["train_y"], labels, {"rng_seed": None})
    if kind == "file":
        return _from_file(wanted, data["train_y"], files["given"])
    labels, manifest = noisy_labels(data["train_y"], **asdict(wanted))
    return {"labels": labels}, manifest


def _given(wanted: Wanted, clean: np.ndarray, labels: np.ndarray, more: dict[str, Any]) -> Made:
    """Where labels are given, what they are is also what they are expected to be."""
    matrix = realised_transition(clean, labels, len(wanted.class_names))
    return {"labels": labels}, make_manifest(clean, labels, matrix, **asdict(wanted)) | more


def _from_file(wanted: Wanted, clean: np.ndarray, path: Path) -> Made:
    """Labels as they stand there, or drawn from the transition matrix that stands there."""
    values, classes = given.read_file(path), len(wanted.class_names)
    said = {"file": path.name, "file_sha256": file_digest(path)}
    if values.shape == (classes, classes):
        rng = np.random.default_rng(noise_seed(wanted.dataset, wanted.noise, wanted.seed))
        labels = corrupt(clean, values, rng)
        manifest = make_manifest(clean, labels, values, **asdict(wanted))
        return {"labels": labels}, manifest | said | {"rate": manifest["realised_rate"]}
    labels = given.labels_of(values, len(clean), classes, path)
    return _given(wanted, clean, labels, said | {"rng_seed": None, "rate": float(np.mean(clean != labels))})


def _open_set(wanted: Wanted, data: Mapping[str, np.ndarray], source: Path, rate: float) -> Made:
    """Labels stay; the numbers of the replaced images and of those that replace them stand beside the labels."""
    meta, images = read_json(source.with_suffix(".json")), read_arrays(source)["train_x"]
    if meta["data"] != wanted.data:
        raise WarlabError(
            f"{wanted.dataset} is {wanted.data} and {meta['dataset']} is {meta['data']}; take the same sort of both."
        )
    openset.check_shapes(data["train_x"].shape, images.shape, meta["dataset"])
    clean = data["train_y"]
    rng = np.random.default_rng(noise_seed(wanted.dataset, wanted.noise, wanted.seed))
    chosen = openset.replacements(clean, rate, len(images), rng)
    manifest = make_manifest(clean, clean, np.eye(len(wanted.class_names)), **asdict(wanted))
    manifest["realised_rate"] = len(chosen["replaced"]) / len(clean)
    manifest["open_set"] = openset.describe(chosen, clean, meta["dataset"], images)
    return {"labels": clean, **chosen}, manifest
