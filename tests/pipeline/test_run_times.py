"""Estimated times of trainings: measured on this machine, or marked as a guess."""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from warlab.cli.main import main
from warlab.common.files import write_json, write_text
from warlab.config.reading import read_yaml
from warlab.config.study import Study, load_study
from warlab.ids import RunId
from warlab.pipeline.run_times import PER_RUN, completed, guessed, hours_by, measure, overview, seconds

IMAGE = {("fashion_mnist", "cnn9"): 0.002}  # seconds of one CCE training image
FACTOR = {"cce": 1.0, "war_w2v": 2.5}


def study_of(folder: Path) -> Study:
    return load_study({"scale": "smoke", "results_root": str(folder)}, ROOT)


def finish(study: Study, folder: Path, cell: RunId, gpu: bool = False) -> None:
    """A run that took exactly as long as the formula of `plan` says, with a long pause in its second epoch."""
    run, training = (
        folder / "smoke" / "runs" / str(cell),
        study.settings.training(cell.dataset, cell.noise, cell.method),
    )
    warmup = study.settings.method(cell.method, cell.dataset, cell.noise).get("warmup", 0)
    rows = []
    for epoch in range(training["epochs"]):
        factor = 1.0 if epoch < warmup else FACTOR[cell.method]
        took = IMAGE[cell.dataset, cell.net] * (300 * factor + 200 / 3)
        clock = took if gpu else took * 3 + (1000 if epoch == 1 else 0)
        rows.append({"epoch": epoch + 1, "seconds": clock, "processor_seconds": 0.01 if gpu else took})
    text = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    write_text(run / "metrics.csv", "\n".join(text) + "\n")
    made = {"processor": "A100" if gpu else "CPU x86_64", "host": "here", "versions": {"torch": "2"}, "threads": 1}
    write_json(run / "result.json", {"provenance": made})


def finished(folder: Path, gpu: bool = False) -> Study:
    study = study_of(folder)
    for method in FACTOR:
        finish(study, folder, RunId("fashion_mnist", "asym-40", "cnn9", method, 0), gpu)
    return study


@pytest.mark.parametrize("gpu", [False, True])
def test_speeds_are_those_that_the_runs_had(tmp_path: Path, gpu: bool) -> None:
    study = finished(tmp_path, gpu)
    found = measure(study, "cce")
    assert found["gpu"] == gpu and found["methods"] == pytest.approx({"cce": 1.0, "war": 2.5})
    assert found["networks"]["cnn9"]["seconds_per_image"] == pytest.approx(0.002)
    for method, factor in FACTOR.items():  # plan then says how long they took
        cell = RunId("fashion_mnist", "asym-40", "cnn9", method, 0)
        training = study.settings.training(cell.dataset, cell.noise, cell.method)
        warmup = study.settings.method(cell.method, cell.dataset, cell.noise).get("warmup", 0)
        work = 300 * (warmup + factor * (training["epochs"] - warmup)) + 200 * training["epochs"] / 3
        assert seconds(study, cell, found) == pytest.approx(PER_RUN + 0.002 * work)


def test_one_command_writes_them_and_plan_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("config", "workflow/schemas"):
        shutil.copytree(ROOT / part, tmp_path / part)
    monkeypatch.chdir(tmp_path)
    finished(tmp_path / "results")
    assert main(["--scale", "smoke", "speed", "--write"]) == 0
    written = read_yaml(tmp_path / "config" / "speed.yaml")
    assert written == yaml.safe_load(capsys.readouterr().out)
    assert written["methods"]["war"] == 2.5 and written["methods"]["ar"] == 2.58
    assert (
        "ar" in written["not_measured"] and "unet" in written["not_measured"] and "war" not in written["not_measured"]
    )
    assert "CPU x86_64 of here" in overview({"scale": "smoke"}, tmp_path)


def test_without_a_finished_run_there_is_nothing_to_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(ROOT), "--scale", "cifar", "speed"]) == 1
    assert "has no finished run of cce" in capsys.readouterr().err


def test_guesses_about_gpus_are_marked_and_go_when_one_was_measured() -> None:
    speed, gpus = read_yaml(ROOT / "config" / "speed.yaml"), read_yaml(ROOT / "config" / "gpus.yaml")
    text = overview({"scale": "demo"}, ROOT)
    assert "~A100 h" in text and "guess, ±40 %" in text and "no GPU was measured" in text
    assert list(hours_by(speed | {"gpu": True}, gpus)) == ["GPU hours"]
    paper = load_study({"scale": "paper"}, ROOT)
    hours = sum(seconds(paper, cell, guessed(gpus, "A100", speed)) for cell in paper.plan.runs) / 3600
    assert 400 < hours < 1200  # estimated by hand from the same assumptions: about 740


def test_a_network_that_was_not_measured_is_estimated_by_its_work() -> None:
    speed = {"networks": {"cnn9": {"width": 0.5, "pixels": 256, "seconds_per_image": 0.001}}, "methods": {}}
    flops = {"cnn9": {"pixels": 1024, "value": 1.6}, "other": {"pixels": 100, "value": 3.0}}
    found = completed(speed, {"gigaflops": flops})["networks"]  # the measured image takes 1.6 / 4 / 4 gigaflops
    assert found["cnn9"] == speed["networks"]["cnn9"]
    assert found["other"]["seconds_per_image"] == pytest.approx(0.001 * 3.0 / 0.1)


def test_flops_are_those_of_our_networks() -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    from warlab.nets import build

    said = read_yaml(ROOT / "config" / "gpus.yaml")["gigaflops"]
    for net in ("cnn9", "cnn6", "cnn2"):
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            build(net, 3, 10).eval()(torch.zeros(1, 3, 32, 32))
        assert said[net]["pixels"] == 32 * 32
        assert said[net]["value"] == pytest.approx(counter.get_total_flops() / 1e9, rel=0.01)
