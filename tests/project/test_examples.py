"""The examples run; those with packages that are not pinned here run in an environment of their own, with -m slow."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT
from tests.helpers.environments import core_environment, install, run


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tokens_are_learned_through_their_embeddings() -> None:
    assert example("tokens").train() > 0.8


def with_packages(folder: Path, *packages: str) -> str:
    """A Python with the core and these packages; skips where they cannot be had."""
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
