"""Every file that a user may edit, edited: exactly the jobs that read it run again, and those that follow from them."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from tests.faults import workflow
from tests.faults.workflow import call, project
from tests.helpers.checkout import run
from tests.workflow.test_own_data import NAMES, paint
from warlab.artefacts.ground_cost import matrix_text
from warlab.common.files import read_arrays, read_json, write_arrays, write_json

RESULTS = Path("results") / "faults"
SCALE = {
    "description": "own data with files of every sort, for the tests of edits",
    "seeds": 1,
    "threads": 1,
    "datasets": {"image_folder": {"source": "real", "size": 16}, "arrays": {"source": "real"}},
    "training": {name: {"epochs": 1, "batch_size": 12} for name in ("image_folder", "arrays")},
    "nets": {"cnn9": {"width": 0.0625, "dropout": 0.0, "head_dropout": 0.0}},
    "experiments": {
        "ar_war_variants": {
            "datasets": ["image_folder", "arrays"],
            "noises": ["file_mine"],
            "methods": ["cce", "war_w2v", "war_01+cost=file"],
        },
        "clothing1m": {"datasets": ["image_folder"], "noises": ["sym-40"], "nets": ["resnet50"], "methods": ["cce"]},
    },
}
CONFIG = {
    "scale": "faults",
    "local_data": {"image_folder": "photos", "arrays": "mine/my.npz"},
    "noise_files": {"file_mine": "matrix.csv"},
    "overrides": {
        "costs": {"w2v": {"vectors": "words.txt"}, "file": {"path": "cost.csv"}},
        "nets": {"resnet50": {"weights": "resnet.pth"}},
    },
}


def own_files(folder: Path) -> None:
    paint(folder / "photos", 36, 16)
    (folder / "photos" / "classes.txt").write_text("\n".join(NAMES))
    (folder / "mine").mkdir()
    x = np.random.default_rng(0).integers(0, 256, (36, 16, 16), dtype=np.uint8)
    np.savez(folder / "mine" / "my.npz", train_x=x, train_y=np.arange(36) % 3)
    (folder / "mine" / "classes.txt").write_text("\n".join(NAMES))
    (folder / "matrix.csv").write_text("0.7,0.3,0\n0,1,0\n0,0,1\n")
    words = {"cat": "1 0 0", "dog": "1 0.5 0", "truck": "0 0 1", "puppy": "1 0.6 0"}
    (folder / "words.txt").write_text("4 3\n" + "".join(f"{word} {vector}\n" for word, vector in words.items()))
    (folder / "cost.csv").write_text(matrix_text(0.5 * (1 - np.eye(3)), NAMES))
    from warlab.common.vision import torchvision

    torch.manual_seed(0)
    torch.save(torchvision.models.resnet50().state_dict(), folder / "resnet.pth")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("edits"))
    own_files(folder)
    (folder / "config" / "scales" / "faults.yaml").write_text(yaml.safe_dump(SCALE))
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    call(folder, "--cores", "2", "runs")
    return folder


def warlab(folder: Path, *arguments: str) -> str:
    done = run([sys.executable, "-m", "warlab", "--scale", "faults", *arguments], folder)
    return done.stdout + done.stderr


def planned(folder: Path, *targets: str) -> dict[str, int]:
    """Return the number of planned jobs of each rule. `warlab status` must agree about the trainings of all runs."""
    jobs = workflow.planned(folder, *targets)
    if targets == ("runs",):
        states = warlab(folder, "status")
        assert len(re.findall("^outdated ", states, re.MULTILINE)) == jobs.get("train", 0), states
    return {name: n for name, n in jobs.items() if name not in ("runs", "collect", "data", "total")}


@contextmanager
def edited(file: Path, change: Callable[[Path], object]) -> Iterator[None]:
    """The file with its times is put back afterwards."""
    kept = file.with_name(f".{file.name}.kept")
    shutil.copy2(file, kept)
    try:
        change(file)
        yield
    finally:
        shutil.copy2(kept, file)
        kept.unlink()


def add_zeros(file: Path) -> None:
    write_arrays(file, **{name: array * 0 for name, array in read_arrays(file).items()})


def add_line(file: Path) -> None:
    file.write_text(file.read_text() + "\n")


def replaced(old: str, new: str) -> Callable[[Path], object]:
    return lambda file: file.write_text(file.read_text().replace(old, new))


OTHER_WORD = replaced("dog", "dog: puppy")
OTHER_BETA = replaced("overrides:", "overrides:\n  methods: {war_w2v: {beta: 5}}")


def other_weights(file: Path) -> None:
    state = torch.load(file, weights_only=True)
    torch.save({name: value * 2 for name, value in state.items()}, file)


def other_value(key: str, value: object) -> Callable[[Path], None]:
    return lambda file: write_json(file, read_json(file) | {key: value})


def test_nothing_runs_again_where_nothing_was_edited(finished: Path) -> None:
    assert planned(finished, "runs") == {}


COST = {"cost": 2, "verify_cost": 2}
VERIFIED = {"verify_cost": 4, "train": 4}
EDIT = "s#photos#mine/../moved/#; s/my.npz/other.npz/; s/^local_data:/local_data:\\n  cifar10: nowhere/"
OTHER_PLACES = f"mv mine/my.npz mine/other.npz && sed -i '{EDIT}' config/config.yaml"
DATA = {"fetch": 1, "prepare": 1, "corrupt": 2, **COST, "train": 4}
VECTORS = "src/warlab/assets/wordvectors/glove_6b_100d_classes.txt"


@pytest.mark.parametrize(
    ("file", "change", "expected"),
    [
        ("cost.csv", replaced("0.5", "0.4"), {**COST, "train": 2}),
        ("matrix.csv", replaced("0.7,0.3", "0.8,0.2"), {"corrupt": 2, "train": 6}),
        ("resnet.pth", other_weights, {"train": 1}),
        ("photos/classes.txt", OTHER_WORD, DATA),
        (RESULTS / "data/arrays.json", other_value("mean", [0.1]), {"corrupt": 1, **COST, "train": 3}),
        (RESULTS / "noise/arrays/file_mine/seed0.json", other_value("rate", 0.1), {"train": 3}),
        (VECTORS, add_line, {**COST, "train": 2}),
        ("src/warlab/methods/war.py", replaced("self.epsilon /= 10", "self.epsilon /= 5"), {"train": 4}),
        ("src/warlab/noise/kinds/file.py", replaced("import re\n", "import re\n\nX = 1\n"), {"corrupt": 2, "train": 6}),
        ("config/scales/faults.yaml", replaced("batch_size: 12", "batch_size: 6"), {"train": 7}),
        ("config/config.yaml", OTHER_BETA, {"train": 2}),
        # The costs are verified again and the runs are trained again, both at once.
        ("config/config.yaml", replaced("overrides:", "overrides:\n  methods: {war: {lam: 0.1}}"), VERIFIED),
        ("src/warlab/ot/sinkhorn.py", replaced("1e-18", "1e-17"), VERIFIED),
        ("src/warlab/ot/verify.py", replaced("1e-3", "1e-4"), {}),
    ],
)
def test_an_edited_file_runs_what_reads_it(finished: Path, file: str, change: Callable, expected: dict) -> None:
    with edited(finished / file, change):
        assert planned(finished, "runs") == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"cp -r photos moved && rm -r photos && find mine -exec touch {{}} + && {OTHER_PLACES}", {}),
        ("mv photos/cat/$(ls photos/cat | head -1) photos/dog/", DATA),
    ],
)
def test_the_users_files_count_by_their_contents(finished: Path, tmp_path: Path, command: str, expected: dict) -> None:
    """tests/workflow/test_own_data.py has links, litter and added images, whose digests decide."""
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    subprocess.run(command, shell=True, cwd=copy, check=True)
    assert planned(copy, "runs") == expected
    assert planned(copy).get("train", 0) == expected.get("train", 0), "the default target"


def test_results_can_be_used_while_the_disk_with_the_data_is_not_mounted(finished: Path) -> None:
    for name in ("photos", "mine"):
        (finished / name).rename(finished / f"{name}.away")
    try:
        (finished / "photos").mkdir()  # the empty folder of a mount point
        assert planned(finished, "runs") == {} and "train" not in planned(finished)
        states = warlab(finished, "doctor")
        (finished / "photos").rmdir()
    finally:
        for name in ("photos", "mine"):
            (finished / f"{name}.away").rename(finished / name)
    assert "image_folder (real) is there" in states


def test_other_words_reach_the_cost_also_when_the_data_were_prepared_before(finished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    OTHER_WORD(copy / "mine" / "classes.txt")
    call(copy, "--cores", "1", "data")
    assert planned(copy, f"{RESULTS}/costs/arrays/w2v/cost.csv") == {"cost": 1}
    call(copy, "--cores", "1", f"{RESULTS}/costs/arrays/w2v/cost.csv")
    assert read_json(copy / RESULTS / "costs" / "arrays" / "w2v" / "cost.json")["words"] == ["cat", "puppy", "truck"]


def test_another_study_and_another_place_do_not_disturb_a_finished_one(finished: Path, tmp_path: Path) -> None:
    """Both fetch into the same folder of raw data."""
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    np.savez(copy / "mine" / "second.npz", train_x=np.zeros((12, 8, 8), np.uint8), train_y=np.arange(12) % 3)
    (copy / "photos").rename(copy / "elsewhere")
    places = {"image_folder": "elsewhere", "arrays": "mine/second.npz"}
    other = {"local_data": places, "results_root": "other"}
    config = copy / "config" / "config.yaml"
    config.write_text(yaml.safe_dump(CONFIG | other))
    call(copy, "--cores", "1", "data")
    config.write_text(yaml.safe_dump(CONFIG | {"local_data": places | {"arrays": "mine/my.npz"}}))
    assert read_arrays(copy / "other" / "faults" / "data" / "arrays.npz")["train_x"].shape[2:] == (8, 8)
    assert planned(copy, "runs") == {}


WAR = "arrays/file_mine/cnn9/war_w2v/seed0"


@pytest.mark.parametrize(
    ("file", "change", "reasons"),
    [
        ("words.txt", lambda file: file, [f"{WAR} is up to date."]),
        ("src/warlab/methods/war.py", replaced("self.epsilon /= 10", "self.epsilon /= 5"), ["methods/war.py changed"]),
        ("config/config.yaml", OTHER_BETA, ["beta: 10.0 → 5"]),
        ("words.txt", replaced("1 0.5 0", "1 0.4 0"), ["cost.vectors changed"]),
        (RESULTS / "noise/arrays/file_mine/seed0.npz", add_zeros, ["noise labels changed"]),
        (RESULTS / "runs" / WAR / "weights.pt", Path.unlink, ["weights.pt is missing"]),
        (RESULTS / "runs" / WAR / "result.json", Path.unlink, [f"{WAR} has no result yet."]),
    ],
)
def test_why_names_what_changed(finished: Path, file: str, change: Callable, reasons: list[str]) -> None:
    with edited(finished / file, change):
        assert warlab(finished, "why", str(RESULTS / "runs" / WAR)).splitlines() == reasons


def test_a_run_that_no_study_has_is_one_sentence(finished: Path) -> None:
    assert "has no run arrays/clean/cnn9/cce/seed0; did you mean" in warlab(
        finished, "why", "arrays/clean/cnn9/cce/seed0"
    )
