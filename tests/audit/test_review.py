"""The pictures of the page, and what decisions do to labels and folders."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from warlab.audit.decisions import Decision, apply_decisions, copy_corrected, correct, read_decisions, write_labels
from warlab.audit.report import AuditResult
from warlab.audit.review import Suspects, from_array, render, thumbnail, write_review
from warlab.data.formats.image_list import read_rows
from warlab.errors import WarlabError

LABELS = {"cat/1.png": "cat", "cat/2.png": "cat", "dog/1.png": "dog", "caf\udce9/1.png": "caf\udce9"}
CLASSES = ("cat", "dog", "caf\udce9")


def decoded(data: bytes | None) -> Image.Image:
    assert data is not None
    return Image.open(io.BytesIO(data))


def test_a_thumbnail_keeps_the_shape_and_small_images_their_pixels() -> None:
    assert decoded(thumbnail(Image.new("RGBA", (1000, 500)), 256)).size == (256, 128)
    pixels = np.random.default_rng(0).integers(0, 256, (3, 32, 28), dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(decoded(thumbnail(pixels, 256))), pixels.transpose(1, 2, 0))
    assert thumbnail(None, 256) is None


def test_arrays_and_tensors_of_every_layout_are_the_same_picture() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (20, 24, 3), dtype=np.uint8)
    pixels[0, 0] = [0, 255, 0]  # so that the range of numbers is that of the bytes
    channels_first = torch.from_numpy(pixels).permute(2, 0, 1)
    for values in (pixels, channels_first, (channels_first.float() / 127.5 - 1).requires_grad_()):
        found = np.asarray(from_array(values)).astype(int)
        assert np.abs(found - pixels).max() <= 1
    for grey in (pixels[..., 0], pixels[..., :1], pixels[..., 0][None]):
        np.testing.assert_array_equal(np.asarray(from_array(grey)), pixels[..., 0])
    assert np.asarray(from_array(np.zeros((5, 4)))).max() == 0
    with pytest.raises(WarlabError, match=r"not \(3,\)"):
        from_array(np.zeros(3))


def test_a_page_has_the_likely_wrong_labels_and_those_of_the_estimate() -> None:
    n = 200
    likely = np.zeros(n, bool)
    likely[[3, 150]] = True
    result = AuditResult(
        folder=Path("photos"),
        classes=("a", "b"),
        files=tuple(f"{k}.png" for k in range(n)),
        labels=np.zeros(n, np.int64),
        suggested=np.ones(n, np.int64),
        score=np.linspace(1, 0, n),
        chance=np.linspace(1, 0, n),
        likely_wrong=likely,
        at_most=60,
        rates=np.zeros(2),
        judged_by="pixels",
    )
    found = Suspects.of(result)
    assert list(found.files) == [f"{k}.png" for k in (*range(60), 150)] and np.sum(found.likely) == 2


def test_the_page_is_shortened_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warlab.audit.review.MOST", 2)
    rows = Suspects(["a", "b", "c"], [0, 0, 0], [1, 1, 1], [3.0, 2.0, 1.0], ("x", "y"))
    asked: list[int] = []
    write_review(tmp_path / "page.html", rows, lambda k: asked.append(k), "photos")
    text = (tmp_path / "page.html").read_text()
    assert "The page has the first 2 of 3 suspects." in text and sorted(asked) == [0, 1]


def test_the_key_of_the_stored_decisions_is_that_of_the_audit() -> None:
    def key(*changes: tuple[str, object]) -> str:
        columns = {
            "files": ["a", "b"],
            "labels": [0, 1],
            "suggested": [1, 0],
            "scores": [2.0, 1.0],
            "classes": ["x", "y"],
        }
        page = render(Suspects(**(columns | dict(changes))), [None, None], "photos", "", "")
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
        assert found
        return json.loads(found[1])["key"]

    assert key() == key(("scores", [5.0, 4.0]))
    assert len({key(), key(("files", ["a", "c"])), key(("labels", [0, 0])), key(("classes", ["x", "z"]))}) == 4


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ((["a", "b"], [0, 1], [1, 0], [1.0, 2.0], ("x", "x")), "the same name"),
        ((["a"], [0, 1], [1, 0], [1.0, 2.0], ("x", "y")), "one file, label, suggestion and score each"),
        ((["a", "a"], [0, 1], [1, 0], [1.0, 2.0], ("x", "y")), "the same file name"),
    ],
)
def test_suspects_that_do_not_fit_are_refused(columns: tuple, sentence: str) -> None:
    with pytest.raises(WarlabError, match=sentence):
        Suspects(*columns)


def decisions(*rows: tuple[str, str, str, str]) -> list[Decision]:
    return [Decision(*row) for row in rows]


def test_decisions_change_the_labels() -> None:
    done = correct(
        LABELS,
        decisions(
            ("cat/1.png", "cat", "relabel", "caf\\xe9"),  # as the page writes bytes that are not UTF-8
            ("caf\\xe9/1.png", "caf\\xe9", "unsure", ""),
            ("dog/1.png", "dog", "drop", ""),
            ("cat/2.png", "cat", "keep", ""),
        ),
        CLASSES,
    )
    assert done.labels == {"cat/1.png": "caf\udce9", "cat/2.png": "cat", "caf\udce9/1.png": "caf\udce9"}
    assert (done.changed, done.dropped, done.unsure) == (["cat/1.png"], ["dog/1.png"], ["caf\udce9/1.png"])
    assert done.summary() == "1 label changed, 1 image dropped, 1 unsure and left as given; 3 images in all"


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (("cat/9.png", "cat", "keep", ""), "1 decision of these are about files that are not here, first 'cat/9.png'"),
        (("cat/1.png", "dog", "keep", ""), "is labelled 'cat' now, but was 'dog' when it was reviewed"),
        (("cat/1.png", "cat", "relabel", "plane"), "'plane' of 'cat/1.png' is not one of the classes"),
    ],
)
def test_decisions_about_other_labels_are_refused(row: tuple[str, str, str, str], sentence: str) -> None:
    with pytest.raises(WarlabError, match=sentence):
        correct(LABELS, decisions(row), CLASSES)


HEADING = "file,label,suggested,decision,new_label\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            f"{HEADING}a,cat,dog,burn,\n",
            "record 2 has the decision 'burn'; it must be one of keep, relabel, drop, unsure",
        ),
        (f"{HEADING}a,cat,dog,relabel,\n", "record 2 must have a new_label if it is relabelled"),
        (f"{HEADING}a,cat,dog,keep,dog\n", "and only then"),
        (f"{HEADING}a,cat,dog,keep,\na,cat,dog,drop,\n", "decides about 'a' more than once"),
        ("file,label\n", "no column 'decision'"),
        (f"{HEADING}a,cat\n", "too few cells"),
    ],
)
def test_a_bad_file_of_decisions_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "decisions.csv").write_text(text)
    with pytest.raises(WarlabError, match=sentence):
        read_decisions(str(tmp_path / "decisions.csv"))


def test_labels_are_written_as_no_formula_and_read_back(tmp_path: Path) -> None:
    labels = {"=a/1.png": "=a", "caf\udce9/1.png": "caf\udce9", 'b"/,.png': "b"}
    write_labels(tmp_path / "labels.csv", labels)
    assert {row["file"]: row["label"] for row in read_rows(tmp_path / "labels.csv", ("file", "label"))} == labels
    with (tmp_path / "labels.csv").open(newline="", errors="surrogateescape") as file:
        assert all(not cell.startswith("=") for row in csv.reader(file) for cell in row)


def test_a_corrected_folder_has_every_image_once_and_the_first_is_left_alone(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    for number, (file, label) in enumerate(LABELS.items()):
        (photos / label).mkdir(parents=True, exist_ok=True)
        Image.new("L", (4, 4), number).save(photos / file)
    (photos / "classes.txt").write_text("dog\ncat\n")
    before = {path: path.read_bytes() for path in photos.rglob("*.*")}
    new = {"cat/1.png": "dog", "cat/2.png": "cat", "dog/1.png": "dog"}  # two files are called 1.png
    copy_corrected(tmp_path / "fixed", photos, new, CLASSES)
    found = {
        str(path.relative_to(tmp_path / "fixed")): Image.open(path).getpixel((0, 0))
        for path in (tmp_path / "fixed").rglob("*.png")
    }
    assert found == {"dog/1.png": 0, "dog/1_2.png": 2, "cat/2.png": 1}
    assert {path: path.read_bytes() for path in photos.rglob("*.*")} == before
    assert (tmp_path / "fixed" / "classes.txt").read_text() == "dog\ncat\n"
    with pytest.raises(WarlabError, match="is there already"):
        copy_corrected(tmp_path / "fixed", photos, new, CLASSES)
    with pytest.raises(WarlabError, match=r"No image in .* can be read"):
        copy_corrected(tmp_path / "empty", tmp_path, new, CLASSES)
    with pytest.raises(WarlabError, match="cannot be the name of a folder"):
        copy_corrected(tmp_path / "other", photos, {}, ("../x", "b"))
    (tmp_path / ".new.part").mkdir()  # of a command that was killed
    (tmp_path / ".new.part" / "old").write_text("")
    copy_corrected(tmp_path / "new", photos, new, CLASSES)
    assert not (tmp_path / "new" / "old").exists() and len(list((tmp_path / "new").rglob("*.png"))) == 3


def test_decisions_become_labels_with_paths_that_lead_to_the_images(tmp_path: Path) -> None:
    photos, out = tmp_path / "photos", tmp_path / "photos-audit"
    for file, label in LABELS.items():
        (photos / label).mkdir(parents=True, exist_ok=True)
        Image.new("L", (4, 4)).save(photos / file)
    (tmp_path / "decisions.csv").write_text(f"{HEADING}cat/1.png,cat,dog,relabel,dog\ncat/2.png,cat,dog,drop,\n")
    said = apply_decisions(tmp_path / "decisions.csv", photos, LABELS, CLASSES, out, tmp_path / "fixed")
    assert said.startswith("1 label changed, 1 image dropped") and said.endswith(
        f"{out / 'labels.csv'} and {tmp_path / 'fixed'}"
    )
    rows = read_rows(out / "labels.csv", ("file", "label"))
    assert [row["label"] for row in rows] == ["dog", "dog", "caf\udce9"]
    assert all((out / row["file"]).is_file() for row in rows)
    assert len(list((tmp_path / "fixed").rglob("*.png"))) == 3 and len(list(photos.rglob("*.png"))) == 4
