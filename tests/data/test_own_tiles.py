"""The user's own rasters: bands of any number and type, where they lie, and one sentence for what does not fit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.helpers.artefacts import data_on_disk
from tests.helpers.rasters import write_raster, write_rasters
from warlab import data
from warlab.data.fetch import fetch
from warlab.data.formats.flat_tiles import unflat
from warlab.data.formats.geotiff import read_raster
from warlab.errors import WarlabError

NORTH, LABELS, SOUTH = "train/images/north.tif", "train/labels/north.tif", "test/images/south.tif"


def prepared(tmp_path: Path, **spec: int) -> tuple[Any, dict]:
    fetch(data.get("tiles"), tmp_path / "raw", "real", tmp_path / "fields")
    return data_on_disk(data.get("tiles").prepare(tmp_path / "raw", {"source": "real", **spec}))


@pytest.mark.parametrize("layout", ["contig", "separate", "pages"])
@pytest.mark.parametrize("bands", [1, 2, 3, 6])
def test_bands_of_every_layout_are_read(tmp_path: Path, layout: str, bands: int) -> None:
    image = np.random.default_rng(0).integers(0, 60000, (bands, 20, 30), np.uint16)
    if layout == "pages":
        tifffile.imwrite(tmp_path / "a.tif", image if bands > 1 else image[0], photometric="minisblack")
    else:
        write_raster(tmp_path / "a.tif", image, layout)
    np.testing.assert_array_equal(read_raster(tmp_path / "a.tif")[0], image)


def test_the_place_becomes_a_world_file(tmp_path: Path) -> None:
    """GDAL: the upper left corner is at (500, 900), or with PixelIsPoint the middle of that pixel."""
    for point, middle in ((False, ["500.25", "899.75"]), (True, ["500", "900"])):
        write_raster(tmp_path / "a.tif", np.zeros((2, 4, 4), np.uint8), place=(500.0, 900.0), point=point)
        assert read_raster(tmp_path / "a.tif")[1].split() == ["0.5", "0", "0", "-0.5", *middle]
    write_raster(tmp_path / "b.tif", np.zeros((2, 4, 4), np.uint8))
    assert read_raster(tmp_path / "b.tif")[1] == ""
    (tmp_path / "b.tfw").write_text("2\n0\n0\n-2\n1\n1\n")
    assert read_raster(tmp_path / "b.tif")[1].startswith("2\n")


@pytest.mark.parametrize("kind", [np.uint16, np.int16, np.float32])
def test_deep_bands_are_spread_over_the_bytes_by_the_training_tiles(tmp_path: Path, kind: type) -> None:
    images = write_rasters(tmp_path / "fields", lambda image: (image * 40.0 + 7).astype(kind))
    arrays, meta = prepared(tmp_path)
    train = np.concatenate([images[name].reshape(4, -1) for name in ("north", "west")], 1).astype(float)
    low, high = np.percentile(train, (0.1, 99.9), axis=1)[:, :, None]
    for part, given in (("train", train), ("test", images["south"].reshape(4, -1).astype(float))):
        expected = 255 * ((given - low) / (high - low)).clip(0, 1)
        assert np.abs(vars(arrays)[f"{part}_x"] - expected).max() <= 0.51
    np.testing.assert_allclose(meta["mean"], (arrays.train_x / 255).mean(1), rtol=1e-5)
    pooled, _ = prepared(tmp_path, pool=2)
    blocks = unflat(arrays.test_x, arrays.test_sizes)[0].reshape(4, 24, 2, 32, 2).mean((2, 4))
    assert np.abs(unflat(pooled.test_x, pooled.test_sizes)[0] - blocks).max() <= 0.51


def test_bytes_and_classes_are_kept_as_they_are(tmp_path: Path) -> None:
    images = write_rasters(tmp_path / "fields", lambda image: image)
    arrays, meta = prepared(tmp_path)
    np.testing.assert_array_equal(unflat(arrays.train_x, arrays.train_sizes)[1], images["west"])
    assert meta["class_names"] == ["wheat", "corn", "bare soil"] and meta["scored"]["bare soil"] == "f1_bare_soil"
    assert meta["train_tiles"] == ["north", "west"] and meta["test_tiles"] == ["south"] and meta["data"] == "real"
    assert meta["world"]["south"].split()[0] == "0.5" and len({*map(tuple, meta["colours"])}) == 3


def change(name: str, edit: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    return lambda folder: write_raster(folder / name, edit(read_raster(folder / name)[0]))


def tagged(*tags: tuple) -> Callable[[Path], None]:
    return lambda folder: tifffile.imwrite(folder / NORTH, np.ones((48, 64), np.uint8), extratags=tags)


def with_head(tag: int, value: bytes) -> Callable[[Path], None]:
    """Put a value into the head of a raster, where numbers of 2 bytes follow a tag after 8 bytes."""

    def spoil(folder: Path) -> None:
        tifffile.imwrite(folder / NORTH, np.ones((48, 64), np.uint8))
        head = bytearray((folder / NORTH).read_bytes())
        place = head.index(tag.to_bytes(2, "little"), 8) + 8
        head[place : place + len(value)] = value
        (folder / NORTH).write_bytes(head)

    return spoil


def no_data(folder: Path) -> None:
    extra = [(42113, "s", 6, "-9999\0", True)]
    image = read_raster(folder / NORTH)[0].astype(np.int16)
    image[0, 3, 3] = -9999
    tifffile.imwrite(folder / NORTH, image, photometric="minisblack", planarconfig="separate", extratags=extra)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda f: (f / "classes.txt").unlink(), r"has no classes\.txt; write the names of the classes"),
        (lambda f: (f / "classes.txt").write_text("a b\na-b\nc\n"), "names that differ in signs alone"),
        (
            lambda f: (f / "classes.txt").write_text("\n".join(map(str, range(257)))),
            "257 names; tiles have at most 256",
        ),
        (lambda f: (f / LABELS).unlink(), rf"north\.tif has no classes; put them into .*{LABELS}"),
        (lambda f: (f / SOUTH).unlink(), r"test/images has no \.tif files"),
        (lambda f: (f / NORTH).write_text("no image"), r"north\.tif cannot be read as a TIFF file"),
        (lambda f: (f / NORTH).write_bytes((f / NORTH).read_bytes()[:3000]), r"north\.tif cannot be read"),
        (lambda f: Image.new("RGB", (64, 48)).save(f / NORTH, compression="tiff_lzw"), "pip install imagecodecs"),
        (lambda f: (f / SOUTH).rename(f / "test/images/north.tif"), "has two tiles north; rename one"),
        (change(LABELS, lambda x: x[:, :-1]), r"labels/north\.tif is 64 × 47 pixels but its image is 64 × 48"),
        (change(LABELS, lambda x: x + 1), r"north\.tif has the class 3, but classes\.txt names the classes 0 to 2"),
        (change(LABELS, lambda x: x.astype(np.float32)), r"has 1 bands of float32; it needs one of integers"),
        (change(LABELS, lambda x: x.repeat(3, 0)), r"has 3 bands of uint8; it needs one of integers"),
        (change(SOUTH, lambda x: x[:2]), "must be alike: west has 4 bands of uint8, south has 2 bands of uint8"),
        (change(SOUTH, lambda x: x.astype(np.uint16)), "must be alike: .* south has 4 bands of uint16"),
        (change(SOUTH, lambda x: np.where(x > 9, x, np.nan).astype(np.float32)), "has pixels without data"),
        (change(NORTH, lambda x: x.astype(np.complex64)), "has complex64 of shape"),
        (
            tagged((42113, "s", 0, "none", True)),
            r"north\.tif cannot be read as a TIFF file \(could not convert .*'none'",
        ),
        (tagged((33550, "d", 3, (2.0, 2, 0), True), (33922, "d", 3, (0.0, 0, 0), True)), r"north\.tif cannot be read"),
        (with_head(257, bytes(2)), r"north\.tif cannot be read as a TIFF file"),  # no rows
        (with_head(258, bytes([14])), "requires the 'imagecodecs' package"),  # numbers of 14 bits
        (no_data, r"north\.tif has pixels without data; fill them or cut them off"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, spoil: Callable[[Path], None], reason: str) -> None:
    write_rasters(tmp_path / "fields", lambda image: image)
    spoil(tmp_path / "fields")
    with pytest.raises(WarlabError, match=reason):
        prepared(tmp_path)
