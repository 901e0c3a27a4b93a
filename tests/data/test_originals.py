"""Pictures of training images: as the raw files have them, in the same order, whatever a scale made of them."""

import shutil
from pathlib import Path

import numpy as np
from PIL import Image

from warlab import data
from warlab.data import in_place
from warlab.data.originals import SIZE, read_originals

PART = {"source": "stand_in", "train": 50, "test": 20, "pool": 4, "size": None}


def test_pooled_images_come_back_whole_in_the_order_of_the_subset(tmp_path: Path) -> None:
    dataset = data.get("fashion_mnist")
    dataset.stand_in(tmp_path, 0)
    small, whole = (dataset.prepare(tmp_path, PART | {"pool": pool}) for pool in (4, 1))
    shown = read_originals(small, tmp_path, PART, [7, 3])
    assert small.arrays["train_x"].shape[-1] == 7 and shown[0].shape == (1, 28, 28)
    np.testing.assert_array_equal(shown, whole.arrays["train_x"][[7, 3]])
    shutil.rmtree(tmp_path)
    np.testing.assert_array_equal(read_originals(small, tmp_path, PART, [3]), small.arrays["train_x"][[3]])


def test_own_images_are_read_from_their_files(tmp_path: Path) -> None:
    photos, raw = tmp_path / "photos", tmp_path / "raw"
    for number in range(40):
        file = photos / ("cat", "dog")[number % 2] / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (300, 200), (number * 6, 0, 0)).save(file)
    raw.mkdir()
    in_place.write_pointer(raw, str(photos))
    part = PART | {"source": "real", "train": 20, "test": None, "pool": 1, "size": 8}
    prepared = data.get("image_folder").prepare(raw, part)
    shown = read_originals(prepared, raw, part, range(20))
    assert {image.shape for image in shown} == {(3, SIZE, SIZE)} and prepared.arrays["train_x"].shape[2:] == (8, 8)
    assert [image[0, 0, 0] for image in shown] == prepared.arrays["train_x"][:, 0, 0, 0].tolist()
    (photos / prepared.about.train_files[5]).unlink()
    assert read_originals(prepared, raw, part, [5, 6])[0].shape == (3, 8, 8)
