"""What the rules declare, and what the library answers them."""

import json
import re
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.io import strip_wildcard_constraints

from tests.conftest import ROOT
from tests.helpers.rules import Rules
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.pipeline import run_jobs
from warlab.pipeline.jobs import Jobs, load_jobs
from warlab.pipeline.paths import IN_RULES, WILDCARDS
from warlab.pipeline.script import files_by_role

WAR = RunId("fashion_mnist", "asym-40", "cnn9", "war_w2v", 0)
TEXTS = {path.name: path.read_text() for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]}
EVIDENCE = str(ROOT / "docs" / "evidence" / "sixteenth")
MESSAGES: list[str] = []


def wildcards(**others: str) -> SimpleNamespace:
    known = {name: str(value) for name, value in vars(WAR).items()}
    return SimpleNamespace(**known | {"experiment": "main_benchmark", "figure": "matrices"} | others)


def jobs_of(scale: str = "smoke", **config: object) -> Jobs:
    return load_jobs({"scale": scale, **config}, str(ROOT / "rules"), MESSAGES.append)


@pytest.fixture(scope="module")
def jobs() -> Jobs:
    return jobs_of()


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


# ---- rules


def test_rules_hold_no_logic_and_the_snakefile_is_short() -> None:
    for name, text in TEXTS.items():
        assert not re.search(r"^\s*(def|class|run:)\b|\blambda\b", text, re.MULTILINE), name
    assert len(TEXTS["Snakefile"].splitlines()) <= 90 and len(TEXTS["common.smk"].splitlines()) <= 55
    assert "localrules" not in "".join(TEXTS.values())  # would not reach the rules of an importing workflow


def test_every_output_log_and_benchmark_is_a_pattern_that_is_written_in_the_rule() -> None:
    """It begins with a path variable, so that a reader sees where a file is and another workflow can move it."""
    for name, text in TEXTS.items():
        for block in re.findall(r"^    (?:output|log|benchmark):\n((?: {8}.*\n)+)", text, re.MULTILINE):
            paths = [line for line in re.findall(r'"([^"]+)"', block) if "/" in line and not line.startswith("../")]
            assert paths and all(path.startswith("<") for path in paths), f"{name}: {block}"
        assert "results_root" not in text and "data_root" not in text, name


def test_wildcards_are_constrained_and_no_two_outputs_are_the_same(rules: Rules, jobs: Jobs) -> None:
    outputs = [output for rule in rules.workflow.rules for output in rule.output]
    assert len(outputs) > 50 and len(set(outputs)) == len(outputs)
    for output in outputs:
        assert set(output.wildcard_constraints()) == output.get_wildcard_names(), f"{output} matches too much"
    for run in jobs.flow.study.plan.runs:
        assert all(re.fullmatch(WILDCARDS[name], str(value)) for name, value in vars(run).items())


def test_python_looks_for_files_where_the_rules_write_them(rules: Rules) -> None:
    files = (file for rule in rules.workflow.rules for file in (*rule.output, *rule.log))
    written = {strip_wildcard_constraints(file) for file in files}
    named = {**vars(WAR), "source": "real"}
    filled = {file.format(**named) for file in written if set(re.findall(r"\{(\w+)", file)) <= set(named)}
    paths = rules.flow.paths
    of_run = {paths.suspects(WAR), paths.train_log(WAR), f"{paths.run(WAR)}/result.json"}
    assert filled >= of_run | {paths.receipt("fashion_mnist", "real"), paths.data_json("fashion_mnist")}
    assert IN_RULES.receipt("{dataset}", "{source}") in TEXTS["data.smk"]


# ---- training


def test_a_training_reads_what_it_declares(rules: Rules) -> None:
    files = rules.inputs("train", **vars(WAR))
    assert files_by_role(files) == {
        "data": "results/smoke/data/fashion_mnist.npz",
        "data_json": "results/smoke/data/fashion_mnist.json",
        "noise": "results/smoke/noise/fashion_mnist/asym-40/seed0.npz",
        "noise_json": "results/smoke/noise/fashion_mnist/asym-40/seed0.json",
        "cost": "results/smoke/costs/fashion_mnist/w2v/cost.csv",
        "verified": "results/smoke/costs/fashion_mnist/w2v/verified_lam0.05_iterations20.json",
    }
    assert not [file for file in files if file.flags.get("ancient")], "Snakemake then does not look at what follows"


def test_params_of_a_training_are_its_settings_and_the_code_of_its_method(jobs: Jobs) -> None:
    assert jobs.runs.settings(wildcards()) == jobs.flow.study.settings.run(WAR).to_dict()
    names = {method: set(jobs.runs.modules(wildcards(method=method))) for method in ("war_w2v", "cce")}
    assert "methods/war.py" in names["war_w2v"] - names["cce"] and "methods/cce.py" in names["cce"] - names["war_w2v"]


def test_resources_grow_with_the_attempt_and_with_the_samples() -> None:
    paper, clothing = jobs_of("paper").runs, wildcards(dataset="clothing1m")
    assert [paper.memory(wildcards(), attempt) for attempt in (1, 2, 3, 6)] == [4000, 8000, 12000, 12000]
    assert paper.minutes(clothing, 1) == 12 * paper.predict_minutes(clothing) == 2160
    assert jobs_of().runs.minutes(clothing, 1) == 11, "stand-ins are small"


def test_the_run_that_is_trained_again_is_chosen_by_its_number_or_by_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = jobs_of().flow.study.plan
    alone = [run for run in plan.runs if not plan.needed_run(run)]
    assert [jobs_of(verify=number).runs.retrained()[0] for number in (3, 3 + len(alone))] == [alone[3]] * 2
    chosen = set()
    for day in range(1, 9):
        monkeypatch.setattr(run_jobs, "date", SimpleNamespace(today=lambda day=day: date(2026, 1, day)))
        chosen.update(jobs_of().runs.retrained())
    assert len(chosen) > 2


def test_midnight_changes_no_job_of_verify() -> None:
    """Jobs read the Snakefile again. What they do is in the names of their files; only the target reads the date."""
    one, other = Rules(verify=1), Rules(verify=2)
    assert one.inputs("verify") != other.inputs("verify")
    for rule in ("retrain", "compare_retrained"):
        assert one.inputs(rule, **vars(WAR)) == other.inputs(rule, **vars(WAR))
        assert list(one.workflow.get_rule(rule).output) == list(other.workflow.get_rule(rule).output)


# ---- maps, audits, tables, figures, report


def test_maps_are_of_tiles_and_of_the_first_seed(jobs: Jobs, rules: Rules) -> None:
    assert {run.dataset for run in jobs.runs.mapped(wildcards())} == {"vaihingen"}
    assert "results/smoke/maps/vaihingen/objects-33/training_labels/seed0" in rules.inputs("maps")


def test_an_audit_judges_runs_with_wrong_labels_and_the_report_shows_war(jobs: Jobs, rules: Rules) -> None:
    assert all(run.noise not in ("clean", "real") for run in jobs.audits.judged(wildcards()))
    table, sheet = rules.inputs("report").audit
    assert table.endswith("tables/audit.csv") and "/war" in sheet
    files = rules.inputs("audit_table")
    assert set(rules.inputs("suspects", **vars(WAR)).descriptions) <= set(files)
    by_run = {str(RunId(**run)): roles for run, roles in jobs.audits.files_by_run(wildcards(), files)}
    assert len(by_run) == len(files.audit) and all(run in roles["audit"] for run, roles in by_run.items())
    assert by_run[str(WAR)]["cost"] == "results/smoke/costs/fashion_mnist/w2v/cost.csv"
    with_images = {run: Path(roles["images"]).stem for run, roles in by_run.items() if "images" in roles}
    assert with_images and all(f"openset_{name}" in run for run, name in with_images.items())


def test_a_table_names_its_runs_and_its_cells(jobs: Jobs, rules: Rules) -> None:
    spec = jobs.tables.spec(wildcards())
    assert [*WAR.cell, 0] in spec["runs"] and WAR.cell in spec["cells"] and spec["last"]["fashion_mnist"] == 10
    assert jobs_of("readings").tables.spec(wildcards(experiment="readings"))["last"]["clothing1m"] == 1
    assert len(rules.inputs("table", experiment="main_benchmark").metrics) == len(spec["runs"])
    assert (jobs.tables.section("vaihingen"), jobs.tables.section("ablations")) == ("maps", "adversarial")


def test_a_table_may_stand_where_the_page_shows_tables() -> None:
    page = (ROOT / "src/warlab/reporting/page/results.html").read_text()
    schema = json.loads((ROOT / "workflow/schemas/experiments.schema.json").read_text())
    allowed = schema["$defs"]["Experiment"]["properties"]["section"]["enum"]
    assert allowed == re.findall(r'tables_of\("(\w+)"\)', page)


def test_a_figure_reads_what_it_needs_with_its_descriptions(rules: Rules) -> None:
    files = rules.inputs("figure", figure="matrices")
    assert len(files.cost_json) == len(files.costs) > 1 and not files.toy and not files.maps
    assert rules.inputs("figure", figure="simplex").toy == "results/common/toy.npz"


def test_the_report_knows_a_section_and_a_log_for_everything(jobs: Jobs) -> None:
    spec = jobs.page.spec()
    assert list(spec["tables"]) == jobs.flow.study.plan.tables and list(spec["figures"]) == jobs.figures.names
    assert set(spec["logs"]) == {str(run) for run in jobs.flow.study.plan.runs}
    json.dumps(spec)  # what Snakemake keeps as the job's parameters


# ---- the start of a study


def test_two_scales_of_one_name_do_not_share_a_folder(tmp_path: Path) -> None:
    text = (ROOT / "config" / "scales" / "smoke.yaml").read_text()
    files = [tmp_path / folder / "mine.yaml" for folder in ("one", "copy", "changed")]
    for file, content in zip(files, (text, text, text + "# changed\n"), strict=True):
        file.parent.mkdir()
        file.write_text(content)
    for file in files[:2]:
        jobs_of(str(file), results_root=str(tmp_path)).start()
    with pytest.raises(WarlabError) as caught:
        jobs_of(str(files[2]), results_root=str(tmp_path))
    assert str(caught.value) == (
        f"{tmp_path}/mine has the results of {files[1]}, another scale with the name of {files[2]}; rename one of the "
        "two files, or choose another results_root."
    )
    files[1].rename(tmp_path / "moved.yaml")
    jobs_of(str(files[2]), results_root=str(tmp_path))


def test_the_start_of_a_study_says_how_much_there_is_to_train(tmp_path: Path) -> None:
    jobs = jobs_of(results_root=str(tmp_path))
    runs = jobs.runs.trained()
    result = tmp_path / "smoke" / "runs" / str(runs[0]) / "result.json"
    result.parent.mkdir(parents=True)
    result.write_text("{}")
    MESSAGES.clear()
    jobs.start()
    left = re.escape(f"smoke: {len(runs)} trainings, {len(runs) - 1} without a result: about ")
    assert re.fullmatch(left + r"[0-9].* one after the other, by the reference machine\. .*", MESSAGES[-1])


# ---- runs of a finished study


def test_given_runs_are_read_in_place_of_trained_ones() -> None:
    given = Rules("sixteenth", runs_from=EVIDENCE)
    assert list(given.inputs("collect")) == [f"{EVIDENCE}/runs.csv"]
    table = given.inputs("table", experiment="main_benchmark")
    assert table.runs == "results/sixteenth/runs.csv" and not table.metrics
    report = given.inputs("report")
    assert list(report.predictions) == [f"{EVIDENCE}/test_predictions.npz"]
    assert not any(report[role] for role in ("results", "data", "noise", "costs", "audit"))
    assert not given.inputs("maps") and not given.inputs("audit")
    jobs = given.workflow.globals["jobs"]
    assert jobs.runs.declared() and "matrices" not in jobs.figures.names
    assert jobs.figures.left_out()["figure matrices"] == "given runs come without costs"


def test_without_given_runs_the_predictions_are_one_file(jobs: Jobs, rules: Rules) -> None:
    assert list(rules.inputs("claims").predictions) == ["results/smoke/test_predictions.npz"]
    assert not any("vaihingen" in file for file in rules.inputs("collect_predictions"))
    assert jobs.runs.declared() is None


@pytest.mark.parametrize(
    ("folder", "config", "sentence"),
    [
        ("https://example.org/rules", {}, "clone the repository"),
        (str(ROOT / "rules"), {"runs_from": "nowhere"}, "runs_from names nowhere, which has no runs.csv; name"),
        (str(ROOT / "rules"), {"scale": "smok"}, "There is no scale 'smok' in config/scales; did you mean 'smoke'"),
        (str(ROOT / "rules"), {"epochs": 3}, "unknown key 'epochs' at the top level"),
    ],
)
def test_a_mistake_is_one_sentence(folder: str, config: dict, sentence: str) -> None:
    with pytest.raises(WarlabError, match=re.escape(sentence)):
        load_jobs({"scale": "smoke", **config}, folder, MESSAGES.append)


def test_without_latex_the_pdf_is_left_out_and_that_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    MESSAGES.clear()
    tables = jobs_of().tables
    assert not tables.latex and not tables.latex
    assert MESSAGES == ["pdflatex not found: skipping tables.pdf (the .tex files are still written)."]
