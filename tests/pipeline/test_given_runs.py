"""`runs_from`: the runs of a finished study are reported with the scale that they were made with, and with no other."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tests.helpers.rules import Rules
from warlab.cli.main import main
from warlab.common.files import read_json
from warlab.errors import WarlabError
from warlab.pipeline.jobs import Jobs, load_jobs
from warlab.reporting.read.results import read_runs, select_declared, summarise

EVIDENCE = ROOT / "docs" / "evidence"
SCALES = {path.stem: path for path in [*(ROOT / "config/scales").glob("*.yaml"), EVIDENCE / "demo/demo_seeds.yaml"]}
STUDIES = {read_json(path)["scale"]: path.parent for path in EVIDENCE.glob("*/evidence.json")}
MESSAGES: list[str] = []


def jobs_with(scale: str | Path, folder: Path, **config: object) -> Jobs:
    MESSAGES.clear()
    return load_jobs({"scale": str(scale), "runs_from": str(folder), **config}, str(ROOT / "rules"), MESSAGES.append)


@pytest.mark.parametrize("study", STUDIES)
def test_runs_of_another_scale_are_refused(study: str) -> None:
    assert jobs_with(SCALES[study], STUDIES[study]).runs.given
    other = min(SCALES.keys() - {study})
    says = f"was not made with the scale {other}: evidence.json names {study}; choose"
    with pytest.raises(WarlabError, match=says):
        jobs_with(SCALES[other], STUDIES[study])


@pytest.mark.parametrize("scale", ["demo", "laptop", "smoke"])
def test_without_a_name_the_epochs_and_the_data_betray_another_scale(scale: str, tmp_path: Path) -> None:
    shutil.copy(STUDIES["sixteenth"] / "runs.csv", tmp_path)
    with pytest.raises(WarlabError, match=rf"was not made with the scale {scale}: .*; choose its scale"):
        jobs_with(scale, tmp_path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda runs: pd.concat([runs, runs[runs.seed == 1]]), r"epoch 1 of .*seed1 twice; remove the second copy"),
        (lambda runs: runs[runs.epoch < 40], r"has 39 epochs instead of 40; choose its scale"),
        (lambda runs: runs.assign(data="stand-in"), r"was trained on a stand-in; choose its scale"),
        (lambda runs: runs.assign(net="cnn2"), r"has no run of the scale demo_seeds"),
        (lambda runs: runs.drop(columns="seed"), r"cannot be read \('seed'\); runs_from needs the runs.csv of a study"),
        (lambda runs: runs.assign(seed="a"), r"cannot be read \(invalid literal"),
    ],
)
def test_wrong_runs_are_one_sentence(change, sentence: str, tmp_path: Path) -> None:
    change(pd.read_csv(STUDIES["demo_seeds"] / "runs.csv")).to_csv(tmp_path / "runs.csv", index=False)
    with pytest.raises(WarlabError, match=sentence):
        jobs_with(SCALES["demo_seeds"], tmp_path)


def test_missing_and_other_runs_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = pd.read_csv(STUDIES["demo_seeds"] / "runs.csv")
    runs.assign(seed=runs.seed + 1).to_csv(tmp_path / "runs.csv", index=False)
    retrained = jobs_with(SCALES["demo_seeds"], tmp_path, verify=0).runs.retrained()
    missing, left_out = MESSAGES[:2]
    assert re.search("lacks 8 runs of this scale, such as .*seed0", missing)
    assert re.search("has 8 runs that this scale leaves out, such as .*seed3", left_out)
    assert retrained[0].seed == 1, "a run that is not reported cannot be verified"
    (tmp_path / "my.yaml").write_text(f"scale: {SCALES['demo_seeds']}\nruns_from: {tmp_path}\n")
    assert main(["status", "--watch", "--root", str(ROOT), "--configfile", str(tmp_path / "my.yaml")]) == 0
    assert capsys.readouterr().out.endswith("demo_seeds: 16 of 24 runs are given by runs_from; nothing is trained\n")


@pytest.mark.parametrize("column", ["memorised", "seconds"])
def test_no_figure_is_planned_of_what_the_given_runs_have_no_values_of(column: str, tmp_path: Path) -> None:
    runs = pd.read_csv(STUDIES["demo_seeds"] / "runs.csv")
    name = {"memorised": "memorised", "seconds": "time_and_accuracy"}[column]
    for values, planned in ((50.0, True), (float("nan"), False)):
        runs.assign(**{column: values}).to_csv(tmp_path / "runs.csv", index=False)
        assert (name in jobs_with(SCALES["demo_seeds"], tmp_path).figures.names) == planned


def test_the_results_of_the_scale_itself_are_refused(tmp_path: Path) -> None:
    shutil.copytree(STUDIES["laptop"], tmp_path / "laptop")
    with pytest.raises(WarlabError, match="where the results of this scale are; leave runs_from out"):
        jobs_with("laptop", tmp_path / "laptop" / ".." / "laptop", results_root=str(tmp_path))


def test_a_table_of_which_nothing_was_given_has_gaps() -> None:
    """Its metrics are no columns of the given runs; they are required of runs that are there."""
    runs, declared = read_runs(STUDIES["demo_seeds"] / "runs.csv"), [["vaihingen", "clean", "unet", "cce", 0]]
    empty = summarise(select_declared(runs, declared), 10, ["f1_buildings"])
    assert empty["mean"].isna().all() and empty["seeds"].tolist() == [0]
    with pytest.raises(WarlabError, match="lacks the column 'f1_buildings'"):
        summarise(runs, 10, ["f1_buildings"])


SMOKE = yaml.safe_load((ROOT / "config" / "scales" / "smoke.yaml").read_text())


@pytest.mark.parametrize("experiment", SMOKE["experiments"])
def test_every_experiment_can_be_planned_alone(experiment: str, tmp_path: Path) -> None:
    alone = {**SMOKE, "experiments": {experiment: SMOKE["experiments"][experiment]}}
    (tmp_path / "alone.yaml").write_text(yaml.safe_dump(alone))
    rules = Rules(str(tmp_path / "alone.yaml"))
    files = rules.inputs("all")
    assert f"results/alone/tables/{experiment}.csv" in [*files, *rules.inputs("report").tables]
    assert ("results/alone/report.html" in files) == (experiment != "timing")
    for target in ("data", "runs", "maps", "audit", "tables", "figures", "verify"):
        rules.inputs(target)
    assert len(rules.inputs("verify")) == (experiment != "timing")
