"""The user's own data; docs/your-own-data.md followed literally: a folder of three classes becomes a table."""

import os
import re
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import warlab.data
from tests.conftest import ROOT
from tests.helpers.artefacts import data_on_disk
from tests.helpers.checkout import link_repository, output_of
from tests.helpers.rasters import write_rasters
from tests.helpers.scripts import snippet
from warlab.audit.decisions import apply_decisions
from warlab.common.files import read_json
from warlab.data.fetch import fetch
from warlab.data.formats.image_list import read_image_list
from warlab.data.images_in_memory import Arrays
from warlab.data.in_place import content_digest
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs

PAGE = (ROOT / "docs" / "your-own-data.md").read_text()
NAMES = ("cat", "dog", "truck")


def paint(folder: Path, n: int = 90, side: int = 20, mode: str = "RGB") -> Path:
    rng = np.random.default_rng(0)
    labels = shuffled_labels(n, 3, rng)
    for i, (label, image) in enumerate(zip(labels, draw(labels, "aab", "paint", rng, side), strict=True)):
        (folder / NAMES[label]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.transpose(1, 2, 0)).convert(mode).save(folder / NAMES[label] / f"{i:03}.png")
    return folder


def own(tmp_path: Path, local: Path, name: str = "image_folder", **spec: object) -> tuple[Arrays, dict]:
    dataset = warlab.data.get(name)
    fetch(dataset, tmp_path / "raw", "real", local)
    return data_on_disk(dataset.prepare(tmp_path / "raw", {"source": "real", **spec}))


def test_a_folder_per_class_becomes_arrays_with_its_names(tmp_path: Path) -> None:
    arrays, meta = own(tmp_path, paint(tmp_path / "photos"), size=16)
    assert arrays.train_x.shape == (72, 3, 16, 16) and len(arrays.test_y) == 18
    assert meta["class_names"] == meta["words"] == list(NAMES) and meta["data"] == "real"
    assert meta["source"] == "the user's own data" and meta["clean_test"] is False
    pixels = arrays.train_x / 255
    np.testing.assert_allclose(meta["mean"], pixels.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(meta["std"], pixels.std((0, 2, 3)), rtol=1e-4)
    train, test = ({image.tobytes() for image in x} for x in (arrays.train_x, arrays.test_x))
    assert len(train) == 72 and not train & test
    assert np.bincount(arrays.test_y).tolist() == [6, 6, 6]


def test_parts_of_the_users_own_are_kept(tmp_path: Path) -> None:
    paint(tmp_path / "photos" / "train", 60)
    paint(tmp_path / "photos" / "test", 30)
    arrays, meta = own(tmp_path, tmp_path / "photos")
    assert (len(arrays.train_y), len(arrays.test_y)) == (60, 30) and meta["class_names"] == list(NAMES)
    assert "clean_test" not in meta, "as by default"
    assert len(meta["train_files"]) == 60 and all((tmp_path / "photos" / file).exists() for file in meta["train_files"])
    assert all(file.startswith("train/") for file in meta["train_files"])


def test_grey_images_have_one_channel_unless_one_is_coloured(tmp_path: Path) -> None:
    arrays, meta = own(tmp_path, paint(tmp_path / "photos", mode="L"))
    assert arrays.train_x.shape[1] == len(meta["mean"]) == 1
    Image.new("RGB", (50, 20), "red").save(tmp_path / "photos" / "cat" / "999.jpg")
    assert own(tmp_path, tmp_path / "photos")[0].train_x.shape[1] == 3


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_sixteen_bits_of_grey_become_eight_without_being_cut_off(tmp_path: Path, ending: str) -> None:
    photos = paint(tmp_path / "photos", 12, mode="L")
    expected, _ = own(tmp_path, photos, size=20)
    for path in photos.rglob("*.png"):
        deep = np.asarray(Image.open(path)).astype(np.uint16) * 257
        path.unlink()
        Image.fromarray(deep).save(path.with_suffix(f".{ending}"))
    arrays, _ = own(tmp_path, photos, size=20)
    np.testing.assert_array_equal(arrays.train_x, expected.train_x)
    Image.new("RGB", (20, 20), "red").save(photos / "cat" / "999.png")
    arrays, _ = own(tmp_path, photos, size=20)  # beside a coloured image, grey ones have three equal channels
    assert arrays.train_x.shape[1] == 3 and 0 < arrays.train_x[0].mean() < 250


@pytest.mark.parametrize("mode", ["I", "F"])
def test_pixels_of_thirty_two_bits_are_refused_by_name(tmp_path: Path, mode: str) -> None:
    photos = paint(tmp_path / "photos", 12)
    Image.new(mode, (20, 20), 70000).save(photos / "cat" / "deep.tif")
    with pytest.raises(WarlabError, match=r"deep\.tif has 32-bit pixels, .* save it with 8 or 16 bits"):
        own(tmp_path, photos)


def test_other_words_and_another_order_come_from_a_file(tmp_path: Path) -> None:
    photos = paint(tmp_path / "photos")
    (photos / "classes.txt").write_text("truck\n\ndog: puppy\ncat : little kitten\n", encoding="utf-8-sig")
    arrays, meta = own(tmp_path, photos)
    assert meta["class_names"] == ["truck", "dog", "cat"] and meta["words"] == ["truck", "puppy", "little kitten"]
    assert np.bincount(arrays.train_y).tolist() == [24, 24, 24]


@pytest.mark.parametrize(
    "spoil, reason",
    [
        (lambda photos: (photos / "cat" / "x.png").write_bytes(b"no image"), r"x\.png cannot be read as an image"),
        (lambda photos: (photos / "bird").mkdir(), "bird has 0 images"),
        (lambda photos: (photos / "classes.txt").write_text("cat\ncat\n"), "each once"),
        (lambda photos: (photos / "classes.txt").write_text("cat\ndog\ntruck\nhorse\n"), "horse has 0 images"),
        (lambda photos: (photos / "classes.txt").write_text("cat\ndog\n"), r"truck .* is not in .*classes\.txt"),
        (lambda photos: (photos / "cat" / "x.heic").write_bytes(b"HEIC"), r"x\.heic cannot be read .*; convert"),
        (lambda photos: (photos / "cat" / "x.avif").write_bytes(b"AVIF"), r"x\.avif cannot be read as an image"),
    ],
)
def test_what_is_wrong_with_a_folder_is_one_sentence(tmp_path: Path, spoil, reason: str) -> None:
    photos = paint(tmp_path / "photos", 12)
    spoil(photos)
    with pytest.raises(WarlabError, match=reason):
        own(tmp_path, photos)


def test_a_place_that_is_not_named_or_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WarlabError, match=r"local_data: \{image_folder: path\}"):
        fetch(warlab.data.get("image_folder"), tmp_path / "raw", "real")
    with pytest.raises(WarlabError, match=r"There is no .*none"):
        fetch(warlab.data.get("image_folder"), tmp_path / "raw", "real", tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(WarlabError, match="has 0 folders of images"):
        own(tmp_path, tmp_path / "empty")
    with pytest.raises(WarlabError, match="`size` is for your own images"):
        fetch(warlab.data.get("cifar10"), tmp_path / "c", "stand_in")
        warlab.data.get("cifar10").prepare(tmp_path / "c", {"source": "stand_in", "size": 16})


def test_what_an_array_or_a_digest_holds_does_not_depend_on_age_or_name(tmp_path: Path) -> None:
    photos = paint(tmp_path / "photos", 12)
    dataset, before = warlab.data.get("image_folder"), content_digest(warlab.data.get("image_folder"), photos)
    photos.rename(tmp_path / "renamed")
    assert content_digest(dataset, tmp_path / "renamed") == before
    (tmp_path / "renamed" / "cat" / "new.png").write_bytes(b"x")
    added = content_digest(dataset, tmp_path / "renamed")
    (tmp_path / "renamed" / "cat" / "new.png").rename(tmp_path / "renamed" / "cat" / "other name.png")
    assert len({before, added, content_digest(dataset, tmp_path / "renamed")}) == 3
    (tmp_path / "empty").mkdir()  # where a disk is not mounted
    for nothing in ("none", "empty"):
        assert content_digest(dataset, tmp_path / nothing) is None
    assert content_digest(warlab.data.get("cifar10"), tmp_path) is None


def link_entries(folder: Path, copy: Path, depth: int) -> Path:
    """Make links to the entries of a folder, or to those of its subfolders down to a depth."""
    copy.mkdir()
    for entry in folder.iterdir():
        if depth > 1 and entry.is_dir():
            link_entries(entry, copy / entry.name, depth - 1)
        else:
            (copy / entry.name).symlink_to(entry)
    return copy


def add_litter(copy: Path) -> Path:
    """Add what other programs leave behind; none of it is an image."""
    (copy / ".thumbnails").mkdir()
    for file in (".DS_Store", ".thumbnails/a.png", "cat/._000.png", "cat/Thumbs.db", "train/cat/._000.png"):
        if (copy / file).parent.is_dir():
            (copy / file).write_bytes(b"no image")
    for folder in ("cat/old.png", "train/cat/old.png"):
        if (copy / folder).parent.is_dir():
            (copy / folder).mkdir()
    return copy


SAME = {
    "touched": lambda photos, copy: [shutil.copytree(photos, copy), [os.utime(p, (0, 0)) for p in copy.rglob("*")]],
    "linked": lambda photos, copy: copy.symlink_to(photos),
    "linked parts": lambda photos, copy: link_entries(photos, copy, 1),
    "linked classes": lambda photos, copy: link_entries(photos, copy, 2),
    "linked images": lambda photos, copy: link_entries(photos, copy, 3),
    "littered": lambda photos, copy: add_litter(shutil.copytree(photos, copy)),
}


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("make", SAME.values(), ids=SAME)
def test_the_same_images_are_the_same_data(tmp_path: Path, make: Callable, split: bool) -> None:
    """However a folder is stored, its arrays, names and digest are the same, and an added image is noticed."""
    photos, copy, dataset = tmp_path / "photos", tmp_path / "copy", warlab.data.get("image_folder")
    for part in ("train", "test") if split else (".",):
        paint(photos / part, 24)
    (photos / "classes.txt").write_text("truck\ndog: puppy\ncat\n")
    make(photos, copy)
    (expected, meta), (arrays, copied) = own(tmp_path, photos, size=8), own(tmp_path / "b", copy, size=8)
    assert copied == meta and arrays.train_x.shape[1] == 3
    for name, array in vars(expected).items():
        np.testing.assert_array_equal(getattr(arrays, name), array)
    before = content_digest(dataset, photos)
    assert content_digest(dataset, copy) == before
    Image.new("RGB", (8, 8)).save(copy / ("train" if split else ".") / "dog" / "added.png")
    assert content_digest(dataset, copy) != before


@pytest.mark.parametrize("name", ["cat/1.png", "bird"])
def test_a_link_to_nothing_is_not_taken_for_a_smaller_folder(tmp_path: Path, name: str) -> None:
    photos = paint(tmp_path / "photos", 12)
    (photos / name).symlink_to(tmp_path / "unmounted")
    assert content_digest(warlab.data.get("image_folder"), photos)
    with pytest.raises(WarlabError, match=f"{name} is a link to a file or folder that is not there"):
        own(tmp_path, photos)


def test_a_link_that_leads_round_in_a_circle_is_refused(tmp_path: Path) -> None:
    photos = paint(tmp_path / "photos", 12)
    (photos / "cat" / "again").symlink_to(photos)
    with pytest.raises(WarlabError, match="again leads back to a folder that contains it; remove the link"):
        own(tmp_path, photos)


def test_photographs_stand_upright_as_their_camera_says(tmp_path: Path) -> None:
    photos = paint(tmp_path / "photos", 12)
    upright, _ = own(tmp_path, photos, size=20)
    for path in photos.rglob("*.png"):
        with Image.open(path) as image:
            turned, exif = image.rotate(90), image.getexif()
        exif[0x0112] = 6  # to be turned by 90° to the right
        turned.save(path, exif=exif)
    np.testing.assert_array_equal(own(tmp_path, photos, size=20)[0].train_x, upright.train_x)


def test_memory_for_own_images_is_a_small_multiple_of_their_size(tmp_path: Path) -> None:
    x = np.random.default_rng(0).integers(0, 256, (600, 3, 64, 64), dtype=np.uint8)
    np.savez(tmp_path / "my.npz", train_x=x, train_y=np.arange(600) % 2)
    tracemalloc.start()
    _, meta = own(tmp_path, tmp_path / "my.npz", "arrays")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4 * x.nbytes
    kept = x[[int(row[8:-1]) for row in meta["train_files"]]] / 255
    np.testing.assert_allclose(meta["mean"], kept.mean((0, 2, 3)), rtol=1e-6)
    np.testing.assert_allclose(meta["std"], kept.std((0, 2, 3)), rtol=1e-6)


@pytest.mark.parametrize("spec", [{}, {"train": 12}])
def test_every_training_row_is_traced_back_to_its_file(tmp_path: Path, spec: dict) -> None:
    photos = paint(tmp_path / "photos", mode="L")
    arrays, meta = own(tmp_path, photos, size=20, **spec)
    assert len(meta["train_files"]) == len(arrays.train_y) == spec.get("train", 72)
    for image, label, file in zip(arrays.train_x, arrays.train_y, meta["train_files"], strict=True):
        assert file.startswith(f"{NAMES[label]}/")
        np.testing.assert_array_equal(image[0], np.asarray(Image.open(photos / file)))


def corrected(folder: Path) -> tuple[Path, Path]:
    """Return the list and the folder that an audit of images in `folder` makes of two decisions."""
    photos, out = paint(folder / "photos", 30), folder / "photos-audit"
    (photos / "classes.txt").write_text("truck\ndog: puppy\ncat\n")
    labels = {path.relative_to(photos).as_posix(): path.parent.name for path in sorted(photos.glob("*/*.png"))}
    cat, dog = (next(file for file in labels if file.startswith(name)) for name in ("cat", "dog"))
    (folder / "decisions.csv").write_text(f"file,label,decision,new_label\n{cat},cat,relabel,truck\n{dog},dog,drop,\n")
    apply_decisions(folder / "decisions.csv", photos, labels, NAMES, out, folder / "fixed")
    return out / "labels.csv", folder / "fixed"


def test_the_list_of_an_audit_has_the_images_and_labels_of_its_corrected_folder(tmp_path: Path) -> None:
    places = corrected(tmp_path)
    (listed, about), (copied, meta) = (own(tmp_path / place.name, place, size=20) for place in places)
    assert about["class_names"] == meta["class_names"] == ["truck", "dog", "cat"] and about["words"] == meta["words"]
    assert len(listed.train_y) + len(listed.test_y) == 29
    pairs = [
        sorted((image.tobytes(), label) for x, y in ((one.train_x, one.train_y), (one.test_x, one.test_y))
               for image, label in zip(x, y, strict=True))
        for one in (listed, copied)
    ]  # fmt: skip
    assert pairs[0] == pairs[1], "other images are held out, as the order inside of a class is that of the list"
    for image, file in zip(listed.train_x, about["train_files"], strict=True):
        shown = np.asarray(Image.open(places[0].parent / file)).transpose(2, 0, 1)
        np.testing.assert_array_equal(image, shown)


def test_images_of_a_list_are_watched_wherever_both_are(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    listing, _ = corrected(tmp_path / "a")
    dataset, digests = warlab.data.get("image_folder"), []
    digests.append(content_digest(dataset, listing))
    (tmp_path / "a").rename(tmp_path / "b")
    listing = tmp_path / "b" / "photos-audit" / "labels.csv"
    assert content_digest(dataset, listing) == digests[0]
    Image.new("RGB", (20, 20)).save(tmp_path / "b" / "photos" / "truck" / "new.png")  # not on the list
    assert content_digest(dataset, listing) == digests[0]
    image = next(file for file in read_image_list(listing) if "truck" in file)
    Image.new("RGB", (20, 20)).save(listing.parent / image)
    digests.append(content_digest(dataset, listing))
    listing.write_text(listing.read_text().replace('"truck"', '"dog"', 1))
    digests.append(content_digest(dataset, listing))
    assert len(set(digests)) == 3
    (listing.parent / image).unlink()
    with pytest.raises(WarlabError, match=r"labels\.csv lists \.\./photos/truck/.*, which is not there; the files are"):
        own(tmp_path, listing)


def test_rows_of_arrays_are_named_by_their_place_in_the_users_file(tmp_path: Path) -> None:
    x = np.random.default_rng(0).integers(0, 256, (12, 8, 8), dtype=np.uint8)
    np.savez(tmp_path / "my.npz", train_x=x, train_y=np.arange(12) % 2)
    arrays, meta = own(tmp_path, tmp_path / "my.npz", "arrays")
    for image, place in zip(arrays.train_x, meta["train_files"], strict=True):
        np.testing.assert_array_equal(image[0], eval(place, {"train_x": x}))


# --- arrays ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, expected",
    [((8, 8), 1), ((8, 8, 3), 3), ((3, 8, 8), 3), ((4, 4, 3), 3), ((3, 4, 4), 3), ((8, 8, 5), 5)],
)
def test_arrays_of_any_layout_are_read(tmp_path: Path, shape: tuple[int, ...], expected: int) -> None:
    x = np.random.default_rng(0).integers(0, 256, (12, *shape), dtype=np.uint8)
    np.savez(tmp_path / "my.npz", train_x=x, train_y=np.arange(12) % 2)
    arrays, meta = own(tmp_path, tmp_path / "my.npz", "arrays")
    side = sorted(shape)[-1]
    assert arrays.train_x.shape == (8, expected, side, side) and len(arrays.test_y) == 4
    assert meta["class_names"] == ["class 0", "class 1"]


def test_classes_beside_arrays_are_watched(tmp_path: Path) -> None:
    np.savez(tmp_path / "my.npz", train_x=np.zeros((6, 8, 8), np.uint8), train_y=np.arange(6) % 3)
    dataset = warlab.data.get("arrays")
    digests = [content_digest(dataset, tmp_path / "my.npz")]
    for text in ("cat\ndog\nship\n", "cat\ndog\nship: yacht\n"):
        (tmp_path / "classes.txt").write_text(text)
        digests.append(content_digest(dataset, tmp_path / "my.npz"))
    (tmp_path / "other.txt").write_text("not read")
    (tmp_path / "my.npz").rename(tmp_path / "renamed.npz")
    assert len(set(digests)) == 3 and content_digest(dataset, tmp_path / "renamed.npz") == digests[-1]


def test_arrays_with_a_test_part_and_names(tmp_path: Path) -> None:
    x, y = np.zeros((6, 8, 8), np.uint8), np.arange(6) % 3
    np.savez(tmp_path / "my.npz", train_x=x, train_y=y, test_x=x[:3], test_y=y[:3])
    (tmp_path / "classes.txt").write_text("\n".join(NAMES))
    arrays, meta = own(tmp_path, tmp_path / "my.npz", "arrays")
    assert len(arrays.train_y) == 6 and len(arrays.test_y) == 3 and meta["class_names"] == list(NAMES)
    assert "clean_test" not in meta
    cost = make_cost("w2v", CostInputs(meta["class_names"], meta["words"]), {}).matrix
    assert cost[0, 1] == cost.max()


# --- the page ----------------------------------------------------------------------------------------------


@pytest.fixture
def followed(tmp_path: Path) -> Path:
    """A folder in which the page's first two steps are done."""
    link_repository(tmp_path)
    paint(tmp_path / "photos")
    for file in ("my.yaml", "my_scale.yaml", "matrix.csv"):
        (tmp_path / file).write_text(snippet(PAGE, f"`{file}`:"))
    return tmp_path


def test_the_page_leads_from_a_folder_to_a_table_and_a_report(followed: Path) -> None:
    """Two methods, one seed, no published numbers: the report says which figures are left out and why."""
    command = snippet(PAGE, "## 3. Run it")
    output_of(command, followed)
    results = followed / "results" / "my_scale"
    text = (results / "tables" / "main_benchmark.md").read_text()
    assert "paper's" not in text and "rank" not in text.lower(), "nothing of the paper beside the user's own data"
    table = pd.read_csv(results / "tables" / "main_benchmark.csv").dropna(subset=["mean"])
    table = table[table["dataset"] == "image_folder"]
    assert set(zip(table["noise"], table["method"], strict=True)) == {
        ("sym-40", "cce"),
        ("sym-40", "war_w2v"),
        ("file_mine", "cce"),
    }
    assert set(table["data"]) == {"real"} and table["mean"].between(0, 100).all()
    cost = pd.read_csv(results / "costs" / "image_folder" / "w2v" / "cost.csv", index_col=0)
    assert list(cost.columns) == list(NAMES) and cost.loc["cat", "dog"] == cost.to_numpy().max()
    manifest = read_json(results / "noise" / "image_folder" / "file_mine" / "seed0.json")
    assert manifest["transition"][0] == [0.7, 0.3, 0.0] and manifest["file"] == "matrix.csv"
    printed = output_of(command.replace("-- tables", ""), followed)
    page = (results / "report.html").read_text()
    assert "Left out: figure agreement, because" in printed and not (results / "figures" / "agreement.png").exists()
    assert "figure agreement (" in page and "the paper has no number" in page
    assert (results / "figures" / "learning_curves.png").exists()


def test_the_page_leads_from_rasters_to_maps_that_lie_where_they_should(tmp_path: Path) -> None:
    """Four bands of 16 bits, with two epochs in place of the page's twenty."""
    link_repository(tmp_path)
    write_rasters(tmp_path / "fields", lambda image: (image * 40.0).astype(np.uint16))
    (tmp_path / "my.yaml").write_text("scale: my_tiles.yaml\nlocal_data: {tiles: fields}\n")
    scale = snippet(PAGE, "`my_tiles.yaml`:")
    small = "epochs: 2, steps: 4, patch: 32, overlap: 8, lr: 0.003, drops: [1]"
    assert "epochs: 20, steps: 50, patch: 64, overlap: 24, lr: 0.003, drops: [16]" in scale
    scale = scale.replace("epochs: 20, steps: 50, patch: 64, overlap: 24, lr: 0.003, drops: [16]", small)
    (tmp_path / "my_tiles.yaml").write_text(scale)
    output_of(snippet(PAGE, "With `scale: my_tiles.yaml`"), tmp_path)
    results = tmp_path / "results" / "my_tiles"
    table = pd.read_csv(results / "tables" / "tiles.csv").dropna(subset=["mean"])
    assert set(table["method"]) == {"cce", "war_w2v"} and set(table["metric"]) == {"f1_average", "overall_accuracy"}
    assert set(table["data"]) == {"real"}
    (drawn,) = results.glob("maps/tiles/clean/unet/cce/seed0/tiles/*.png")
    assert drawn.name == "areasouth.png" and Image.open(drawn).size == (64, 48)
    assert drawn.with_suffix(".pgw").read_text().split()[-2:] == ["500.25", "899.75"]


def test_the_page_leads_from_a_table_with_votes_to_a_report(tmp_path: Path) -> None:
    link_repository(tmp_path)
    (tmp_path / "make_table.py").write_text(snippet(PAGE, "This Python writes 600 rows"))
    (tmp_path / "table.yaml").write_text(snippet(PAGE, "`table.yaml` is a scale"))
    output_of("python make_table.py", tmp_path)
    output_of(snippet(PAGE, "and this command leads to"), tmp_path)
    results = tmp_path / "results" / "table"
    assert (results / "report.html").exists()
    assert read_json(results / "data" / "vectors.json")["ordered"]
    assert 0.3 < read_json(results / "noise" / "vectors" / "raters_worst" / "seed0.json")["realised_rate"] < 0.8
    cost = pd.read_csv(results / "costs" / "vectors" / "ordinal" / "cost.csv", index_col=0)
    assert list(cost.columns) == ["poor", "fair", "good"] and cost.loc["poor", "good"] < cost.loc["poor", "fair"]
    table = pd.read_csv(results / "tables" / "main_benchmark.csv").query("dataset == 'vectors'").dropna(subset=["mean"])
    assert set(table["method"]) == {"cce", "war_ordinal"} and table["mean"].between(50, 80).all()
    opening = (
        (results / "report.html").read_text().partition('<div class="opening">')[2].partition('<div class="limits">')[0]
    )
    said = [
        opening,
        (results / "statistics.md").read_text(),
        *(path.read_text() for path in results.glob("figures/*.txt")),
    ]
    assert opening and not [text for text in said if re.search(r"\bimages?\b", text, re.IGNORECASE)]
