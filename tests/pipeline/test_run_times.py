"""Estimated times of trainings: by the runs that this machine has finished, by the reference machine before that."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.helpers.studies import study_of
from warlab.artefacts.run_identity import RunIdentity
from warlab.artefacts.run_result import RunResult
from warlab.cli.main import main
from warlab.common.files import write_json
from warlab.config.study import Study, load_study
from warlab.ids import RunId
from warlab.pipeline.run_times import PER_RUN, load_run_times, overview

CCE, WAR = (RunId("fashion_mnist", "asym-40", "cnn9", method, 0) for method in ("cce", "war_w2v"))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return load_study({"scale": "smoke", "results_root": str(tmp_path)}, ROOT)


def finish(study: Study, run: RunId, seconds: float, folder: Path) -> None:
    identity = RunIdentity(study.settings.run(run).to_dict(), {}, {}, {})
    result = RunResult(identity, {}, "stand-in", {"last": 70.0}, {"seconds": seconds})
    result.save(folder / study.name / "runs" / str(run) / "result.json")


def kind(run: RunId) -> tuple[str, str, str]:
    return run.dataset, run.net, run.method


def test_the_reference_machine_takes_the_seconds_of_its_table(study: Study) -> None:
    times = load_run_times(study, ROOT)
    training, warmup = study.settings.training("fashion_mnist"), study.settings.warmup(WAR)
    image = 0.0011 * (study.settings.width("cnn9", "fashion_mnist") / 0.25) ** 2 * times.sizes["fashion_mnist"][2] / 196
    train, test, epochs = *times.sizes["fashion_mnist"][:2], training["epochs"]
    by_hand = PER_RUN + image * (train * (warmup + 2.71 * (epochs - warmup)) + test * epochs / 3)
    assert times.seconds_of_run(WAR) == pytest.approx(by_hand) and times.source == "the reference machine"
    assert load_run_times(study_of("paper"), ROOT, {}).hours() == pytest.approx(217_800, rel=0.01)


def test_finished_runs_replace_the_table(study: Study, tmp_path: Path) -> None:
    table = load_run_times(study, ROOT)
    finish(study, CCE, 10 * table.reference_seconds(CCE), tmp_path)
    finish(study, WAR, 4 * table.reference_seconds(WAR), tmp_path)
    times = load_run_times(study, ROOT)
    assert times.source == "the times of 2 runs"
    assert times.seconds_of_run(CCE) == PER_RUN + 10 * table.reference_seconds(CCE)
    same_kind = next(run for run in study.plan.runs if kind(run) == kind(WAR) and run != WAR)
    assert times.seconds_of_run(same_kind) == pytest.approx(PER_RUN + 4 * table.reference_seconds(same_kind))
    other = next(run for run in study.plan.runs if run.dataset != "fashion_mnist")
    expected = PER_RUN + np.median([10, 4]) * table.reference_seconds(other)
    assert times.seconds_of_run(other) == pytest.approx(expected)
    text = overview({"scale": "smoke", "results_root": str(tmp_path)}, ROOT)
    assert re.search(r"^smoke .* the times of 2 runs \(this scale\)$", text, re.MULTILINE)
    assert (
        re.search(r"^paper .* the reference machine$", text, re.MULTILINE) and "one core of a virtual AMD EPYC" in text
    )


def test_own_data_count_once_they_are_prepared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scale = tmp_path / "own.yaml"
    scale.write_text(
        """
description: own data
seeds: 1
datasets: {arrays: {source: real}}
training: {arrays: {epochs: 4}}
experiments: {main_benchmark: {datasets: [arrays], noises: [sym-40], nets: [cnn9], methods: [cce]}}
"""
    )
    monkeypatch.chdir(tmp_path)
    call = ["--root", str(ROOT), "--scale", str(scale), "plan"]
    assert main(call) == 0
    assert re.search("The time of own is unknown until the data are prepared: .*data$", capsys.readouterr().out, re.M)
    assert main([*call[:-1], "status"]) == 0 and "remaining: unknown until" in capsys.readouterr().out
    prepared = {"n_train": 1000, "n_test": 300, "shape": [3, 28, 14]}
    write_json(tmp_path / "results" / "own" / "data" / "arrays.json", prepared)
    times = load_run_times(study_of(str(scale)), ROOT)
    (run,) = times.study.plan.runs
    assert times.seconds_of_run(run) == pytest.approx(PER_RUN + 0.0011 * 16 * 2 * 4 * (1000 + 100))
    wider = replace(run, method="cce+net.width=2.0")
    assert times.seconds_of_run(wider) - PER_RUN == pytest.approx(4 * (times.seconds_of_run(run) - PER_RUN))
    assert main(call) == 0 and "is unknown" not in capsys.readouterr().out


def test_a_network_without_a_known_speed_has_a_time_after_its_first_run(study: Study) -> None:
    """Of a plug-in or another library; the other methods follow in proportion. An estimate never counts before that."""
    own = [replace(run, net="timm.resnet18") for run in (CCE, WAR)]
    times = load_run_times(study, ROOT, {CCE: 60.0})
    assert times.unknown(own) == "a run with timm.resnet18 has finished" and times.unknown([CCE, WAR]) is None
    times = load_run_times(study, ROOT, {CCE: 60.0, own[0]: 600.0})
    share = times.reference_seconds(WAR) / times.reference_seconds(CCE)
    assert times.unknown(own) is None and times.seconds_of_run(own[1]) == pytest.approx(PER_RUN + 600 * share)
    assert times.seconds_of_run(WAR) == pytest.approx(PER_RUN + 60 * share), (
        "its slow network tells nothing about others"
    )


def test_a_vector_counts_with_its_features_before_and_after_it_is_prepared(tmp_path: Path) -> None:
    texts = load_study({"scale": "sentiment", "results_root": str(tmp_path)}, ROOT)
    before = load_run_times(texts, ROOT).hours()
    write_json(tmp_path / "sentiment/data/sentiment.json", {"n_train": 6000, "n_test": 4000, "shape": [1024]})
    assert load_run_times(texts, ROOT).hours() == pytest.approx(before) and before < 1  # a run takes 11 s


def test_images_of_the_users_own_are_counted_before_they_are_prepared(tmp_path: Path) -> None:
    for k in range(20):
        (tmp_path / "photos" / "ab"[k % 2]).mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / "ab"[k % 2] / f"{k}.png").touch()
    (tmp_path / "photos" / "classes.txt").write_text("a\nb\n")
    own = tmp_path / "own.yaml"
    own.write_text(
        "description: mine\ndatasets: { image_folder: { source: real, size: 64 } }\n"
        "experiments: { main_benchmark: { datasets: [image_folder], noises: [clean], methods: [cce] } }\n"
    )
    config = {"scale": str(own), "results_root": str(tmp_path)}
    photos = load_study(config | {"local_data": {"image_folder": str(tmp_path / "photos")}}, ROOT)
    assert load_run_times(photos, ROOT).sizes["image_folder"] == (16, 4, 64 * 64)
    assert re.search(r"^own +\d+ +\d+ +\?  the reference machine", overview(config, ROOT), re.MULTILINE)
