"""Vaihingen: the owners' files, the stand-in in the same form, and one sentence for each thing that does not fit."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.artefacts import data_on_disk
from warlab import data
from warlab.common.files import write_json
from warlab.data.fetch import fetch
from warlab.data.formats.flat_tiles import Tile, flat_arrays, pooled, scaled_world, starts, unflat
from warlab.data.in_place import POINTER, write_pointer
from warlab.data.sets import vaihingen
from warlab.data.synthetic.aerial import town
from warlab.data.synthetic.photograph import irrg, shadows, surface
from warlab.errors import WarlabError

TOP = "top/top_mosaic_09cm_area12.tif"
DSM = "dsm/dsm_09cm_matching_area12.tif"
NDSM = "ndsm/dsm_09cm_matching_area12_normalized.jpg"
TRUTH = "gts_for_participants/top_mosaic_09cm_area12.tif"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tile 12 alone, as the stand-in writes it."""
    vaihingen._write_tile(tmp_path, 12, 64, 80, np.random.default_rng(0))
    write_json(tmp_path / POINTER, {"place": "."})
    return tmp_path


def test_the_division_has_33_tiles_and_none_twice() -> None:
    splits = data.get("vaihingen").splits
    assert [len(splits[name]) for name in ("train", "validation", "test")] == [11, 5, 17]
    assert len({tile for names in splits.values() for tile in names}) == 33
    assert "12" in splits["test"] and not set(splits["train"]) & set(splits["test"])


def test_a_tile_has_five_channels_and_the_classes_of_its_colours(folder: Path) -> None:
    tile = vaihingen.read_tile(folder, "12")
    assert tile.image.shape == (5, 64, 80) and tile.image.dtype == np.uint8 and tile.labels.shape == (64, 80)
    scene = town(64, 80, np.random.default_rng(0))
    picture = irrg(scene)
    dsm, ndsm = surface(scene)
    np.testing.assert_array_equal(tile.labels, scene.labels)
    np.testing.assert_array_equal(tile.image[:3], np.moveaxis(picture, 2, 0))
    assert np.abs(tile.image[3] * vaihingen.DSM_STEP - (dsm - np.percentile(dsm, 1)).clip(0)).max() <= 0.101
    assert np.abs(tile.image[4] * vaihingen.NDSM_STEP - ndsm).mean() < 0.2  # what JPEG leaves of it
    assert tile.world.split()[:4] == ["0.4", "0", "0", "-0.4"]


def test_heights_in_metres_are_read(folder: Path) -> None:
    (folder / NDSM).unlink()
    metres = np.full((64, 80), 3.04, np.float32)
    Image.fromarray(metres).save(folder / "ndsm" / "dsm_09cm_matching_area12.tif")
    assert set(np.unique(vaihingen.read_tile(folder, "12").image[4])) == {30}


def crop(path: Path) -> None:
    with Image.open(path) as image:
        image.crop((0, 0, 79, 64)).save(path)


def recolour(path: Path) -> None:
    with Image.open(path) as image:
        image.putpixel((3, 5), (255, 254, 0))
        image.save(path)


@pytest.mark.parametrize(
    "file, spoil, reason",
    [
        (NDSM, Path.unlink, f"Tile 12 of Vaihingen has no nDSM: put {NDSM} into"),
        (TRUTH, Path.unlink, f"Tile 12 of Vaihingen has no ground truth: put {TRUTH} into"),
        (DSM, Path.unlink, f"Tile 12 of Vaihingen has no DSM: put {DSM} into"),
        (NDSM, crop, r"area12\S* is 79 × 64 pixels but its image is 80 × 64"),
        (TRUTH, crop, r"area12\S* is 79 × 64 pixels but its image is 80 × 64"),
        (TRUTH, recolour, rf"{TRUTH} has a pixel of colour \(255, 254, 0\)"),
        (TRUTH, lambda path: path.write_text("no image"), "cannot be read as an image"),
        (TOP, lambda path: Image.new("L", (80, 64)).save(path), "mode L instead of three 8-bit channels"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(
    folder: Path, file: str, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(folder / file)
    with pytest.raises(WarlabError, match=reason):
        vaihingen.read_tile(folder, "12")


def test_a_scene_is_a_town() -> None:
    """All classes in plausible shares, fitting heights, vegetation bright in the infrared, shadows beside houses."""
    scenes = [town(220, 220, np.random.default_rng(seed)) for seed in range(4)]
    labels = np.stack([scene.labels for scene in scenes])
    share = np.bincount(labels.reshape(-1), minlength=6) / labels.size
    assert all(share[:5] > 0.01) and share[4] < 0.06 and share[2] < 0.6 and share[5] < 0.03
    heights = {k: np.concatenate([s.height[s.labels == k] for s in scenes]) for k in range(5)}
    assert heights[0].max() == 0 and heights[1].min() >= 3.5 and 1 < heights[4].mean() < 2 and heights[3].mean() > 2
    picture = np.concatenate([irrg(scene) for scene in scenes])
    colour = {k: picture[np.concatenate([s.labels for s in scenes]) == k].mean(0) for k in range(5)}
    assert all(colour[k][0] > 1.4 * colour[k][1] for k in (2, 3)) and colour[0][0] < 1.1 * colour[0][1]
    assert 0.02 < np.mean([shadows(scene.height).mean() for scene in scenes]) < 0.4


def test_tiles_of_any_size_come_back_from_their_flat_form() -> None:
    rng = np.random.default_rng(0)
    tiles = [
        Tile(str(n), rng.integers(0, 9, (2, *size), np.uint8), rng.integers(0, 6, size, np.uint8))
        for n, size in enumerate([(3, 4), (5, 2)])
    ]
    x, y, sizes = list(flat_arrays(tiles, tiles).values())[:3]
    assert x.shape == (2, 22) and starts(sizes).tolist() == [0, 12, 22]
    for tile, image, labels in zip(tiles, unflat(x, sizes), unflat(y, sizes), strict=True):
        np.testing.assert_array_equal(tile.image, image)
        np.testing.assert_array_equal(tile.labels, labels)
    with pytest.raises(WarlabError, match="do not fill"):
        unflat(y[:-1], sizes)


def test_pooling_averages_channels_and_keeps_the_middle_label() -> None:
    image = np.arange(16, dtype=np.uint8).reshape(1, 4, 4)
    tile = pooled(Tile("1", image, image[0] % 6, "2\n0\n0\n-2\n100\n50\n"), 2)
    assert tile.image.tolist() == [[[2, 4], [10, 12]]] and tile.labels.tolist() == [[5, 1], [1, 3]]
    assert list(map(float, tile.world.split())) == [4, 0, 0, -4, 101, 49]
    assert scaled_world("", 2) == ""


def test_the_stand_in_is_the_same_on_every_call_and_has_all_tiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer and smaller tiles than it has."""
    monkeypatch.setattr(vaihingen, "_SPLITS", {"train": (1, 3), "validation": (11,), "test": (12,)})
    for name in ("a", "b"):
        vaihingen.stand_in(tmp_path / name, 5, low=40, high=60)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert len(files) == 4 * 5 + 1  # image with world file, DSM, nDSM and truth of each tile, and the pointer
    assert all((tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes() for file in files)
    shapes = {vaihingen.read_tile(tmp_path / "a", name).labels.shape for name in ("1", "3", "11", "12")}
    assert len(shapes) > 1


def test_prepare_takes_as_many_tiles_as_asked(tmp_path: Path) -> None:
    own = data.get("vaihingen")
    for name in (1, 3, 12):
        vaihingen._write_tile(tmp_path, name, 150 + name, 140, np.random.default_rng(name))
    write_pointer(tmp_path, ".")
    arrays, meta = data_on_disk(own.prepare(tmp_path, {"source": "stand_in", "train": 2, "test": 1, "pool": 1}))
    assert arrays.train_sizes.tolist() == [[151, 140], [153, 140]] and meta["test_tiles"] == ["12"]
    assert meta["data"] == "stand-in" and "procedural tiles" in meta["source"] and meta["samples"] == "tiles"
    with pytest.raises(WarlabError, match="Tile 5 of Vaihingen has no image"):
        own.prepare(tmp_path, {"source": "stand_in", "train": 3, "test": 1})
    with pytest.raises(WarlabError, match="has 11 train tiles, not 12"):
        own.prepare(tmp_path, {"source": "stand_in", "train": 12, "test": 1})


def test_real_tiles_stay_where_they_are(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    own, root = data.get("vaihingen"), tmp_path_factory.mktemp("real")
    with pytest.raises(WarlabError, match="No folder is set for ISPRS Vaihingen; write local_data"):
        fetch(own, root, "real")
    (folder / POINTER).unlink()
    assert fetch(own, root, "real", folder)["data"] == "real"
    assert vaihingen.read_tile(root, "12").labels.shape == (64, 80) and not (root / "top").exists()
