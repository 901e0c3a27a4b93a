"""The workflow end to end at smoke scale, and what it plans after a change: no more and no less than needed."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.helpers import golden_runs
from tests.helpers.checkout import copy_repository, link_repository, output_of, planned_jobs, run
from tests.helpers.studies import study_of
from tests.reporting.test_latex import assert_fits, pdflatex
from warlab.artefacts.ground_cost import Verification
from warlab.common.files import read_json
from warlab.config.study import load_study
from warlab.pipeline.run_times import overview
from warlab.reporting.page import category

TYPESET = {"typeset": 1} if shutil.which("pdflatex") else {}  # without LaTeX the .tex files stand


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(["snakemake", "--config", "scale=smoke", *arguments], folder)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which the smoke scale has run."""
    folder = copy_repository(tmp_path_factory.mktemp("workflow"))
    done = snakemake(folder, "--cores", "2")
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def test_numbers_are_those_that_were_recorded(finished: Path) -> None:
    """To the last bit on the same processor; elsewhere rounding may move a loss a little and an image or two."""
    golden, same_processor = golden_runs.recorded()
    made = golden_runs.read(finished / "results" / "smoke" / "runs.csv")
    spelled = made.xs("war_w2v+beta=10", level="method")  # not recorded: the default, written out
    pd.testing.assert_frame_equal(spelled, made.xs("war_w2v", level="method").loc[spelled.index], check_exact=True)
    made = made.drop(index="war_w2v+beta=10", level="method")
    assert list(made.index) == list(golden.index) and set(made) == set(golden)
    if same_processor:
        pd.testing.assert_frame_equal(made[golden.columns], golden, check_exact=True)
    else:
        np.testing.assert_allclose(made["loss"], golden["loss"], rtol=0.05)
        np.testing.assert_allclose(made["test_accuracy"], golden["test_accuracy"], atol=10)


@pytest.fixture
def changed(finished: Path) -> Iterator[Path]:
    """The finished copy, to be edited; sources and configuration are put back afterwards."""
    yield finished
    for name in ("src", "config", "workflow"):
        shutil.rmtree(finished / name)
        shutil.copytree(ROOT / name, finished / name)


def planned(folder: Path, *arguments: str) -> dict[str, int]:
    return planned_jobs(output_of(["snakemake", "--config", "scale=smoke", "-n", *arguments], folder))


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
    file.write_text(text.replace(old, new))


# ---- what comes out


def test_every_promised_file_is_there(finished: Path) -> None:
    results = finished / "results" / "smoke"
    run = results / "runs" / "fashion_mnist" / "asym-40" / "cnn9" / "war_w2v" / "seed0"
    for file in ("metrics.csv", "result.json", "weights.pt", "test_predictions.npz", "audit.npz"):
        assert (run / file).stat().st_size > 0
    audit = results / "audit" / run.relative_to(results / "runs")  # the one in the report
    assert (audit / "suspects.png").stat().st_size > 1000 and (audit / "suspects.csv").stat().st_size > 0
    assert set(pd.read_csv(results / "tables" / "audit.csv")["dataset"]) >= {"fashion_mnist", "vaihingen"}
    assert not (run / "checkpoint").exists()
    for table in ("main_benchmark", "ar_war_variants"):
        for ending in ("csv", "md", "tex"):
            assert (results / "tables" / f"{table}.{ending}").stat().st_size > 0
    for file in ("claims.csv", "claims.md", "statistics.csv", "readings.csv", "tables/architectures.tex"):
        assert (results / file).stat().st_size > 0
    assert (results / "tables.pdf").exists() == bool(TYPESET)
    for figure in (
        "learning_curves",
        "matrices",
        "flipped_samples",
        "simplex",
        "activations",
        "audit",
    ):
        for ending in ("pdf", "png"):
            assert (results / "figures" / f"{figure}.{ending}").stat().st_size > 1000


@pdflatex
def test_the_tables_of_a_scale_compile_alone_and_fit(finished: Path, tmp_path: Path) -> None:
    tables = sorted((finished / "results" / "smoke" / "tables").glob("*.tex"))
    assert {"hyperparameters.tex", "architectures.tex", "main_benchmark.tex"} <= {path.name for path in tables}
    for path in tables:
        assert_fits(path.read_text(), tmp_path)


def test_report_is_whole_and_marked(finished: Path) -> None:
    page = (finished / "results" / "smoke" / "report.html").read_text()
    assert page.count("data:image/") >= 3 and "stand-in" in page
    assert not re.search(r"(src|href)=\"https?://", page.replace('<a href="http', ""))


def test_every_cost_was_verified_before_training(finished: Path) -> None:
    for folder in (finished / "results" / "smoke" / "costs" / "fashion_mnist").iterdir():
        file = folder / "verified_lam0.05_iterations20.json"
        checks = {check.name for check in Verification.load(file).checks}
        assert read_json(file)["passed"] and {"plan against POT", "exact transport below"} <= checks
        assert file.stat().st_mtime <= (finished / "results/smoke/runs.csv").stat().st_mtime


def test_all_methods_of_a_cell_share_the_noise_file(finished: Path) -> None:
    runs = (finished / "results" / "smoke" / "runs" / "fashion_mnist" / "asym-40" / "cnn9").iterdir()
    hashes = {read_json(run / "seed0" / "result.json")["inputs"]["noise"] for run in runs}
    assert len(hashes) == 1


def test_only_what_another_run_reads_is_predicted(finished: Path) -> None:
    runs = finished / "results" / "smoke" / "runs"
    assert [path.parts[-3] for path in runs.rglob("predictions.npz")] == ["cce_early"]
    forward = read_json(runs / "fashion_mnist" / "asym-40" / "cnn9" / "forward" / "seed0" / "result.json")
    assert "predictions" in forward["inputs"]


def test_the_main_benchmark_has_every_method_and_their_ranks(finished: Path) -> None:
    table = pd.read_csv(finished / "results" / "smoke" / "tables" / "main_benchmark.csv")
    measured, ranks = (table[table.metric == metric] for metric in ("test_accuracy", "average_rank"))
    assert len(measured) == 16 and measured["mean"].notna().all()
    assert ranks["mean"].sum() == pytest.approx(16 * 17 / 2, abs=1) and set(ranks.noise) == {"noisy"}


def test_tiles_become_a_table_of_scores_and_maps(finished: Path) -> None:
    results = finished / "results" / "smoke"
    table = pd.read_csv(results / "tables" / "vaihingen.csv")
    assert len(table) == 42 and table["mean"].between(0, 100).all() and set(table.data) == {"stand-in"}
    assert table.published.notna().all() and table.metric.nunique() == 7
    header = (results / "tables" / "vaihingen.md").read_text().splitlines()[0]
    assert header.split(" | ")[1:4] == ["score", "CCE (clean)", "CCE"]
    maps = results / "maps" / "vaihingen" / "objects-33"
    corrupted = sorted(path.name for path in (maps / "training_labels" / "seed0").glob("*.png"))
    assert corrupted == [f"procedural_tiles_area{name}.png" for name in (1, 3, 5)]
    for method in ("cce", "bootsoft", "coteaching", "ar", "war_w2v"):
        assert (maps / "unet" / method / "seed0" / "tiles" / "procedural_tiles_area12.png").stat().st_size > 100
    for figure in ("corrupted_truth", "segmentation_maps"):
        assert "procedural tiles" in (results / "figures" / f"{figure}.txt").read_text()
    manifest = read_json(results / "noise" / "vaihingen" / "objects-33" / "seed0.json")
    assert 0 < manifest["objects"]["realised_share"] < 0.6 and 0 < manifest["realised_rate"] < 1


def test_every_experiment_has_its_table(finished: Path) -> None:
    tables = finished / "results" / "smoke" / "tables"
    for name in load_study({"scale": "smoke"}, finished).scale["experiments"]:
        table = pd.read_csv(tables / f"{name}.csv")
        assert table["mean"].notna().any() and (tables / f"{name}.md").stat().st_size > 0, name
    clothing = pd.read_csv(tables / "clothing1m.csv").set_index(["metric", "method"])
    assert clothing.loc[("best_on_validation", "war_w2v"), "mean"] >= 0  # of runs that log a validation
    purity = pd.read_csv(tables / "coteaching_plus.csv").set_index("metric")["mean"]
    assert 0 < purity["purity"] <= 100
    timing = pd.read_csv(tables / "timing.csv")
    assert timing[timing.metric == "ratio"].published.round(2).isin([1.13, 2.89, 3.28, 1.22, np.nan]).all()
    folders = finished / "results" / "smoke" / "costs" / "cifar10"
    assert {"random.0", "random.1", "random_raw.0"} <= {path.name for path in folders.iterdir()}


# ---- what is planned after a change


def test_nothing_to_do_after_a_finished_run(finished: Path) -> None:
    assert planned(finished) == {}


def test_one_hyper_parameter_reruns_the_trainings_that_use_it(changed: Path) -> None:
    edit(
        changed / "src" / "warlab" / "methods" / "ar.py",
        'beta: float = setting(5.0, "paper", minimum=0)',
        'beta: float = setting(4.0, "our choice", minimum=0)',
    )
    assert planned(changed, "runs") == {"train": 3, "collect": 1, "runs": 1, "total": 5}
    after = planned(changed)
    assert after.pop("total") == sum(after.values())
    # Everything that reads these runs follows: their tables, and no figure of costs, samples or the toy. The seconds of
    # a step are also measured again.
    read = {"table": 2, "audit_table": 1, "figure": 8, "segment": 1, "statistics": 1, "claims": 1, "report": 1}
    timing = {"time_steps": 2, "timing_table": 1, "hyperparameters": 1}
    assert after == {"train": 3, "collect": 1, "collect_predictions": 1, **read, **timing, **TYPESET, "all": 1}


def test_a_changed_figure_reruns_that_figure_and_the_report(changed: Path) -> None:
    file = changed / "src" / "warlab" / "reporting" / "figures" / "matrices.py"
    file.write_text(file.read_text() + "\nUNUSED = 1\n")
    assert planned(changed) == {"figure": 1, "report": 1, "all": 1, "total": 3}
    assert "figure=matrices" in snakemake(changed, "-n").stdout


def test_a_colour_reruns_the_figures_only(changed: Path) -> None:
    edit(changed / "src" / "warlab" / "reporting" / "warlab.mplstyle", "grid.color: DDDDDD", "grid.color: CCCCCC")
    after = planned(changed)
    assert after["figure"] >= 11 and set(after) == {"figure", "report", "all", "total"}


def test_the_metrics_of_one_run_rerun_its_tables_only(finished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    metrics = copy / "results/smoke/runs/fashion_mnist/asym-40/cnn9/pencil/seed0/metrics.csv"
    rows = pd.read_csv(metrics)
    rows.assign(test_accuracy=rows["test_accuracy"] + 1).to_csv(metrics, index=False)  # as after another training
    after = snakemake(copy, "-n", "tables").stdout
    assert re.findall(r"experiment=(\w+)", after) == ["main_benchmark"]


def test_finished_runs_are_reported_without_training(finished: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    shutil.copy(finished / "results" / "smoke" / "runs.csv", given)
    config = (f"runs_from={given}", f"results_root={tmp_path / 'results'}")
    done = snakemake(finished, *config, "-n")
    counts = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout, re.MULTILINE))
    work = {"train", "prepare", "fetch", "corrupt", "cost", "segment", "time_steps"}
    assert done.returncode == 0 and not work & set(counts)
    assert int(counts["table"]) == len(study_of("smoke").plan.tables) and counts["report"] == "1"
    made = snakemake(finished, *config, "--cores", "2", f"{tmp_path}/results/smoke/tables/main_benchmark.csv")
    assert made.returncode == 0, made.stderr[-2000:]
    both = [
        pd.read_csv(root / "smoke/tables/main_benchmark.csv") for root in (finished / "results", tmp_path / "results")
    ]
    pd.testing.assert_frame_equal(*both)
    nothing = snakemake(finished, f"runs_from={tmp_path}", "-n")
    assert nothing.returncode == 1 and "has no runs.csv" in nothing.stdout + nothing.stderr


def test_verify_trains_one_run_again(finished: Path) -> None:
    done = snakemake(finished, "verify=3", "--cores", "1", "verify")
    assert done.returncode == 0, done.stderr[-2000:]
    (comparison,) = (finished / "results" / "smoke" / "verify").rglob("comparison.json")
    assert read_json(comparison)["largest"] == 0 and "the same in every epoch" in done.stderr


def test_snakemakes_own_report_works(finished: Path) -> None:
    done = snakemake(finished, "--report", "own.html")
    assert done.returncode == 0, done.stderr[-2000:]
    page = (finished / "own.html").read_text()
    assert all(category(section) in page for section in ("results", "audit", "claims", "statistics"))
    assert all(word in page for word in ("main_benchmark", "learning_curves"))


def test_a_new_noise_trains_only_what_is_new(changed: Path) -> None:
    edit(
        changed / "config" / "scales" / "smoke.yaml",
        "noises: [clean, asym-40]",
        "noises: [clean, asym-40, asym_code-40]",
    )
    after = planned(changed, "runs")
    assert after["train"] == 5 and after["corrupt"] == 1 and "prepare" not in after


# ---- wrong input


def test_a_wrong_configuration_is_one_sentence(tmp_path: Path) -> None:
    done = snakemake(link_repository(tmp_path), "-n", "--config", "scale=smok")
    said = done.stdout + done.stderr
    sentence = "There is no scale 'smok' in config/scales; did you mean 'smoke'?"
    assert done.returncode == 1 and sentence in said and "Traceback" not in said


@pytest.mark.parametrize("scale", ["demo", "paper", "readings"])
def test_the_larger_scales_can_be_planned(scale: str, tmp_path: Path) -> None:
    trainings = planned_jobs(output_of(f"snakemake -n --config scale={scale}", link_repository(tmp_path)))["train"]
    (counted,) = re.findall(rf"^{scale} +(\d+) ", overview({"scale": scale}, ROOT), re.MULTILINE)
    assert trainings == int(counted) > 0, "the plan and the dry run agree"


def test_plan_names_every_scale_and_status_counts_the_finished_runs(finished: Path) -> None:
    done = snakemake(finished, "--cores", "1", "plan", "status")
    assert done.returncode == 0, done.stderr[-2000:]
    for scale in ("smoke", "demo", "laptop", "cifar", "sixteenth", "quarter", "paper", "readings"):
        assert re.search(rf"^{scale} +\d+ +\d+ +[\d.]+", done.stdout, re.MULTILINE)
    assert re.search(r"^smoke: (\d+) runs, \1 done$", done.stdout, re.MULTILINE)
