"""SVHN and ImageNet32: the owners' formats, and what is said where they are absent."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import io

import warlab.data
from warlab.data.fetch import fetch
from warlab.data.sets import imagenet32, svhn
from warlab.errors import WarlabError


@pytest.fixture(scope="module")
def small_imagenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("imagenet32")
    imagenet32.stand_in(root, 0)
    return root


def test_svhn_is_read_as_its_owners_write_it(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 3, 32, 32), dtype=np.uint8)
    for name in svhn._FILES:
        content = {"X": images.transpose(2, 3, 1, 0), "y": np.array([[10], [1], [9], [10]], np.uint8)}
        io.savemat(tmp_path / name, content)
    arrays = svhn.load(tmp_path)
    np.testing.assert_array_equal(arrays.train_x, images)
    assert arrays.train_y.tolist() == [0, 1, 9, 0] and arrays.train_y.dtype == np.int64


@pytest.mark.parametrize("content", [None, b"", b"no matlab file" * 50])
def test_a_damaged_file_of_svhn_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "train_32x32.mat").write_bytes(content)
    with pytest.raises(WarlabError, match="is not a file of SVHN"):
        svhn.load(tmp_path)


def test_imagenet32_has_a_thousand_classes_numbered_from_one_in_its_files(small_imagenet: Path) -> None:
    arrays = imagenet32.load(small_imagenet)
    assert arrays.train_x.shape == (2000, 3, 32, 32) and len(imagenet32.DATASET.classes.names) == 1000
    assert set(arrays.train_y) == set(arrays.test_y) == set(range(1000))
    with np.load(small_imagenet / "val_data.npz") as file:
        assert file["labels"].min() == 1 and file["data"].shape == (1000, 3072)


def test_imagenet32_is_converted_once_and_stays_on_disk(tmp_path: Path) -> None:
    """Four gigabytes need not fit into memory: a scale reads the images that it takes."""
    imagenet32.stand_in(tmp_path, 0, n_train=1000, n_test=1000)
    first = imagenet32.load(tmp_path)
    assert isinstance(first.train_x, np.memmap)
    with np.load(tmp_path / "train_data_batch_3.npz") as file:
        np.testing.assert_array_equal(first.train_x[200:300].reshape(100, -1), file["data"])
    kept = tmp_path / imagenet32._CONVERTED
    before = kept.stat().st_mtime_ns
    imagenet32.load(tmp_path)
    assert kept.stat().st_mtime_ns == before
    imagenet32.stand_in(tmp_path, 1, n_train=1000, n_test=1000)
    assert not (imagenet32.load(tmp_path).train_x == first.train_x).all()


def test_a_batch_of_something_else_is_one_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "train_data_batch_1.npz", data=np.zeros((2, 5)), labels=[1, 2])
    with pytest.raises(WarlabError, match=r"train_data_batch_2\.npz is not a readable npz file"):
        imagenet32.load(tmp_path)


def test_absent_imagenet32_says_where_to_get_it_and_how_to_leave_it_out(tmp_path: Path) -> None:
    with pytest.raises(WarlabError) as error:
        fetch(warlab.data.get("imagenet32"), tmp_path / "raw", "real", tmp_path)
    for part in ("train_data_batch_1.npz", "image-net.org", f"put them into {tmp_path}", "leave imagenet32 out"):
        assert part in str(error.value)


def test_files_without_a_published_checksum_are_taken_from_the_users_folder(
    tmp_path: Path, small_imagenet: Path
) -> None:
    receipt = fetch(warlab.data.get("imagenet32"), tmp_path, "real", small_imagenet)
    assert receipt["origin"] == f"folder {small_imagenet}" and len(receipt["files"]) == 11
    spec = {"source": "real", "train": 1500, "test": 1000}
    whole = replace(warlab.data.get("imagenet32"), images=(2000, 1000))
    assert len(whole.prepare(tmp_path, spec).arrays["train_y"]) == 1500
    with pytest.raises(WarlabError, match=r"has 1281167 training and 50000 test images, but the files have 2000 and"):
        warlab.data.get("imagenet32").prepare(tmp_path, spec)  # a stand-in, or a part, is not the real data
