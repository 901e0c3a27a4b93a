"""Clothing1M: a million photographs of clothes with labels from the web, 14 classes (Xiao et al., 2015).

The owners give it out on request: a folder with `images` and lists of them. About 38 % of the web's labels are wrong.
Training takes the noisy list; 14 thousand images with clean labels are for validation, 10 thousand for the test.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from warlab.common.files import digest, write_json, write_text
from warlab.data import user_data
from warlab.data.base import Arrays, Dataset, choose, subset_seed
from warlab.data.formats.shards import pack
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError

NAMES = (
    "T-Shirt",
    "Shirt",
    "Knitwear",
    "Chiffon",
    "Sweater",
    "Hoodie",
    "Windbreaker",
    "Jacket",
    "Down coat",
    "Suit",
    "Shawl",
    "Dress",
    "Vest",
    "Underwear",
)
SIDE, CROP = 256, 224  # paper: resized to 256, of which the middle 224 are seen
_LISTS = {
    "train": ("noisy_train_key_list.txt", "noisy_label_kv.txt"),
    "val": ("clean_val_key_list.txt", "clean_label_kv.txt"),
    "test": ("clean_test_key_list.txt", "clean_label_kv.txt"),
}
NEEDS = (*dict.fromkeys(name for names in _LISTS.values() for name in names), "images")
_GROUPS = "aabbbbcccdeefg"  # what resembles what, for the stand-in


@dataclass(frozen=True)
class Listed:
    """Labels of the three parts, and the numbers of their images in the shards."""

    train_y: np.ndarray
    train_i: np.ndarray
    val_y: np.ndarray
    val_i: np.ndarray
    test_y: np.ndarray
    test_i: np.ndarray


def prepare(dataset: Dataset, root: Path, spec: dict[str, Any], threads: int) -> tuple[Listed, dict[str, Any]]:
    """Resize what is not yet resized; then the scale's part of the lists."""
    folder, pool = user_data.place(root), spec.get("pool", 1)
    lists = {part: read_list(folder, *names) for part, names in _LISTS.items()}
    files = [folder / key for keys, _ in lists.values() for key in keys]
    images = shards_digest([keys for keys, _ in lists.values()], SIDE // pool)
    shards = root / f"resized-{SIDE // pool}-{images[:12]}"
    pack(files, SIDE // pool, shards, threads)
    arrays = _parts({part: labels for part, (_, labels) in lists.items()}, spec, subset_seed(dataset.name))
    more = {"shards": str(shards), "shards_sha256": images, "crop": CROP // pool}
    return arrays, _describe(dataset, arrays, spec, more)


def shards_digest(keys: list[list[str]], side: int) -> str:
    """Which images the shards have, in which order and size: other lists get other shards."""
    return digest(json.dumps([keys, side]).encode())


def _parts(labels: dict[str, np.ndarray], spec: dict[str, Any], seed: int) -> Listed:
    """A stratified part of each list; the validation images shrink like those of the test."""
    found: dict[str, np.ndarray] = {}
    first = 0
    for part, own_labels in labels.items():
        wanted = spec.get("train" if part == "train" else "test")
        taken = choose(own_labels, min(wanted, len(own_labels)) if wanted else None, seed, part)
        found |= {f"{part}_y": own_labels[taken], f"{part}_i": first + taken}
        first += len(own_labels)
    return Listed(**found)


def read_list(folder: Path, keys: str, labels: str) -> tuple[list[str], np.ndarray]:
    """The images of a list with their labels; both are text files of the owners."""
    known = dict(_pairs(folder / labels))
    listed = [line.strip() for line in _lines(folder / keys) if line.strip()]
    missing = next((key for key in listed if key not in known), None)
    if missing is not None or not listed:
        raise WarlabError(f"{folder / keys} names {missing or 'no image'}, which {labels} has no label for; get both.")
    found = np.array([known[key] for key in listed], np.int64)
    if found.min() < 0 or found.max() >= len(NAMES):
        raise WarlabError(f"{folder / labels} has labels outside 0..{len(NAMES) - 1}; get it again.")
    return listed, found


def _pairs(path: Path) -> list[tuple[str, int]]:
    try:
        return [(key, int(label)) for key, label in (line.split() for line in _lines(path) if line.strip())]
    except ValueError as error:
        raise WarlabError(f"{path} must have an image and a number in every line ({error}); get it again.") from error


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WarlabError(f"{path} cannot be read; it is one of the owners' files of Clothing1M.") from error


def _describe(dataset: Dataset, arrays: Listed, spec: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    stand_in = spec["source"] == "stand_in"
    return {
        "dataset": dataset.name,
        "data": "stand-in" if stand_in else "real",
        "source": f"procedural stand-in for {dataset.title}" if stand_in else f"{dataset.title}, the owners' folder",
        "samples": dataset.samples,
        "class_names": list(dataset.class_names),
        "words": list(dataset.words),
        "mean": list(dataset.mean),
        "std": list(dataset.std),
        "n_train": len(arrays.train_y),
        "n_val": len(arrays.val_y),
        "n_test": len(arrays.test_y),
        "shape": [3, more["crop"], more["crop"]],
        "sha256": {name: digest(array) for name, array in vars(arrays).items()},
        "licence": dataset.licence,
        **more,
    }


def stand_in(root: Path, seed: int, n_train: int = 420, n_val: int = 70, n_test: int = 140) -> None:
    """Patterns as small JPEGs in the owners' folders and lists; a third of the labels for training is wrong."""
    rng = np.random.default_rng(seed)
    noisy: list[str] = []
    clean: list[str] = []
    for part, n in (("train", n_train), ("val", n_val), ("test", n_test)):
        labels = shuffled_labels(n, len(NAMES), rng)
        keys = _write_images(root, part, draw(labels, _GROUPS, "clothing1m", rng, 32))
        write_text(root / _LISTS[part][0], "\n".join(keys) + "\n")
        given = _mistaken(labels, rng) if part == "train" else labels
        (noisy if part == "train" else clean).extend(f"{k} {y}" for k, y in zip(keys, given, strict=True))
    write_text(root / "noisy_label_kv.txt", "\n".join(noisy) + "\n")
    write_text(root / "clean_label_kv.txt", "\n".join(clean) + "\n")
    write_json(root / user_data.POINTER, {"place": ".", "listing": ""})


def _write_images(root: Path, part: str, images: np.ndarray) -> list[str]:
    keys = [f"images/{part}/{number % 10}/{number:05}.jpg" for number in range(len(images))]
    for key, image in zip(keys, images, strict=True):
        (root / key).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.transpose(1, 2, 0)).resize((40, 48)).save(root / key, quality=95)
    return keys


def _mistaken(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    wrong = (labels + rng.integers(1, len(NAMES), len(labels))) % len(NAMES)
    return np.where(rng.random(len(labels)) < 1 / 3, wrong, labels)


def _not_in_memory(root: Path) -> Arrays:
    raise WarlabError("Clothing1M is not held in memory; it is read by warlab.engine.stored.")


DATASET = Dataset(
    name="clothing1m",
    title="Clothing1M",
    class_names=NAMES,
    words=tuple(name.lower() for name in NAMES),
    mean=(0.485, 0.456, 0.406),  # the paper subtracts a mean that it does not state: ImageNet's
    std=(1.0, 1.0, 1.0),
    licence="for research only, on request (Xiao et al., 2015)",
    homepage="https://github.com/Cysu/noisy_label",
    shape=(3, CROP, CROP),
    images=(1_000_000, 10_526),
    load=_not_in_memory,
    stand_in=stand_in,
    samples="stored",
    prepare=prepare,
    needs=NEEDS,
    own_noise=0.3846,  # 1 - 61.54 %, the accuracy of its labels that the owners give
)
