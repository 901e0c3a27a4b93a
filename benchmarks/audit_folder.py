"""How well `warlab audit FOLDER` finds wrong labels, where the truth is known.

    python benchmarks/audit_folder.py --data data/study --out docs/evidence/audit

The protocol and the candidates were written down before any number was seen: docs/evidence/audit/plan.md. Images and
human labels are fetched by warlab into --data, and features are computed once for each dataset and kept there.
"""

import argparse
import logging
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from warlab import data
from warlab.common.files import read_arrays, write_arrays, write_json
from warlab.common.seeds import derive_seed
from warlab.data.auxiliary import _weights, cifar_n
from warlab.data.fetch import fetch
from warlab.data.formats.image_file import to_square
from warlab.engine.device import device_settings
from warlab.engine.features import BATCH, features_of, pixels

SIZE = 128
SUBSET = 3000
SUBSETS = 3
CHARACTERS = "".join(chr(code) for code in range(33, 127))  # 94 classes
GLYPHS = 20  # images of each


def fetched(folder: Path, name: str) -> Path:
    root = folder / name / "real"
    if not (root / "receipt.json").exists():
        write_json(root / "receipt.json", fetch(data.resource(name), root, "real"))
    return root


def real_images(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    prepared = data.get(name).prepare(fetched(folder, name), {"source": "real"})
    return prepared.arrays["train_x"], prepared.arrays["train_y"].astype(np.int64), list(prepared.about.class_names)


def digits() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return np.rint(images.reshape(-1, 1, 8, 8) * 255 / 16).astype(np.uint8), labels.astype(np.int64)


def glyphs() -> tuple[np.ndarray, np.ndarray]:
    """Characters of the fonts that matplotlib has, turned and moved: many classes, no photographs."""
    import matplotlib

    rng = np.random.default_rng(derive_seed("glyphs"))
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    fonts = sorted([*folder.glob("DejaVuSans*.ttf"), *folder.glob("DejaVuSerif*.ttf"), *folder.glob("STIXGeneral*.ttf")])
    fonts = [font for font in fonts if "Display" not in font.name]
    images, labels = [], np.repeat(np.arange(len(CHARACTERS)), GLYPHS)
    for label in labels:
        font = ImageFont.truetype(str(fonts[rng.integers(len(fonts))]), int(rng.integers(26, 36)))
        image = Image.new("L", (48, 48), 0)
        place = (24 + rng.integers(-3, 4), 24 + rng.integers(-3, 4))
        ImageDraw.Draw(image).text(place, CHARACTERS[label], fill=255, font=font, anchor="mm")
        images.append(np.asarray(image.rotate(float(rng.uniform(-8, 8)), Image.Resampling.BILINEAR)))
    return np.stack(images)[:, None], labels


def upscaled(images: np.ndarray, size: int) -> np.ndarray:
    """Resize as the command does (B, 3, size, size)."""
    shown = [image[0] if len(image) == 1 else image.transpose(1, 2, 0) for image in images]
    return np.stack([to_square(Image.fromarray(image), size) for image in shown])


def features(folder: Path, key: str, images: np.ndarray, labels: np.ndarray, index: np.ndarray) -> dict[str, np.ndarray]:
    """Return labels, features and pixels of some images, computed once; `index` are their numbers in the dataset."""
    file = folder / "features" / f"{key}.npz"
    if not file.exists():
        root = fetched(folder, "efficientnet_lite0")
        compute = features_of("efficientnet_lite0", _weights.read("efficientnet_lite0", root / "receipt.json"), SIZE)
        network, raw = [], []
        for start in range(0, len(images), BATCH):
            part = upscaled(images[start : start + BATCH], SIZE)
            network.append(compute(part).astype(np.float16))
            raw.append(pixels(part).astype(np.float16))
        write_arrays(file, x=np.concatenate(network), pixels=np.concatenate(raw), y=labels, index=index)
        print(f"features of {key}", flush=True)
    return read_arrays(file)


def datasets(folder: Path) -> list[str]:
    """Compute the features of all datasets; return their keys."""
    images = {name: real_images(folder, name)[:2] for name in ("cifar10", "fashion_mnist")}
    keys = []
    for name, load in (("digits", digits), ("glyphs", glyphs)):
        x, y = load()
        features(folder, name, x, y, np.arange(len(y)))
        keys.append(name)
    for number in range(SUBSETS):
        for name, (x, y) in images.items():
            order = np.random.default_rng(derive_seed("audit", name)).permutation(len(y))
            index = np.sort(order[number * SUBSET : (number + 1) * SUBSET])
            features(folder, f"{name}-{number}", x[index], y[index], index)
            keys.append(f"{name}-{number}")
    return keys


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder for downloads and features")
    parser.add_argument("--out", type=Path, help="folder for the results")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    device_settings(1)
    print(datasets(options.data))


if __name__ == "__main__":
    main()
