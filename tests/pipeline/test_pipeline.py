"""Paths, inputs, parameters and resources that the library gives to the rules."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.pipeline.jobs import Jobs, load_jobs
from warlab.pipeline.paths import RUN, WILDCARDS, Paths

WAR = RunId("fashion_mnist", "asym-40", "cnn9", "war_w2v", 0)
RULES = {path.name: path.read_text() for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]}
EVIDENCE = str(ROOT / "docs" / "evidence" / "sixteenth")


def named(**others: str) -> SimpleNamespace:
    """Wildcards of a job."""
    known = {name: str(value) for name, value in vars(WAR).items()}
    rest = {"source": "stand_in", "cost": "w2v", "network": "resnet18", "experiment": "main_benchmark"}
    return SimpleNamespace(**known | rest | {"figure": "matrices"} | others)


class Old(str):
    """In place of Snakemake's `ancient`."""


TOLD: list[str] = []


def jobs_of(scale: str = "smoke", **config: object) -> Jobs:
    return load_jobs({"scale": scale, **config}, str(ROOT / "rules"), Old, TOLD.append)


@pytest.fixture(scope="module")
def jobs() -> Jobs:
    return jobs_of()


# ---- rules hold no logic


def test_rules_define_no_function_and_the_snakefile_is_short() -> None:
    for name, text in RULES.items():
        assert not re.search(r"^\s*(def|class|run:)\b|\blambda\b", text, re.MULTILINE), name
    assert len(RULES["Snakefile"].splitlines()) <= 80 and len(RULES["common.smk"].splitlines()) <= 40
    assert "localrules" not in "".join(RULES.values())


def test_no_rule_writes_a_path_of_its_own() -> None:
    """Every pattern stands in paths.py; a rule may add an ending or the name of a file."""
    for name, text in RULES.items():
        assert not re.search(r'"[^"]*\{\{', text), f"{name} has a pattern with wildcards"
        assert "results_root" not in text and "data_root" not in text, name


# ---- paths


def test_a_pattern_filled_in_is_the_path_of_the_run() -> None:
    paths = Paths("raw", "results/demo", "results/common")
    assert RUN.format(**vars(WAR)) == str(WAR)
    assert paths.metrics.format(**vars(WAR)) == f"results/demo/runs/{WAR}/metrics.csv"
    assert paths.receipt == "raw/{dataset}/{source}/receipt.json" and paths.toy == "results/common/toy.npz"
    assert paths.log(f"segment/{RUN}").format(**vars(WAR)) == f"results/demo/logs/segment/{WAR}.log"


def test_every_wildcard_of_a_pattern_is_constrained_and_no_two_patterns_are_the_same() -> None:
    paths = Paths("raw", "results", "common")
    patterns = [getattr(paths, name) for name in vars(Paths) if not name.startswith("_")]
    texts = [pattern for pattern in patterns if isinstance(pattern, str)]
    assert len(texts) > 40 and len(set(texts)) == len(texts)
    assert {name for text in texts for name in re.findall(r"\{(\w+)\}", text)} <= set(WILDCARDS)


def test_the_ids_of_a_study_match_the_constraints(jobs: Jobs) -> None:
    for run in jobs.flow.study.plan.runs:
        for name, value in vars(run).items():
            assert re.fullmatch(WILDCARDS[name], str(value))


# ---- training


def test_a_training_reads_what_is_declared_and_the_verification_does_not_age(jobs: Jobs) -> None:
    files = jobs.train.inputs(named())
    assert files == {
        "data": "results/smoke/data/fashion_mnist.npz",
        "data_json": "results/smoke/data/fashion_mnist.json",
        "noise": "results/smoke/noise/fashion_mnist/asym-40/seed0.npz",
        "noise_json": "results/smoke/noise/fashion_mnist/asym-40/seed0.json",
        "cost": "results/smoke/costs/fashion_mnist/w2v/cost.csv",
        "verified": "results/smoke/costs/fashion_mnist/w2v/verified.json",
    }
    assert [name for name, file in files.items() if isinstance(file, Old)] == ["verified"]


def test_params_of_a_training_are_its_settings_and_the_code_of_its_method(jobs: Jobs) -> None:
    assert jobs.train.run(named()) == jobs.flow.study.settings.run(WAR).to_dict()
    codes = {method: jobs.train.code("train")(named(method=method)) for method in ("war_w2v", "war_01", "cce")}
    assert codes["war_w2v"] == codes["war_01"] != codes["cce"]  # two variants of one file
    assert jobs.train.code("predict")(named()) != codes["war_w2v"]


def test_what_a_cluster_is_asked_for_grows_with_the_attempt_and_with_the_samples() -> None:
    paper = jobs_of("paper").train
    assert [paper.memory(named(), attempt) for attempt in (1, 2)] == [4000, 8000]
    assert paper.minutes(named(dataset="clothing1m")) == 12 * paper.predict_minutes(named(dataset="clothing1m")) == 2160


def test_the_run_that_is_trained_again_is_chosen_by_its_number() -> None:
    found = jobs_of(verify=3).train
    alone = [run for run in jobs_of().flow.study.plan.runs if not jobs_of().flow.study.plan.needed_run(run)]
    assert found.verified == alone[3] and jobs_of(verify=3 + len(alone)).train.verified == alone[3]
    assert found.verified_file("metrics.csv") == f"results/smoke/verify/{found.verified}/metrics.csv"


# ---- maps, audits, tables, figures, report


def test_maps_are_of_tiles_and_of_the_first_seed(jobs: Jobs) -> None:
    assert {run.dataset for run in jobs.train.mapped_runs()} == {"vaihingen"}
    assert "results/smoke/maps/vaihingen/objects-33/training_labels/seed0" in jobs.train.all_maps()


def test_an_audit_judges_runs_with_wrong_labels_and_shows_war(jobs: Jobs) -> None:
    assert all(run.noise not in ("clean", "real") for run in jobs.audit.judged)
    table, sheet = jobs.audit.shown()
    assert table.endswith("tables/audit.csv") and "/war" in sheet
    assert set(jobs.audit.inputs(named())["descriptions"]) <= set(jobs.audit.judged_files(named()))


def test_a_table_names_its_runs_and_its_cells(jobs: Jobs) -> None:
    spec = jobs.tables.spec(named())
    assert [*WAR.cell, 0] in spec["runs"] and WAR.cell in spec["cells"] and spec["last"] == 10
    assert len(jobs.tables.inputs(named())["metrics"]) == len(spec["runs"])
    assert (jobs.tables.section("vaihingen"), jobs.tables.section("ablations")) == ("maps", "adversarial")


def test_a_table_may_stand_where_the_page_shows_tables() -> None:
    page = (ROOT / "src/warlab/reporting/page/results.html").read_text()
    schema = json.loads((ROOT / "workflow/schemas/experiments.schema.json").read_text())
    allowed = schema["$defs"]["Experiment"]["properties"]["section"]["enum"]
    assert allowed == re.findall(r'tables_of\("(\w+)"\)', page)


def test_a_figure_reads_what_it_needs_with_its_descriptions(jobs: Jobs) -> None:
    files = jobs.figures.inputs(named(figure="matrices"))
    assert "costs" in files and all(file.endswith("verified.json") for file in files["costs"])
    assert {Path(file).name for file in files["descriptions"] if "/costs/" in file} == {"cost.csv", "cost.json"}


def test_the_report_knows_a_section_and_a_log_for_everything(jobs: Jobs) -> None:
    spec = jobs.report.spec()
    assert list(spec["tables"]) == jobs.flow.study.plan.tables and list(spec["figures"]) == jobs.figures.names
    assert set(spec["logs"]) == {str(run) for run in jobs.flow.study.plan.runs}
    json.dumps(spec)  # what Snakemake keeps as the job's parameters


def test_what_cannot_be_shown_is_named_with_the_reason() -> None:
    given = jobs_of("sixteenth", runs_from=EVIDENCE)
    assert "matrices" not in given.figures.names
    assert given.figures.left_out()["figure matrices"] == "given runs come without costs"


# ---- given runs


def test_given_runs_are_read_in_place_of_trained_ones() -> None:
    given = jobs_of("sixteenth", runs_from=EVIDENCE)
    assert given.train.collected(named()) == {"given": f"{EVIDENCE}/runs.csv"}
    assert given.tables.kept_predictions() == [f"{EVIDENCE}/test_predictions.npz"]
    assert given.tables.inputs(named()) == {"runs": "results/sixteenth/runs.csv"}
    empty = (given.train.all_maps(), given.audit.shown(), given.tables.architectures("tex"), given.audit.table())
    assert not any(empty) and given.train.declared()


def test_without_given_runs_the_predictions_are_one_file(jobs: Jobs) -> None:
    assert jobs.tables.kept_predictions() == ["results/smoke/test_predictions.npz"]
    made_of = jobs.train.predictions(named())
    assert not any("vaihingen" in file for file in made_of["predictions"] + made_of["truth"])
    assert jobs.train.declared() is None


@pytest.mark.parametrize(
    ("rules", "config", "sentence"),
    [
        ("https://example.org/rules", {}, "clone the repository"),
        (str(ROOT / "rules"), {"runs_from": "nowhere"}, "runs_from names nowhere, which has no runs.csv; name"),
        (str(ROOT / "rules"), {"scale": "smok"}, "There is no scale 'smok' in config/scales; did you mean 'smoke'"),
    ],
)
def test_a_mistake_is_one_sentence(rules: str, config: dict, sentence: str) -> None:
    with pytest.raises(WarlabError, match=re.escape(sentence)):
        load_jobs({"scale": "smoke", **config}, rules, Old, TOLD.append)


def test_without_latex_the_pdf_is_left_out_and_that_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    TOLD.clear()
    tables = jobs_of().tables
    assert tables.typeset == tables.typeset == [] and TOLD == [
        "No pdflatex here: tables.pdf is left out, the .tex files stand."
    ]
