"""Every command with every kind of dataset and in every state of a study: an answer or one sentence.

The results are made up.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.conftest import ROOT
from warlab.artefacts.run_identity import RunIdentity
from warlab.artefacts.run_result import OUTPUTS, RunResult
from warlab.cli.main import main
from warlab.common.files import write_json, write_text
from warlab.config.study import Study, load_study
from warlab.ids import RunId
from warlab.pipeline.paths import Paths
from warlab.pipeline.sources import code_of_run, sources_of_run

KINDS = {  # dataset, its part, noise, network
    "embedded": ("fashion_mnist", {"source": "embedded", "train": 300, "test": 100}, "asym-40", "cnn9"),
    "stand-in": ("cifar10", {"source": "stand_in", "train": 300, "test": 100}, "sym-40", "cnn9"),
    "own folder": ("image_folder", {"source": "real", "size": 16}, "sym-40", "cnn9"),
    "arrays": ("arrays", {"source": "real"}, "sym-40", "cnn9"),
    "tiles": ("vaihingen", {"source": "stand_in", "train": 4, "test": 3}, "objects-33", "unet"),
    "list": ("image_folder", {"source": "real", "size": 16}, "sym-40", "torchvision.resnet18"),
    "vectors": ("vectors", {"source": "real"}, "sym-40", "mlp"),
    "own tiles": ("tiles", {"source": "real"}, "objects-33", "unet"),
}
OWN = {"own folder": "photos", "arrays": "my.npz", "list": "my.csv", "vectors": "my.npz", "own tiles": "photos"}


def write_study(folder: Path, kind: str) -> dict[str, object]:
    """Write the user's images, and return the configuration."""
    dataset, part, noise, net = KINDS[kind]
    for name in ("cat", "dog"):
        (folder / "photos" / name).mkdir(parents=True)
        Image.new("RGB", (16, 16)).save(folder / "photos" / name / "0.png")
    np.savez(folder / "my.npz", train_x=np.zeros((4, 8, 8), np.uint8), train_y=np.array([0, 1, 0, 1]))
    block = {"datasets": [dataset], "noises": [noise], "nets": [net], "methods": ["cce", "war_w2v"]}
    scale = {"description": "mine", "seeds": 1, "datasets": {dataset: part}, "experiments": {"main_benchmark": block}}
    write_json(folder / "mine.yaml", scale)  # JSON is YAML
    (folder / "my.csv").write_text("file,label\nphotos/cat/0.png,cat\nphotos/dog/0.png,dog\n")
    local = {dataset: str(folder / OWN[kind])} if kind in OWN else {}
    roots = {"results_root": str(folder / "results"), "data_root": str(folder / "raw")}
    return {"scale": str(folder / "mine.yaml"), "local_data": local, **roots}


def begin(study: Study, run: RunId) -> None:
    rows = "epoch,test_accuracy,seconds\n1,60,10\n2,,10\n"
    write_text(Path(Paths.of(study).run(run)) / "checkpoint" / "0123" / "metrics.csv", rows)


def finish(study: Study, run: RunId, epochs: int | None = None) -> None:
    """Save a result, which is outdated if the epochs are given."""
    folder, settings = Path(Paths.of(study).run(run)), json.loads(json.dumps(study.settings.run(run).to_dict()))
    settings["training"]["epochs"] = epochs or settings["training"]["epochs"]
    identity = RunIdentity(settings, sources_of_run(study, run), code_of_run(study, ROOT, run), {})
    for name in OUTPUTS:
        write_text(folder / name, "")
    result = RunResult(identity, {}, "real", {"last": 70.0}, {"seconds": 3.0})  # type: ignore[typeddict-item]
    result.save(folder / "result.json")


STATES: dict[str, tuple[Callable[[Study, RunId], None], ...]] = {  # of the two runs
    "nothing yet": (),
    "half done": (finish, begin),
    "finished": (finish, finish),
    "outdated": (lambda study, run: finish(study, run, 1), begin),
    "broken": (lambda study, run: write_text(Path(Paths.of(study).run(run)) / "result.json", "{"),),
    "older version": (lambda study, run: write_text(Path(Paths.of(study).run(run)) / "result.json", "{}"),),
}
WORDS = {  # the states that `warlab status` counts, and the answer of `warlab why` about the first run
    "nothing yet": ("2 waiting", "has no result yet."),
    "half done": ("1 done, 1 stopped", "is up to date."),
    "finished": ("2 done", "is up to date."),
    "outdated": ("1 outdated, 1 stopped", "→"),
    "broken": ("1 outdated, 1 waiting", "missing"),
    "older version": ("1 outdated, 1 waiting", "missing"),
}


PAIRS = [("own folder", state) for state in STATES] + [(kind, "half done") for kind in KINDS if kind != "own folder"]


@pytest.mark.parametrize(("kind", "state"), PAIRS)
def test_every_command_answers_or_says_one_sentence(
    kind: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("warlab.cli.why.input_checksums", lambda *_: {})  # the results have no input files
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    config = write_study(tmp_path, kind)
    study = load_study(config, ROOT)
    write_json(tmp_path / "my.json", config)
    for run, act in zip(study.plan.runs, STATES[state], strict=False):
        act(study, run)
    first = str(study.plan.runs[0])

    def say(*command: str) -> str:
        code = main(["--root", str(ROOT), "--configfile", str(tmp_path / "my.json"), *command])
        said = capsys.readouterr()
        if code and not said.out:
            assert said.err.startswith("warlab: ") and said.err.count("\n") == 1, command
        return said.out + said.err

    def say_all() -> dict[str, str]:
        runs = [["why", first], ["explain", first]]
        return {command[0]: say(*command) for command in (["status"], ["plan"], ["audit"], ["doctor"], *runs)}

    said = say_all()
    counts, reason = WORDS[state]
    assert counts in said["status"] and reason in said["why"]
    assert "\nmine " in said["plan"]
    assert "training.epochs" in said["explain"] and "There is no list" in said["audit"] and "data" in said["doctor"]
    shutil.rmtree(tmp_path / "photos")
    (tmp_path / "my.npz").unlink()
    (tmp_path / "my.csv").unlink()
    assert all(say_all().values()), "also when the user's data are not mounted"
