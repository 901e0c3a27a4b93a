"""Datasets: the idx format, subsets, pooling, checks, the registry, and what a stand-in must be like."""

import gzip
import struct
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import warlab.data
from tests.helpers.artefacts import data_on_disk
from warlab.common.files import digest
from warlab.data.base import Classes, Dataset
from warlab.data.fetch import fetch
from warlab.data.formats import idx
from warlab.data.images_in_memory import Arrays, pool, subset, validate
from warlab.errors import WarlabError


@pytest.fixture
def dataset() -> Dataset:
    return warlab.data.get("fashion_mnist")


@pytest.fixture
def arrays() -> Arrays:
    rng = np.random.default_rng(0)
    train_y, test_y = rng.permutation(np.arange(200) % 10), rng.permutation(np.arange(50) % 10)
    images = rng.integers(0, 256, (250, 1, 4, 4), dtype=np.uint8)
    return Arrays(images[:200], train_y, images[200:], test_y)


def test_words_that_are_no_list_are_refused() -> None:
    """A dict of a plug-in's would give its keys, the names, as the words."""
    assert Classes(("one", "two"), words=["cat", "dog"]).words == ["cat", "dog"]
    for words in ({"one": "cat", "two": "dog"}, ("cat",), "cat dog"):
        with pytest.raises(WarlabError, match="one entry for each class, in their order"):
            Classes(("one", "two"), words=words)


# --- idx ---------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(hnp.arrays(np.uint8, hnp.array_shapes(max_dims=4, max_side=6)))
def test_idx_gives_back_what_was_written(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("idx") / "a.gz"
    idx.write(path, array)
    back = idx.read(path)
    assert back.dtype == np.uint8
    np.testing.assert_array_equal(back, array)


def test_idx_bytes_do_not_depend_on_time_or_place(tmp_path, monkeypatch):
    array = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
    idx.write(tmp_path / "a.gz", array)
    monkeypatch.setattr(time, "time", lambda: 1e9)
    idx.write(tmp_path / "other.gz", array)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "other.gz").read_bytes()


def header(*shape: int, kind: int = 8) -> bytes:
    return struct.pack(f">4B{len(shape)}I", 0, 0, kind, len(shape), *shape)


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"", "starts with nothing"),
        (b"\x00\x00\x08", "starts with 000008"),
        (b"GIF89a", "starts with 47494638"),
        (header(2, 2, kind=0x0D) + b"abcd", "starts with 00000d02"),
        (header(1, 1)[:-2], "ends inside its header"),
        (header(2, 3) + b"abcde", "promises 6 bytes of content, there are 5"),
        (header(2, 2) + b"abcde", "promises 4 bytes of content, there are more"),
        (header(2**32 - 1, 2**32 - 1, 28) + b"abc", r"promises \d+ bytes\)"),
    ],
)
def test_idx_refuses_what_lies(tmp_path, content, reason):
    path = tmp_path / "bad.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(WarlabError, match=reason) as error:
        idx.read(path)
    assert str(path) in str(error.value)


def test_idx_refuses_a_damaged_or_missing_gzip(tmp_path):
    path = tmp_path / "x.gz"
    idx.write(path, np.arange(250, dtype=np.uint8))
    whole = path.read_bytes()
    for damaged in (whole[:-9], whole[:-1], whole[:-5] + b"?" + whole[-4:], b"no gzip", whole + b"more"):
        path.write_bytes(damaged)
        with pytest.raises(WarlabError, match="is not a complete idx file"):
            idx.read(path)
    with pytest.raises(WarlabError, match="No such file"):
        idx.read(tmp_path / "none.gz")


def test_idx_does_not_allocate_what_a_header_promises(tmp_path):
    path = tmp_path / "huge.gz"
    path.write_bytes(gzip.compress(header(1 << 10, 1 << 10, 1 << 10) + b"tiny"))
    tracemalloc.start()
    with pytest.raises(WarlabError, match="there are 4"):
        idx.read(path)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


# --- subsets, pooling, validation --------------------------------------------------------------------------


def test_subset_is_stratified_deterministic_and_nested(arrays):
    one, again = subset(arrays, 70, 20, seed=3), subset(arrays, 70, 20, seed=3)
    assert set(np.bincount(one.train_y)) == {7}
    assert set(np.bincount(one.test_y)) == {2}
    np.testing.assert_array_equal(one.train_x, again.train_x)
    other = subset(arrays, 70, 20, seed=4)
    assert (one.train_x != other.train_x).any()
    rows = {image.tobytes() for image in subset(arrays, 120, 20, seed=3).train_x}
    assert all(image.tobytes() in rows for image in one.train_x)


def test_subset_keeps_order_images_with_their_labels_and_whole_splits(arrays):
    part = subset(arrays, 33, None, seed=0)
    place = {image.tobytes(): i for i, image in enumerate(arrays.train_x)}
    places = [place[image.tobytes()] for image in part.train_x]
    assert places == sorted(places)
    np.testing.assert_array_equal(part.train_y, arrays.train_y[places])
    np.testing.assert_array_equal(part.test_x, arrays.test_x)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=6), st.data())
def test_subset_keeps_proportions_and_loses_no_class(counts, data):
    labels = np.repeat(np.arange(len(counts)), counts)
    n = data.draw(st.integers(len(counts), len(labels)))
    images = np.zeros((len(labels), 1, 1, 1), np.uint8)
    part = subset(Arrays(images, labels, images, labels), n, None, seed=data.draw(st.integers(0, 5)))
    got = np.bincount(part.train_y, minlength=len(counts))
    assert got.sum() == n
    assert (got >= 1).all()
    assert (abs(got - n * np.array(counts) / len(labels)) <= len(counts)).all()


@pytest.mark.parametrize("n", [0, 9, 201])
def test_subset_refuses_impossible_sizes(arrays, n):
    with pytest.raises(WarlabError, match=f"{n} training images is impossible.*between 10 .* and 200"):
        subset(arrays, n, None, seed=0)


@pytest.mark.parametrize(
    "image, pooled",
    [
        # means 0.25, 254.75, 0.5 (up), 0.75
        ([[0, 1, 255, 255], [0, 0, 255, 254], [1, 1, 0, 0], [0, 0, 0, 3]], [[0, 255], [1, 1]]),
        # (0 + 1 + 5 + 6) / 4, …; row and column 4 are cut off
        (np.arange(25).reshape(5, 5), [[3, 5], [13, 15]]),
    ],
)
def test_pool_averages_rounds_to_nearest_and_cuts_the_border(image, pooled):
    images, labels = np.array(image, np.uint8)[None, None], np.zeros(1, np.int64)
    arrays = Arrays(images, labels, images, labels)
    np.testing.assert_array_equal(pool(arrays, 2).train_x[0, 0], pooled)
    assert pool(arrays, 2).test_x.dtype == np.uint8 and pool(arrays, 1) is arrays


@pytest.mark.parametrize("factor", [0, -2, 5])
def test_pool_refuses_what_is_no_block(arrays, factor):
    with pytest.raises(WarlabError, match="4×4 cannot be pooled"):
        pool(arrays, factor)


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda a: replace(a, train_x=a.train_x[:, 0]), "training.*shape"),
        (lambda a: replace(a, train_x=a.train_x[:0], train_y=a.train_y[:0]), "empty axes"),
        (lambda a: replace(a, test_x=a.test_x.astype(np.float32)), "test.*uint8.*float32"),
        (lambda a: replace(a, test_x=np.full(a.test_x.shape, np.nan)), "NaN"),
        (lambda a: replace(a, train_y=a.train_y[:-1]), "200 samples need labels"),
        (lambda a: replace(a, train_y=a.train_y.astype(np.uint8)), "int64, not uint8"),
        (lambda a: replace(a, train_y=a.train_y + 1), r"0\.\.9, found 1\.\.10"),
        (lambda a: replace(a, train_y=a.train_y - 1), r"found -1\.\.8"),
        (lambda a: replace(a, test_y=np.where(a.test_y == 4, 3, a.test_y)), "no sample of class 4"),
        (lambda a: replace(a, test_x=a.test_x[..., :2]), "one shape"),
    ],
)
def test_validate_names_what_is_wrong(arrays, change, reason):
    validate(arrays, 10)
    with pytest.raises(WarlabError, match=reason):
        validate(change(arrays), 10)


# --- the registry and the datasets ------------------------------------------------------------------------


def test_registry_finds_modules_and_helps_with_typos():
    assert "fashion_mnist" in warlab.data.names()
    with pytest.raises(WarlabError, match="did you mean 'fashion_mnist'"):
        warlab.data.get("fashion-mnist")
    with pytest.raises(WarlabError, match=r"choose from .*fashion_mnist"):
        warlab.data.get("base")


def of_images() -> list[str]:
    """Those of tiles have tests of their own: 33 tiles twice would take half a minute."""
    return [name for name in warlab.data.names() if warlab.data.get(name).samples == "images"]


@pytest.mark.parametrize("name", of_images())
def test_every_data_set_keeps_the_contract(name, tmp_path):
    dataset = warlab.data.get(name)
    assert dataset.name == name
    names = dataset.classes.names
    assert len(names) == len(dataset.classes.words) == len(set(names))
    fetch(dataset, tmp_path / "a", "stand_in")
    receipt = fetch(dataset, tmp_path / "b", "stand_in")
    arrays, meta = data_on_disk(dataset.prepare(tmp_path / "a", {"source": "stand_in"}))
    again, _ = data_on_disk(dataset.prepare(tmp_path / "b", {"source": "stand_in"}))
    np.testing.assert_array_equal(arrays.train_x, again.train_x)
    assert receipt["data"] == meta["data"] == "stand-in"
    assert len(meta["mean"]) == len(meta["std"]) == arrays.train_x.shape[1]


def test_embedded_images_are_real_balanced_and_small(tmp_path, dataset):
    receipt = fetch(dataset, tmp_path, "embedded")
    assert sum(entry["bytes"] for entry in receipt["files"].values()) < 5e6
    assert set(receipt["files"]) == {source.file for source in dataset.embedded}
    arrays = dataset.load(tmp_path)
    validate(arrays, 10)
    assert set(np.bincount(arrays.train_y)) == {600}
    assert set(np.bincount(arrays.test_y)) == {200}
    assert "MIT" in (dataset.asset_folder / "LICENSE").read_text()


def test_load_refuses_images_of_another_size(tmp_path, dataset):
    dataset.stand_in(tmp_path, 0)
    idx.write(tmp_path / "t10k-images-idx3-ubyte.gz", np.zeros((5, 27, 28), np.uint8))
    with pytest.raises(WarlabError, match="28×28"):
        dataset.load(tmp_path)


# --- prepare -----------------------------------------------------------------------------------------------


def test_prepare_describes_what_it_gives(tmp_path, dataset):
    fetch(dataset, tmp_path, "embedded")
    spec = {"source": "embedded", "train": 500, "test": 100, "pool": 2}
    arrays, meta = data_on_disk(dataset.prepare(tmp_path, spec))
    assert arrays.train_x.shape == (500, 1, 14, 14)
    assert arrays.train_x.dtype == np.uint8
    assert set(np.bincount(arrays.train_y)) == {50}
    assert meta["source"] == "embedded subset of Fashion-MNIST"
    assert (meta["data"], meta["n_train"], meta["n_test"], meta["shape"]) == ("real", 500, 100, [1, 14, 14])
    assert meta["sha256"]["train_x"] == digest(arrays.train_x)
    assert meta["mean"] == meta["std"] == [0.5]


@pytest.mark.parametrize(
    "name, source", [("fashion_mnist", "embedded"), ("fashion_mnist", "real"), ("cifar10", "real")]
)
def test_prepare_never_calls_a_stand_in_real(tmp_path, name, source):
    dataset = warlab.data.get(name)
    fetch(dataset, tmp_path, "stand_in")
    with pytest.raises(WarlabError, match=f"are not the {source} files"):
        dataset.prepare(tmp_path, {"source": source})
    with pytest.raises(WarlabError, match="no data source 'embeded'"):
        dataset.prepare(tmp_path, {"source": "embeded"})
