"""Clothing1M: a million photographs of clothes with labels from the web, 14 classes (Xiao et al., 2015).

The owners give it out on request: a folder with `images` and lists of them. About 38 % of the labels from the web are
wrong. Training uses the noisy list; 14 thousand images with clean labels are for validation, 10 thousand for the test.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from warlab.common.files import write_text
from warlab.data import in_place
from warlab.data.base import Classes, Pixels
from warlab.data.images_on_disk import ImagesOnDisk
from warlab.data.synthetic.patterns import draw, mistaken, shuffled_labels
from warlab.errors import WarlabError

_LISTING = """
T-Shirt, Shirt, Knitwear, Chiffon, Sweater, Hoodie, Windbreaker, Jacket, Down coat, Suit, Shawl, Dress, Vest, Underwear
"""
NAMES = tuple(_LISTING.strip().split(", "))
SIDE, CROP = 256, 224  # paper: resized to 256, centre crop of 224
_LISTS = {
    "train": ("noisy_train_key_list.txt", "noisy_label_kv.txt"),
    "val": ("clean_val_key_list.txt", "clean_label_kv.txt"),
    "test": ("clean_test_key_list.txt", "clean_label_kv.txt"),
}
NEEDS = (*dict.fromkeys(name for names in _LISTS.values() for name in names), "images")
_GROUPS = "aabbbbcccdeefg"  # the groups of similar classes in the stand-in


def read_list(folder: Path, keys: str, labels: str) -> tuple[list[str], np.ndarray]:
    """Return the images of a list and their labels, from two text files of the owners."""
    listed, lines = _lines(folder / keys), _lines(folder / labels)
    try:
        known = {key: int(label) for key, label in map(str.split, lines)}
    except ValueError as error:
        raise WarlabError(
            f"{folder / labels} must have an image and a number in every line ({error}); get it again."
        ) from error
    missing = next((key for key in listed if key not in known), None)
    if missing is not None or not listed:
        raise WarlabError(f"{folder / keys} names {missing or 'no image'}, which {labels} has no label for; get both.")
    numbers = np.array([known[key] for key in listed], np.int64)
    if numbers.min() < 0 or numbers.max() >= len(NAMES):
        raise WarlabError(f"{folder / labels} has labels outside 0..{len(NAMES) - 1}; get it again.")
    return listed, numbers


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise WarlabError(f"{path} cannot be read; it is one of the owners' files of Clothing1M.") from error


def stand_in(root: Path, seed: int, n_train: int = 420, n_val: int = 70, n_test: int = 140) -> None:
    """Draw small JPEGs in the owners' folders and lists; a third of the training labels is wrong."""
    rng = np.random.default_rng(seed)
    pairs: dict[str, list[str]] = {}  # file → its lines, an image with its label
    for part, n in (("train", n_train), ("val", n_val), ("test", n_test)):
        labels = shuffled_labels(n, len(NAMES), rng)
        keys = [f"images/{part}/{number % 10}/{number:05}.jpg" for number in range(n)]
        for key, image in zip(keys, draw(labels, _GROUPS, "clothing1m", rng, 32), strict=True):
            (root / key).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image.transpose(1, 2, 0)).resize((40, 48)).save(root / key, quality=95)
        given = mistaken(labels, len(NAMES), 1 / 3, rng) if part == "train" else labels
        list_file, label_file = _LISTS[part]
        write_text(root / list_file, "\n".join(keys) + "\n")
        pairs.setdefault(label_file, []).extend(f"{k} {y}" for k, y in zip(keys, given, strict=True))
    for file, lines in pairs.items():
        write_text(root / file, "\n".join(lines) + "\n")
    in_place.write_pointer(root, ".")


DATASET = ImagesOnDisk(
    name="clothing1m",
    title="Clothing1M",
    classes=Classes(
        NAMES,
        words=tuple(name.lower() for name in NAMES),
        own_noise=0.3846,  # 1 - 61.54 %, the accuracy of the labels according to the owners
    ),
    # The paper subtracts a mean that it does not state; this is ImageNet's.
    pixels=Pixels((3, CROP, CROP), mean=(0.485, 0.456, 0.406), std=(1.0, 1.0, 1.0)),
    images=(1_000_000, 10_526),
    licence="for research only, on request (Xiao et al., 2015)",
    homepage="https://github.com/Cysu/noisy_label",
    stand_in=stand_in,
    read_lists=lambda folder: {part: read_list(folder, *names) for part, names in _LISTS.items()},
    side=SIDE,
    crop=CROP,
    needs=NEEDS,
)
