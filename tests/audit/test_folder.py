"""`warlab audit FOLDER`: from a folder or a CSV file to the result, after a kill, and with bad input."""

import io
import os
import shlex
import shutil
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import cross_entropy

from tests.workflow.test_own_data import NAMES, paint
from warlab import data
from warlab.audit import auroc
from warlab.audit.folder import find_images
from warlab.audit.judge import drop_suspects
from warlab.audit.report import AuditResult
from warlab.cli.audit import _next_command, main
from warlab.common.files import file_digest, write_json
from warlab.data.auxiliary import _weights
from warlab.data.fetch import fetch
from warlab.engine import from_scratch
from warlab.engine.feature_store import AHEAD, FeatureStore
from warlab.engine.features import BATCH, pixels
from warlab.errors import WarlabError

FAST = ["--network", "pixels", "--threads", "2", "--size", "32"]


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 painted images; four trucks are called cats, one file is damaged, and some files are no images."""
    folder = paint(tmp_path_factory.mktemp("audited") / "photos", 150)
    for file in sorted((folder / "truck").iterdir())[5:9]:
        file.rename(folder / "cat" / f"truck_{file.name}")
    (folder / "cat" / "bro ken.jpg").write_text("not an image")
    (folder / "cat" / "notes.txt").write_text("no image either")
    (folder / "bird").mkdir()
    shutil.copy(sorted((folder / "dog").iterdir())[0], folder / "loose.PNG")
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): file_digest(path) for path in folder.rglob("*") if path.is_file()}


def test_one_command_finds_the_wrong_labels_of_a_folder(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(photos)
    assert main([str(photos), *FAST]) == 0
    said, result = capsys.readouterr(), AuditResult.load(photos.with_name("photos-audit"))
    assert contents(photos) == before
    hidden = {f"cat/{path.name}" for path in (photos / "cat").glob("truck_*")}
    wrong = np.isin(result.files, sorted(hidden))
    assert auroc(result.score, wrong) > 0.9 and wrong[0] and wrong[:8].sum() >= 2, np.flatnonzero(wrong)
    assert set(result.suggested[wrong]) == {result.classes.index("truck")}
    assert len(result.files) == 150 and result.classes == tuple(sorted(NAMES)) and result.at_most >= 4
    assert list(result.unreadable) == ["cat/bro ken.jpg"] and "cat/bro ken.jpg: cannot be read" in said.err
    assert (np.diff(result.score) <= 0).all() and "left out, as they are no images: 1 file" in said.err
    assert "in no class: 1 image, first loose.PNG" in said.err and "no classes here: bird" in said.err
    assert f"Up to about {result.at_most} of 150 labels look wrong. This is an upper estimate" in said.out
    assert result.files[0] in said.out and "the pixels alone" in said.out


def test_images_that_say_nothing_about_their_labels_are_not_judged_without_a_word(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Leaving a sample out of balanced classes makes the others likelier than its own, so that all seem wrong."""
    assert main([str(photos), *FAST, "--out", str(tmp_path / "out")]) == 0
    assert "the numbers mean nothing" not in capsys.readouterr().out
    for number, picture in enumerate(np.random.default_rng(0).integers(0, 256, (24, 8, 8, 3), np.uint8)):
        (tmp_path / "static" / "ab"[number % 2]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(tmp_path / "static" / "ab"[number % 2] / f"{number}.png")
    assert main([str(tmp_path / "static"), *FAST]) == 0
    result = AuditResult.load(tmp_path / "static-audit")
    assert max(result.at_most, result.likely_wrong.sum()) > 12
    assert "the numbers mean nothing" in capsys.readouterr().out


def test_a_network_trained_from_scratch_judges_its_own_images_in_two_rounds(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    losses: list[int] = []

    def counted(logits: Tensor, labels: Tensor) -> Tensor:
        losses.append(len(logits))
        return cross_entropy(logits, labels)

    monkeypatch.setattr(from_scratch, "cross_entropy", counted)

    def ten_left_out(predictions: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return drop_suspects(predictions, labels)[0], np.arange(len(labels)) >= 10

    monkeypatch.setattr(from_scratch, "drop_suspects", ten_left_out)
    monkeypatch.setattr(from_scratch, "BATCH", 10)
    out = tmp_path / "trained"
    assert main([str(photos), "--train", "--threads", "1", "--out", str(out)]) == 0
    result = AuditResult.load(out)
    wrong = np.array([file.startswith("cat/truck_") for file in result.files])
    assert auroc(result.score, wrong) > 0.8 and len(result.files) == 150
    assert result.at_most >= 4 and result.rates @ np.bincount(result.labels) == pytest.approx(result.at_most)
    assert set(losses[: 8 * 15]) == {10} and sum(losses[8 * 15 :]) == 8 * 140  # the second round leaves suspects out
    assert "a network trained on these images at 32 pixels" in capsys.readouterr().out
    for refused in (["--network", "pixels"], ["--size", "0"]):
        assert main([str(photos), "--train", *refused]) == 1 and "--" in capsys.readouterr().err


def test_a_killed_training_continues_in_its_epoch_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, steps, dies = paint(tmp_path / "photos", 40), [0], [0]

    def counted(logits: Tensor, labels: Tensor) -> Tensor:
        steps[0] += 1
        if steps[0] == dies[0]:
            raise KeyboardInterrupt
        return cross_entropy(logits, labels)

    def steps_until(death: int, out: str, size: int = 32) -> int:
        steps[0], dies[0] = 0, death
        options = ["--train", "--threads", "1", "--size", str(size), "--out", str(tmp_path / out)]
        assert main([str(folder), *options]) == (130 if death else 0)
        return steps[0]

    monkeypatch.setattr(from_scratch, "cross_entropy", counted)
    monkeypatch.setattr(from_scratch, "BATCH", 10)
    monkeypatch.setattr(from_scratch, "drop_suspects", lambda _, labels: (np.eye(3), np.arange(len(labels)) >= 4))
    whole = steps_until(0, "whole")
    assert whole == 2 * 8 * 4
    steps_until(11, "killed")  # in the third epoch of the first round
    steps_until(24 + 4 * 2 + 3, "killed")  # in the third epoch of the second round
    assert steps_until(0, "killed") == 6 * 4
    said = capsys.readouterr().err
    assert "run the same command again" in said and "40 images are too few to train on" in said
    same = [(tmp_path / out / "suspects.csv").read_bytes() for out in ("whole", "killed")]
    assert same[0] == same[1]
    assert steps_until(0, "killed") == 0, "a finished training was repeated"
    assert steps_until(0, "killed", size=16) == whole
    moved = sorted((folder / "dog").iterdir())[0]
    moved.rename(folder / "cat" / "moved.png")
    assert steps_until(0, "killed") == whole, "a training with other labels was continued"


def test_a_list_of_files_gives_the_same_result_as_the_folders(photos: Path, tmp_path: Path) -> None:
    rows = [f"photos/{path.relative_to(photos).as_posix()},{path.parent.name}" for path in photos.rglob("*.png")]
    (tmp_path / "photos").symlink_to(photos)
    (tmp_path / "mine.csv").write_text("label,file\n" + "\n".join(",".join(row.split(",")[::-1]) for row in rows))
    assert main([str(tmp_path / "mine.csv"), *FAST, "--out", str(tmp_path / "listed")]) == 0
    assert main([str(photos), *FAST, "--out", str(tmp_path / "folder")]) == 0
    listed, folder = AuditResult.load(tmp_path / "listed"), AuditResult.load(tmp_path / "folder")
    scores = dict(zip(folder.files, folder.chance, strict=True))
    assert listed.listing == "mine.csv" and listed.folder == tmp_path
    for file, chance in zip(listed.files, listed.chance, strict=True):
        assert chance == pytest.approx(scores[file.removeprefix("photos/")], abs=0.02)


def test_the_weights_are_those_of_the_cache_and_without_them_pixels_are_used(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    network = data.resource("efficientnet_lite0")
    options = ["--size", "32", "--threads", "2", "--out", str(tmp_path / "out")]

    def unavailable(*_: object) -> None:
        raise WarlabError("EfficientNet-lite0 could not be fetched.")

    with monkeypatch.context() as patched:
        patched.setattr("warlab.data.fetch.fetch", unavailable)
        assert main([str(photos), *options]) == 0
    said = capsys.readouterr()
    assert "could not be fetched" in said.err and "looks at pixels alone" in said.err
    assert AuditResult.load(tmp_path / "out").judged_by == "the pixels alone, for want of a pre-trained network"
    cache = tmp_path / "cache" / "warlab" / "efficientnet_lite0"
    write_json(cache / "receipt.json", fetch(network, cache, "stand_in"))
    assert main([str(photos), *options]) == 0
    assert AuditResult.load(tmp_path / "out").judged_by == "EfficientNet-lite0 at 32 pixels"
    made = [list((tmp_path / "out" / "features").glob("efficientnet_lite0-32-*.f16"))]
    weights = _weights.read("efficientnet_lite0", cache / "receipt.json")
    state = torch.load(io.BytesIO(weights), weights_only=True)
    for values in state.values():
        values.mul_(2)
    torch.save(state, changed := io.BytesIO())
    with monkeypatch.context() as patched:
        patched.setattr(_weights, "read", lambda *_: changed.getvalue())
        assert main([str(photos), *options]) == 0
    made.append(list((tmp_path / "out" / "features").glob("efficientnet_lite0-32-*.f16")))
    assert [len(files) for files in made] == [1, 2], "features of other weights were taken"


# ---- features that survive a kill


def mixed(images: np.ndarray) -> np.ndarray:
    """Features that depend on the whole batch, as rounding does."""
    values = pixels(images)[:, :7]
    return values + values.mean()


def test_a_killed_audit_continues_with_the_same_batches_to_the_same_bits(tmp_path: Path) -> None:
    files = sorted(paint(tmp_path / "photos", AHEAD + BATCH + 5).rglob("*.png"))
    whole = FeatureStore(tmp_path / "whole", "x", 20)
    rows, problems = whole.fill(files, mixed)
    for killed_at in (3,):
        calls = iter(range(killed_at))
        counted: list[int] = []

        def dying(images: np.ndarray, calls: object = calls) -> np.ndarray:
            if next(calls, None) is None:  # type: ignore[call-overload]
                raise KeyboardInterrupt
            return mixed(images)

        folder = tmp_path / f"killed-{killed_at}"
        with pytest.raises(KeyboardInterrupt):
            FeatureStore(folder, "x", 20).fill(files, dying)
        with (folder / "x.f16").open("ab") as file:
            file.write(b"half a row")  # killed while it wrote

        def counting(images: np.ndarray, counted: list[int] = counted) -> np.ndarray:
            counted.append(len(images))
            return mixed(images)

        store = FeatureStore(folder, "x", 20)
        again, _ = store.fill(files, counting)
        np.testing.assert_array_equal(store.rows()[again], whole.rows()[rows])
        assert sum(counted) == len(set(rows)) - killed_at * BATCH and problems == {}
        assert (folder / "x.f16").read_bytes() == (tmp_path / "whole" / "x.f16").read_bytes()


def test_features_belong_to_contents_and_not_to_names(tmp_path: Path) -> None:
    files = sorted(paint(tmp_path / "photos", 9).rglob("*.png"))
    copy = tmp_path / "copy.png"
    shutil.copy(files[0], copy)
    store = FeatureStore(tmp_path / "store", "x", 20)
    rows, _ = store.fill([*files, copy], mixed)
    assert rows[-1] == rows[0] and len(store.rows()) == 9
    Image.new("RGB", (20, 20), (1, 2, 3)).save(files[0])
    changed, _ = FeatureStore(tmp_path / "store", "x", 20).fill([*files, copy], mixed)
    assert changed[0] == 9 and (changed[1:] == rows[1:]).all()


@pytest.mark.parametrize("content", ["", "6"])
def test_features_whose_width_was_damaged_are_computed_again_or_refused(content: str, tmp_path: Path) -> None:
    files = sorted(paint(tmp_path / "photos", 9).rglob("*.png"))
    store = FeatureStore(tmp_path / "store", "x", 20)
    rows, _ = store.fill(files[:5], mixed)
    before = store.rows()[rows]
    (tmp_path / "store" / "x.width").write_text(content)
    again = FeatureStore(tmp_path / "store", "x", 20)
    if content:
        with pytest.raises(WarlabError, match="delete that folder"):
            again.fill(files, mixed)
    else:
        rows, _ = again.fill(files[:5], mixed)
        np.testing.assert_array_equal(again.rows()[rows], before)


# ---- bad input


@pytest.mark.parametrize(
    "files, message",
    [
        ([], "has no folder per class"),
        (["1.png"], "has no folder per class"),
        (["cat/1.png"], "only of the class cat"),
        (["cat/1.txt", "dog/2.txt"], "of no class"),
        (["train/cat/1.png", "test/dog/1.png"], "has the folders test and train .* audit each by itself"),
        (["mine.csv:file,label\n"], "of no class"),
        (["mine.npz:PK"], "holds numbers, and this command judges files of images"),
        (["mine.csv:name,label\na,b\n"], "has no column 'file'"),
        (["mine.csv:file,label\na,\n"], "Row 2 of .* has an empty file or label"),
        (["mine.csv:file,label\na\n"], "Row 2 of .* has too few cells"),
        (["mine.csv:file,label\na,b\n./a,c\n"], "lists ./a more than once|lists a more than once"),
        (["mine.csv:file,label\na,b\nc, b\nd,e\n"], "labels ' b' and 'b', which differ in spaces alone"),
        (["mine.csv:file,label\na,b\nc,d\n"], None),
    ],
)
def test_bad_folders_and_lists_are_one_sentence(files: list[str], message: str | None, tmp_path: Path) -> None:
    path = tmp_path / "here"
    path.mkdir()
    for name in files:
        file, _, text = name.partition(":")
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_text(text)
        path = path / file if text else path
    if message is None:
        assert find_images(path).files == ("a", "c")
        return
    with pytest.raises(WarlabError, match=message) as error:
        find_images(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "options, message",
    [
        (["nowhere"], "There is no nowhere"),
        (["photos", "--network", "resnet50"], "There is no network 'resnet50'"),
        (["photos", "--network", "torchvision/nonsense"], "cannot be loaded with pre-trained weights"),
        (["photos", "--network", "timm/resnet18"], "pip install timm"),
        (["photos", "--network", "pixels", "--out", "photos/cat/here"], "which an audit does not change"),
        (["photos", "--network", "pixels", "--out", "a_file/here"], "a_file/here: Not a directory"),
        (["photos", "--apply", "decisions.csv", "--out", "photos/here"], "which an audit does not change"),
        (["photos", "--apply", "decisions.csv", "--copy", "photos/here"], "which an audit does not change"),
        (["photos", "--apply", "decisions.csv"], "decisions.csv cannot be read"),
        (["photos", "--size", "1"], "--size must be at least 16"),
        (["photos", "--weights", "nowhere"], "could not be fetched"),
    ],
)
def test_bad_options_are_one_sentence(
    options: list[str], message: str, photos: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(photos.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(photos.parent / "cache"))
    monkeypatch.setattr("warlab.data.fetch._places", lambda *_: [])
    (photos.parent / "a_file").write_text("")
    before = contents(photos)
    assert main(options) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert message in lines[-1] and lines[-1].startswith("warlab: "), lines
    assert contents(photos) == before


def test_the_corrected_folder_of_a_list_may_be_beside_it_and_has_no_unreadable_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("1.png", "2.png", "cut.png"):
        Image.effect_noise((20, 20), 50).save(name)
    os.truncate("cut.png", 100)
    Path("mine.csv").write_text("file,label\n1.png,cat\n2.png,dog\ngone.png,dog\ncut.png,dog\n")
    Path("decisions.csv").write_text("file,label,decision,new_label\n1.png,cat,relabel,dog\n")
    command = ["mine.csv", "--out", "to here", "--apply", "decisions.csv", "--copy", "fixed"]
    assert main(command) == 0
    assert (
        "written to to here/labels.csv and fixed, without 2 unreadable images, first gone.png"
        in capsys.readouterr().out
    )
    assert sorted(str(path) for path in Path("fixed").glob("*/*")) == ["fixed/dog/1.png", "fixed/dog/2.png"]
    given = Path("mine.csv").rename("labels.csv").read_bytes()
    assert main(["labels.csv", "--out", ".", "--apply", "decisions.csv"]) == 1
    assert "which is not changed" in capsys.readouterr().err and Path("labels.csv").read_bytes() == given
    assert shlex.split(_next_command(Path("mine.csv"), Path("to here"))) == ["warlab", "audit", *command[:5]]


def test_hostile_names_and_files_that_are_missing_are_reported_and_move_no_cursor(tmp_path: Path, capsys) -> None:
    folder = paint(tmp_path / "photos", 30)
    (folder / "dog").rename(folder / "d\x1b[2Jog\n")
    for file in sorted((folder / "truck").iterdir()):
        file.rename(file.with_name(f"\x9b31m\r{file.name}"))
    (folder / "truck" / "\x1b]0;title\x07.png").write_text("no image")
    odd = os.fsencode(folder / "cat") + b"/caf\xe9.png"
    os.rename(os.fsencode(sorted((folder / "cat").iterdir())[0]), odd)  # noqa: PTH104 # a name of bytes
    (folder / "cat" / "gone.png").symlink_to(tmp_path / "nowhere")
    for copied, to in (("1.png", "cat"), ("2.png", "cat"), ("3.png", "d\x1b[2Jog\n")):
        shutil.copy(sorted((folder / "cat").glob("[0-9]*"))[0], folder / to / f"copy{copied}")
    assert main([str(folder), *FAST, "--out", str(tmp_path / "out")]) == 0
    result = AuditResult.load(tmp_path / "out")
    assert "cat/caf\udce9.png" in result.files
    assert sorted(result.unreadable) == ["cat/gone.png", "truck/\x1b]0;title\x07.png"]
    assert main([str(folder / "truck\x1b"), *FAST]) == 1
    said = capsys.readouterr()
    text = said.out + said.err.replace(str(tmp_path), "")
    assert {c for c in text if unicodedata.category(c) == "Cc"} == {"\n"}
    assert "truck/\\x1b]0;title\\x07.png: cannot be read as an image" in said.err and "d\\x1b[2Jog\\x0a" in said.out
    assert "copies of another file: 3, of which under another label: 1\n" in said.err
    assert "There is no " in said.err and "truck\\x1b; name a folder" in said.err
