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
