"""The examples run; those that use packages which are not pinned here run in their own environment, with -m slow."""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.helpers.environments import core_environment, install, run
from tests.helpers.scripts import load


def test_tokens_are_learned_through_their_embeddings() -> None:
    assert load("examples/tokens.py").train() > 0.8


def with_packages(folder: Path, *packages: str) -> str:
    """Return a Python with the core and these packages; skip the test where they cannot be installed."""
    python = core_environment(folder / "environment", ROOT / "src")
    done = install(python, *packages)
    if done.returncode:
        pytest.skip(f"{' and '.join(packages)} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    return python


def last_line(python: str, code: str) -> dict:
    return json.loads(run([python, "-c", code], ROOT / "examples").strip().splitlines()[-1])


@pytest.mark.slow
def test_lightning(tmp_path: Path) -> None:
    python = with_packages(tmp_path, "lightning")
    found = last_line(python, "import json, lightning_module as m; print(json.dumps(m.train()))")
    assert found["war"] > 0 and found["accuracy"] > 0.6


@pytest.mark.slow
def test_hugging_face_trainer(tmp_path: Path) -> None:
    python = with_packages(tmp_path, "transformers", "accelerate")
    code = """
import json, hugging_face_trainer as m
trainer, found = m.train()
print(json.dumps({"penalties": len(trainer.penalties), "least": min(trainer.penalties), "loss": found["eval_loss"]}))
"""
    found = last_line(python, code)
    assert found["penalties"] == 24 and found["least"] > 0 and found["loss"] < 0.9


AUDIT = """
import json, sys, numpy as np
from {module} import FLIPS, train

def about(audit):
    first = audit.suspects()["index"][:FLIPS]
    return {{"hits": int((first < FLIPS).sum()), "flips": FLIPS, "seen": sorted(set(audit.means().seen.tolist()))}}

def same(one, other):
    return all(np.array_equal(value, vars(other.means())[name]) for name, value in vars(one.means()).items())
"""


@pytest.mark.slow
def test_an_audit_in_lightning_also_continues_from_a_checkpoint(tmp_path: Path) -> None:
    python = with_packages(tmp_path, "lightning")
    code = f"""
import glob
whole = train(4, enable_checkpointing=False)
train(2, default_root_dir={str(tmp_path)!r})
(path,) = glob.glob({str(tmp_path)!r} + "/**/*.ckpt", recursive=True)
print(json.dumps(about(whole) | {{"resumed": about(train(4, ckpt_path=path, enable_checkpointing=False))}}))
"""
    found = last_line(python, AUDIT.format(module="audit_lightning") + code)
    for one in (found, found["resumed"]):
        assert one["hits"] >= 0.8 * one["flips"] and one["seen"] == [4]


@pytest.mark.slow
def test_an_audit_in_the_hugging_face_trainer_also_continues_from_a_checkpoint(tmp_path: Path) -> None:
    python = with_packages(tmp_path, "transformers", "accelerate")
    folders = {name: str(tmp_path / name) for name in ("one", "two", "three")}
    code = f"""
whole = train({folders["one"]!r}, save_strategy="no")
smooth = train({folders["two"]!r}, save_strategy="no", label_smoothing_factor=0.1, eval_strategy="epoch")
train({folders["three"]!r}, 3, save_strategy="epoch")
resumed = train({folders["three"]!r}, resume=True, save_strategy="no")
print(json.dumps([about(whole), about(smooth), about(resumed), same(whole, resumed)]))
"""
    *found, is_same = last_line(python, AUDIT.format(module="audit_hugging_face") + code)
    assert is_same  # to the last bit
    for one in found:
        assert one["hits"] >= 0.6 * one["flips"] and one["seen"] == [6]
