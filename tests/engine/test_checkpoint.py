"""Checkpoints: what they may contain, and which state is left after one or several faults."""

import hashlib
import io
import itertools
import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.conftest import logged
from tests.helpers.runs import resolved, write_files
from warlab.artefacts.run_config import RunConfig
from warlab.common.files import read_json
from warlab.engine import checkpoint
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.run import train_run
from warlab.errors import WarlabError

ALLOWED = [True, 1, 0.5, "text", None, [1, [2]], (1, 2), {"a": {1: torch.ones(2)}}, torch.tensor(True)]
REFUSED = [np.bool_(True), np.float64(1), np.zeros(2), Path("x"), {1}, [1, [np.int64(1)]], {"a": {np.int64(1): 0}}]


def folder_of(path: Path) -> tuple[CheckpointFolder, list[str]]:
    said = logged()
    return CheckpointFolder(path, "id"), said


@pytest.mark.parametrize("value", ALLOWED)
def test_what_is_allowed_comes_back(value: Any, tmp_path: Path) -> None:
    folder, said = folder_of(tmp_path)
    folder.save({"method": value})
    state = folder.load()
    assert state is not None and str(state["method"]) == str(value) and type(state["method"]) is type(value)
    assert not said


@pytest.mark.parametrize("value", REFUSED)
def test_what_could_not_be_read_back_is_refused_before_anything_is_written(value: Any, tmp_path: Path) -> None:
    folder, _ = folder_of(tmp_path)
    folder.save({"n": 1})
    with pytest.raises(WarlabError, match=r"cannot be saved: method\.turned.* is a \S+; make it a tensor"):
        folder.save({"n": 2, "method": {"turned": value}})
    assert folder.load() == {"n": 1}


def test_a_state_that_torch_refuses_is_an_error_and_no_new_start(tmp_path: Path) -> None:
    folder, _ = folder_of(tmp_path)
    for n in (1, 2):
        folder.save({"n": n})
    buffer = io.BytesIO()
    torch.save({"n": 3, "run_id": "id", "turned": np.bool_(True)}, buffer)
    content = buffer.getvalue()
    folder.latest.write_bytes(hashlib.sha256(content).hexdigest().encode() + content)
    with pytest.raises(WarlabError, match=r"latest\.ckpt is intact, but torch cannot load it .* delete it"):
        folder.load()


# ---- faults, one after the other


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    file.write_bytes(content)


class Death(BaseException):
    """The process ends here: nothing after this line runs, not even clean-up."""


def dying_save(folder: CheckpointFolder, state: dict[str, int], step: int, patch: pytest.MonkeyPatch) -> bool:
    """Save, and die after this many operations on the disk; return whether the save was finished."""
    operations = itertools.count()

    def dying(original: Any) -> Any:
        def operate(*given: Any, **named: Any) -> Any:
            if next(operations) >= step:
                raise Death
            return original(*given, **named)

        return operate

    with patch.context() as inside, suppress(Death):
        for place, name in ((Path, "replace"), (os, "fsync"), (Path, "chmod")):
            inside.setattr(place, name, dying(getattr(place, name)))
        folder.save(state)
        return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_after_any_row_of_deaths_and_damages_a_state_is_left(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process saves some states, dies in a save, and loses its newest file; never two files at once."""
    random.seed(seed)
    n = newest = 0
    for process in range(6):
        folder, _ = folder_of(tmp_path)
        state = folder.load()
        assert (state or {"n": 0})["n"] >= newest
        for _ in range(random.randint(1, 3) if process else 2):
            n += 1
            folder.save({"n": n})
        n += 1
        dying_save(folder, {"n": n}, random.randint(0, 5), monkeypatch)
        files = [file for file in (folder.next, folder.latest, folder.previous) if file.exists()]
        found = sorted((checkpoint._read(file, file.read_bytes()[64:])["n"], file) for file in files)
        damage(found[-1][1])
        newest = found[-2][0]


def test_rotating_copies_nothing(tmp_path: Path) -> None:
    folder, _ = folder_of(tmp_path)
    folder.save({"n": 1})
    number = folder.latest.stat().st_ino
    folder.save({"n": 2})
    assert folder.previous.stat().st_ino == number
    assert sorted(file.name for file in folder.path.iterdir()) == ["latest.ckpt", "previous.ckpt"]


# ---- another machine


def test_a_resume_on_another_machine_is_said_and_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, said = folder_of(tmp_path)
    first.save({"n": 1})
    same, said = folder_of(tmp_path)
    same.load()
    assert not said and len(same.machines) == 1
    here = checkpoint.machine()
    monkeypatch.setattr(checkpoint, "machine", lambda: {**here, "threads": 64, "torch": "9.9"})
    other, said = folder_of(tmp_path)
    other.load()
    assert len(said) == 1 and f"torch {here['torch']} became 9.9" in said[0] and "last bits" in said[0]
    assert f"threads {here['threads']} became 64" in said[0] and "processor" not in said[0]
    other.save({"n": 2})
    third, said = folder_of(tmp_path)
    third.load()
    assert not said and [entry["threads"] for entry in third.machines] == [here["threads"], 64]


def test_a_result_names_its_machines_and_a_run_with_a_missing_output_is_not_finished(tmp_path: Path) -> None:
    said, out = logged(), tmp_path / "out"
    given = RunConfig.from_dict(resolved("cce", epochs=1)), {}, write_files(tmp_path), out, 1
    train_run(*given)
    (entry,) = read_json(out / "result.json")["provenance"]["machines"]
    assert entry["threads"] == 1 and entry["torch"] == torch.__version__
    train_run(*given)
    assert "keeping its result" in said[-1]
    for missing in ("metrics.csv", "weights.pt", "result.json"):
        (out / missing).unlink()
        train_run(*given)
        assert (out / missing).exists() and "epoch 1/1" in said[-1]


# ---- several runs in one folder


def test_a_run_reads_and_removes_its_own_states_only(tmp_path: Path) -> None:
    one, two = (CheckpointFolder(tmp_path, name) for name in ("one", "two"))
    one.save({"n": 1})
    assert two.load() is None
    two.path.mkdir(parents=True)
    two.latest.write_bytes(one.latest.read_bytes())
    with pytest.raises(WarlabError, match="belongs to another run; move it away"):
        two.load()
    two.save({"n": 2})
    two.remove()
    assert one.load() == {"n": 1} and two.load() is None
    one.latest.write_bytes(one.latest.read_bytes()[:100])
    assert one.load() is None, "the only state is damaged"
    one.remove()
    assert not list(tmp_path.iterdir())
