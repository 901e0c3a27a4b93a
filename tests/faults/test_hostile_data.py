"""Wrong or malicious data is refused in one sentence; nothing is executed or overwritten.

More tests of this kind: tests/data/test_data.py (idx headers that lie, shapes, types, labels, NaN),
tests/data/test_archives.py (tar and zip files, pickles), tests/data/test_fetch.py (downloads),
tests/workflow/test_own_data.py.
"""

import io
import os
import pickle
import struct
import zipfile
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import warlab.data
import warlab.data.images_in_memory
from tests.faults.counting import count
from tests.helpers.runs import resolved, run_training, write_files
from tests.workflow.test_own_data import own, paint
from warlab.artefacts.labelled_data import PreparedData
from warlab.artefacts.run_config import RunConfig
from warlab.audit import LabelAudit
from warlab.audit.audited_run import AuditedRun, read_suspects
from warlab.common.files import read_arrays, write_arrays, write_text
from warlab.data import user_data as own_data
from warlab.data.auxiliary import cifar_n
from warlab.data.base import Classes, DataSpec
from warlab.data.fetch import fetch
from warlab.data.in_place import content_digest
from warlab.engine.finished import predict_run
from warlab.errors import WarlabError
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest

FORMATS = {"jpg": "JPEG", "tif": "TIFF", "png": "PNG", "gif": "GIF", "webp": "WEBP", "bmp": "BMP"}


class Evil:
    """Creates a file when a careless reader unpickles it."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch evil",)


@pytest.fixture(autouse=True)
def nothing_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    yield
    assert not (tmp_path / "evil").exists()
    count("hostile file")


# ---- images


@pytest.mark.parametrize("ending", FORMATS)
def test_a_truncated_or_damaged_image_of_any_format_is_read_or_named(ending: str, tmp_path: Path) -> None:
    """At twenty lengths, and with thirty flipped bits; what still contains the whole image is read."""
    photos = paint(tmp_path / "photos", 12)
    rng, file = np.random.default_rng(0), io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (40, 40, 3), dtype=np.uint8)).save(file, FORMATS[ending])
    whole = file.getvalue()

    def is_refused(content: bytes) -> bool:
        (photos / "cat" / f"bad.{ending}").write_bytes(content)
        try:
            own(tmp_path, photos)
        except WarlabError as error:
            assert f"bad.{ending} cannot be read as an image" in str(error)
            return True
        return False

    assert sum(is_refused(whole[:length]) for length in np.linspace(0, len(whole) - 1, 20).astype(int)) >= 15
    for _ in range(30):
        content = bytearray(whole)
        content[rng.integers(min(len(content), 200))] ^= 1 << rng.integers(8)
        is_refused(content)


def test_a_picture_that_decompresses_to_a_billion_pixels_is_refused(tmp_path: Path) -> None:
    photos = paint(tmp_path / "photos", 12)
    png = io.BytesIO()
    Image.new("1", (1, 1)).save(png, "PNG")
    content = bytearray(png.getvalue())
    content[16:24] = struct.pack(">II", 40_000, 40_000)  # the size that the header promises
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    (photos / "cat" / "bomb.png").write_bytes(content)
    with pytest.raises(WarlabError, match=r"bomb\.png cannot be read as an image"):
        own(tmp_path, photos)


# ---- arrays


IMAGES = np.zeros((12, 8, 8), np.uint8)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"train_x": IMAGES, "train_y": np.zeros(12, int)}, "has only one class; label noise needs at least two"),
        ({"train_x": IMAGES, "train_y": np.arange(12) % 3 - 1}, "labels must lie in"),
        ({"train_x": IMAGES.astype(np.float32) * np.nan, "train_y": np.arange(12) % 2}, "NaN"),
        ({"train_x": IMAGES.astype(object), "train_y": np.arange(12) % 2}, "not a readable npz"),
        ({"train_x": IMAGES[:, :, :0], "train_y": np.arange(12) % 2}, "without empty axes"),
        ({"train_x": IMAGES[0], "train_y": np.arange(8) % 2}, "shape .* are for the dataset vectors"),
        ({"train_x": IMAGES, "train_y": np.arange(12).reshape(12, 1) % 2}, "one label each"),
        ({"train_x": np.array([Evil()], object), "train_y": np.array([0])}, "not a readable npz"),
        ({"train_x": IMAGES}, "has no train_y"),
        ({"train_x": IMAGES.astype(float), "train_y": np.arange(12) % 3}, "uint8"),
        ({"train_x": IMAGES, "train_y": np.arange(12) / 2}, "whole numbers"),
        ({"train_x": IMAGES, "train_y": np.arange(5)}, "one label each"),
        ({"train_x": IMAGES, "train_y": 2 * (np.arange(12) % 2)}, "no sample of class 1"),
        ({"train_x": IMAGES, "train_y": np.arange(12) % 2, "test_x": IMAGES}, "has test_x but no test_y"),
        ({"train_x": IMAGES, "train_y": np.arange(12) % 2, "test_y": np.arange(12) % 2}, "has test_y but no test_x"),
        ({"train_x": np.zeros((12, 8, 8, 8), np.uint8), "train_y": np.arange(12) % 2}, "which axis .* channels"),
    ],
)
def test_wrong_arrays_are_refused_in_one_sentence(content: dict[str, Any], reason: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "my.npz", **content)
    with pytest.raises(WarlabError, match=reason):
        own(tmp_path, tmp_path / "my.npz", "arrays")


def test_an_npz_file_damaged_anywhere_is_read_or_refused_in_one_sentence(tmp_path: Path) -> None:
    write_arrays(
        tmp_path / "whole.npz", train_x=np.arange(768, dtype=np.uint8).reshape(12, 8, 8), train_y=np.arange(12)
    )
    whole = (tmp_path / "whole.npz").read_bytes()
    rng = np.random.default_rng(0)
    damaged = [whole[:length] for length in range(0, len(whole), 37)]
    for _ in range(60):
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        damaged.append(bytes(flipped))
    for content in damaged:
        (tmp_path / "my.npz").write_bytes(content)
        with suppress(WarlabError):
            read_arrays(tmp_path / "my.npz")


def test_an_npz_bomb_is_refused_before_it_is_decompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_data, "MOST_BYTES", 10**6)  # a real one would take a minute to make
    write_arrays(tmp_path / "my.npz", train_x=np.zeros((3000, 28, 28), np.uint8), train_y=np.arange(3000) % 2)
    with pytest.raises(WarlabError, match=r"refused: its \d+ bytes unfold to 23\d+"):
        own(tmp_path, tmp_path / "my.npz", "arrays")


# ---- programs instead of data


def test_human_labels_in_a_pt_file_that_is_a_program_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "CIFAR-10_human.pt", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"clean_label": Evil()}, protocol=2))
    with pytest.raises(WarlabError, match="is refused as a pickle of arrays"):
        cifar_n.read(tmp_path, "cifar10", real=False)


def test_a_cifar_batch_that_is_a_program_is_refused(tmp_path: Path) -> None:
    dataset = warlab.data.get("cifar10")
    dataset.stand_in(tmp_path, 0)
    batch = next(tmp_path.rglob("data_batch_1"))
    batch.write_bytes(pickle.dumps({"data": Evil(), "labels": [0]}, protocol=2))
    with pytest.raises(WarlabError, match="refused as a pickle"):
        dataset.load(tmp_path)


@pytest.mark.parametrize("value", [Evil(), [Evil()], {"a": 1}, [{"x": torch.zeros(1)}], "text"])
def test_a_file_that_holds_no_weights_of_this_run_is_refused(value: object, tmp_path: Path) -> None:
    torch.save(value, tmp_path / "weights.pt")
    files = write_files(tmp_path)
    with pytest.raises(WarlabError, match="are not the weights of this run"):
        predict_run(RunConfig.from_dict(resolved("cce")), files, tmp_path / "weights.pt", tmp_path / "out.npz", 1)
    assert not (tmp_path / "out.npz").exists()


# ---- files that changed


def test_data_that_no_longer_matches_its_noise_manifest_is_noticed_by_hash(tmp_path: Path) -> None:
    """The time of the file is put back, so only its content differs."""
    files = write_files(tmp_path, noise="sym-40")
    before = files.data.stat()
    arrays = read_arrays(files.data)
    arrays["train_y"][0] = (arrays["train_y"][0] + 1) % 4
    write_arrays(files.data, **arrays)
    os.utime(files.data, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(WarlabError, match=r"does not belong to the data it is used with .*: delete it and run again"):
        run_training(resolved("cce"), files, tmp_path / "out")
    assert not (tmp_path / "out" / "result.json").exists()


def test_noisy_labels_that_no_longer_match_their_manifest_are_noticed_by_hash(tmp_path: Path) -> None:
    files = write_files(tmp_path, noise="sym-40")
    labels = read_arrays(files.noise)["labels"]
    write_arrays(files.noise, labels=np.roll(labels, 1))
    with pytest.raises(WarlabError, match="checksums differ"):
        run_training(resolved("cce"), files, tmp_path / "out")


# ---- names


HOSTILE_NAMES = [
    "a b",
    'it\'s "x"',
    "$(touch evil)",
    "`touch evil`",
    "; touch evil",
    "\\input{evil}",
    "<script>",
    "$x_{$",
]


def test_class_names_with_shell_latex_or_html_characters_stay_text(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    for name in HOSTILE_NAMES:
        (photos / name).mkdir(parents=True)
        for k in range(6):
            Image.fromarray(np.full((9, 9), 20 * k, np.uint8)).save(photos / name / f"{k}.png")
    arrays, meta = own(tmp_path, photos)
    assert meta["class_names"] == sorted(HOSTILE_NAMES) and arrays.train_y.max() == len(HOSTILE_NAMES) - 1


HOSTILE_FILES = [
    b"4caf\xe9",
    b"\xff\xfe",
    "日本".encode(),
    b"line\nbreak",
    b'a,"b"',
    b"=1+1",
    b"back\\slash",
    b"x" * 240,
]


def test_file_names_with_any_bytes_reach_the_list_of_suspects(tmp_path: Path) -> None:
    """Old archives have names that are not UTF-8; the list shows their bytes."""
    photos = paint(tmp_path / "photos", 6)
    for number, name in enumerate(HOSTILE_FILES):
        Image.new("RGB", (9, 9), (20 * number, 0, 0)).save(photos / "cat" / f"{os.fsdecode(name)}.png")
    dataset = warlab.data.get("image_folder")
    fetch(dataset, tmp_path / "raw", "real", photos)
    dataset.prepare(tmp_path / "raw", {"source": "real"}).save(tmp_path / "data.npz")
    data = PreparedData.load(tmp_path / "data.npz")
    request = NoiseRequest("image_folder", "sym-40", 0, data.about.class_names, "real")
    audit = LabelAudit(data.about.n_train, 3)
    audit.update(5 * np.eye(3)[data.arrays["train_y"]], data.arrays["train_y"], np.arange(data.about.n_train))
    run = AuditedRun(audit.means(), data, make_noise(request, data.arrays, {}), None, None)
    everything = np.zeros(data.about.n_train, run.suspects().dtype)
    everything["index"] = np.arange(data.about.n_train)
    write_text(tmp_path / "suspects.csv", run.csv(everything))
    names = [row["sample"] for row in read_suspects(tmp_path / "suspects.csv")]
    assert names == data.about.train_files and content_digest(dataset, photos)
    written = [name for name in names if not (photos / name).is_file()]
    shown = {f"cat/{name.decode(errors='backslashreplace')}.png" for name in HOSTILE_FILES}
    assert set(written) <= {r"cat/4caf\xe9.png", r"cat/\xff\xfe.png"} and len(shown & set(names)) >= 6


def test_a_damaged_image_whose_name_is_not_utf_8_is_named(tmp_path: Path) -> None:
    photos = paint(tmp_path / "photos", 6)
    (photos / "cat" / os.fsdecode(b"caf\xe9.png")).write_bytes(b"no image")
    with pytest.raises(WarlabError, match=r"caf\\xe9\.png cannot be read as an image") as error:
        own(tmp_path, photos)
    assert str(error.value).encode()


@pytest.mark.parametrize("name", ["line\nbreak", "bell\a", "\udcff"])
def test_class_names_that_cannot_be_printed_are_refused(name: str, tmp_path: Path) -> None:
    arrays = warlab.data.images_in_memory.Arrays(IMAGES[:, None], np.arange(12) % 2, IMAGES[:, None], np.arange(12) % 2)
    with pytest.raises(WarlabError, match="cannot be printed; rename the class"):
        data = own_data.UserData(arrays, Classes(("cat", name)))
        replace(warlab.data.get("arrays"), read=lambda root, size: data).read_part(tmp_path, DataSpec("real"), 1)


def test_a_list_of_classes_that_is_not_text_is_refused(tmp_path: Path) -> None:
    photos = paint(tmp_path / "photos", 12)
    (photos / "classes.txt").write_bytes(b"cat\n\xff\xfe\n")
    with pytest.raises(WarlabError, match="save it as UTF-8"):
        own(tmp_path, photos)


@pytest.mark.parametrize("name", ["../evil", "a b", "$(x)", "a;b", "", "..", "a/b", "a\0"])
def test_a_path_or_shell_characters_are_no_dataset_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(WarlabError, match="There is no dataset"):
        warlab.data.resource(name)


def test_a_manifest_that_is_not_json_is_refused_in_one_sentence(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    files.noise.with_suffix(".json").write_text("{")
    with pytest.raises(WarlabError, match="cannot be read as JSON"):
        run_training(resolved("cce"), files, tmp_path / "out")
