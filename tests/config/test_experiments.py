"""The experiments beyond the benchmarks: their cells, schedules, quoted columns, random costs and times."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tests.helpers.reports import PUBLISHED
from tests.helpers.studies import study_of
from warlab.config.study import Study
from warlab.engine.timing import seconds_per_epoch
from warlab.errors import WarlabError
from warlab.ids import RunId, places_of
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs
from warlab.reporting.read.results import read_published, summarise
from warlab.reporting.tables import plain
from warlab.reporting.tables.results_table import add_quoted, tidy, to_markdown
from warlab.reporting.tables.timing_table import COLUMNS, is_reduced, timing_legend, timing_rows, timing_table


@pytest.fixture(scope="module")
def paper() -> Study:
    return study_of("paper")


@pytest.fixture(scope="module")
def smoke() -> Study:
    return study_of("smoke")


# ---- which runs


def test_every_experiment_of_the_paper_is_in_both_scales(paper: Study, smoke: Study) -> None:
    known = {name for name in paper.experiments if set(paper.experiments[name]["datasets"]) != {"vaihingen"}}
    # what the paper leaves open, what came after it, and own data: scales of their own
    known -= {"readings", "code_readings", "open_set_epsilon", "human_labels", "tiles"}
    known = {name for name in known if not name.startswith(("field", "sentiment"))}
    assert known - {"ablations"} <= set(paper.scale["experiments"]) and known <= set(smoke.scale["experiments"])
    assert {"clothing1m", "open_set", "coteaching_plus", "random_costs", "timing"} <= known
    assert all(smoke.plan.cells(name) for name in known)


def test_the_runs_of_the_smaller_tables(paper: Study) -> None:
    """Own columns alone; what the benchmarks have trained already is not trained again."""
    names = ("main_benchmark", "ar_war_variants", "beta_sensitivity")
    benchmarks = {cell for name in names for cell in paper.plan.cells(name)}
    expected = {  # cells, and how many of them are new
        "clothing1m": (4, 4),
        "open_set": (2 * 4, 8),
        "coteaching_plus": (2 * 2 * 2, 6),
        "random_costs": (20 + 2, 20),
        "random_costs_raw": (20 + 2, 20),
    }
    for name, (cells, new) in expected.items():
        trained = set(paper.plan.cells(name))
        assert (len(trained), len(trained - benchmarks)) == (cells, new), name
    published = pd.read_csv(PUBLISHED)
    for name in ("clothing1m", "open_set", "coteaching_plus"):
        printed = set(published[(published.experiment == name) & ~published.noise.str.startswith("unspec")].method)
        assert printed == {cell.method for cell in paper.plan.cells(name)} | set(paper.plan.quoted(name))


def test_what_the_paper_leaves_open_is_in_a_scale_of_its_own() -> None:
    own = study_of("readings")
    assert own.plan.tables == ["readings", "code_readings", "open_set_epsilon"]
    shown = {(cell.dataset, cell.noise, cell.method) for name in own.plan.tables for cell in own.plan.cells(name)}
    assert {
        ("cifar100", "asym_code-40", "war_w2v_code"),
        ("fashion_mnist", "asym_code-20", "war_w2v"),
        ("cifar10", "openset_svhn-40", "war_w2v+epsilon=0.5"),
        ("clothing1m", "real", "jocor+scale=cross_entropy"),
        ("cifar100", "asym-40", "coteaching_plus+init_epoch=20"),
        ("fashion_mnist", "asym-40", "sl+a=0.01"),
        ("cifar10", "asym-40", "pencil+last_stage=restart"),
        ("cifar10", "asym-40", "coteaching+forget=estimated"),
        ("cifar10", "asym-40", "cce"),
    } <= shown
    assert not any(method.endswith("one_drop") and dataset != "cifar10" for dataset, _, method in shown)


def test_the_authors_slip_in_the_learning_rate_is_a_method_of_its_own() -> None:
    own = study_of("readings")
    slip, plain = (own.settings.training("cifar10", "asym-40", name) for name in ("war_w2v_one_drop", "war_w2v"))
    assert slip["drops"] == [40] and plain["drops"] == [40, 80]
    assert {**slip, "drops": []} == {**plain, "drops": []}
    assert own.settings.method("war_w2v_one_drop", "cifar10") == own.settings.method("war_w2v", "cifar10")


def test_nothing_is_timed_by_training_it(paper: Study) -> None:
    assert not {"imagenet32", "svhn"} & {cell.dataset for cell in paper.plan.runs}
    assert [(cell.dataset, cell.method) for cell in paper.plan.timed] == [
        (dataset, method) for dataset in ("cifar10", "imagenet32") for method in ("cce", "ar", "war_01", "war_code")
    ]
    assert "timing" not in paper.plan.tables


@pytest.mark.parametrize(
    ("dataset", "method", "says"),
    [
        ("cifar10", "cce+training.batch_size=32", "changes batch_size, but all methods are timed with one schedule"),
        ("cifar10", "cce_dropout", "changes dropout, but all methods"),
        ("image_folder", "cce", "image_folder is no set of images of a known number"),
        ("vaihingen", "cce", "vaihingen is no set of images"),
    ],
)
def test_what_the_times_would_not_be_of_is_refused(dataset: str, method: str, says: str, tmp_path: Path) -> None:
    net = "unet" if dataset == "vaihingen" else "cnn9"
    scale = {"description": "times", "datasets": {dataset: {"source": "stand_in"}}}
    timing = {"datasets": [dataset], "nets": [net], "methods": [method], "steps": {dataset: 2}}
    (tmp_path / "times.yaml").write_text(yaml.safe_dump({**scale, "experiments": {"timing": timing}}))
    with pytest.raises(WarlabError, match=says):
        study_of(str(tmp_path / "times.yaml"), local_data={"image_folder": "x"})


def test_twenty_random_costs_have_twenty_folders(paper: Study) -> None:
    for name, kind in (("random_costs", "abs_sym"), ("random_costs_raw", "raw")):
        cells = [cell for cell in paper.plan.cells(name) if cell.method.startswith("war_random")]
        keys = [paper.settings.cost_key(cell) for cell in cells]
        specs = [paper.settings.cost(str(key), "cifar10") for key in keys]
        assert len(set(keys)) == 20 and [one["seed"] for one in specs] == list(range(20))
        assert {one["variant"] for one in specs} == {kind}
        costs = [make_cost(one.pop("kind"), CostInputs("abcdefghij", "abcdefghij"), one).matrix for one in specs]
        assert len({cost.tobytes() for cost in costs}) == 20
    for wrong in ("random.x", "w2v.3", "randon.3"):
        with pytest.raises(WarlabError, match=wrong.split(".")[0]):
            paper.settings.cost(wrong, "cifar10")


# ---- numbers at a place


def test_open_set_has_its_own_schedule_and_scaling(paper: Study, smoke: Study) -> None:
    for noise in ("openset_svhn-40", "openset_imagenet32-40"):
        run = paper.settings.run(RunId("cifar10", noise, "cnn6", "war_w2v", 0))
        assert run.training == {
            "epochs": 100,
            "batch_size": 128,
            "optimiser": "sgd",
            "lr": 0.01,
            "drops": [40, 80],
            "weight_decay": 0.0001,
            "momentum": 0.9,
            "validation": 0.0,
            "keep": "last",
            "evaluate_every": 1,
            "mean": [0.5] * 3,
            "std": [0.5] * 3,
        }
        assert run.method.settings["warmup"] == 15
    assert paper.settings.training("cifar10", "asym-40")["epochs"] == 120 and "mean" not in paper.settings.training(
        "cifar10", "asym-40"
    )
    short = smoke.settings.training("cifar10", "openset_svhn-40")
    assert (short["epochs"], short["optimiser"], short["drops"]) == (3, "sgd", [1, 2])  # the scale's epochs count


def test_a_number_may_depend_on_the_noise(paper: Study) -> None:
    a = {
        noise: paper.settings.method("sl", "cifar100", noise)["a"]
        for noise in ("clean", "asym-20", "asym-40", "sym-40")
    }
    assert a == {"clean": 6.0, "asym-20": 6.0, "asym-40": 2.0, "sym-40": 6.0}
    assert paper.settings.method("sl", "cifar10", "asym-40")["a"] == 0.1


def test_places_go_from_the_general_to_the_special() -> None:
    assert places_of("cifar10", "openset_svhn-40", "pencil") == [
        "cifar10",
        "cifar10@openset",
        "cifar10@openset_svhn",
        "cifar10@openset_svhn-40",
        "cifar10@pencil",
    ]
    assert places_of("cifar10") == ["cifar10"]


def test_overrides_win_over_the_scale() -> None:
    wish = {"training": {"cifar10@openset": {"epochs": 7}, "cifar10": {"epochs": 5}}, "nets": {"cnn9": {"width": 2}}}
    own = study_of("smoke", overrides=wish).settings
    assert [own.training("cifar10", noise)["epochs"] for noise in ("", "openset_svhn-40")] == [5, 7]
    assert own.net("cnn9", "cifar10")["width"] == 2
    with pytest.raises(WarlabError, match="no schedule for svhn"):
        own.training("svhn")


# ---- tables


def runs(**columns: list[float]) -> pd.DataFrame:
    n = len(columns["test_accuracy"])
    cell = {"dataset": "clothing1m", "noise": "real", "net": "resnet50", "method": "war_w2v", "seed": 0, "data": "real"}
    return pd.DataFrame({**{key: [value] * n for key, value in cell.items()}, "epoch": range(1, n + 1), **columns})


def test_the_best_epoch_is_chosen_by_validation_and_never_by_the_test() -> None:
    given_runs = runs(test_accuracy=[10.0, 60.0, 50.0, 40.0], val_accuracy=[1.0, 2.0, 9.0, 9.0])
    found = summarise(given_runs, 1, ["test_accuracy", "best_on_validation"]).set_index("metric")["mean"]
    assert found.to_dict() == {"test_accuracy": 40.0, "best_on_validation": 50.0}
    without = summarise(given_runs.drop(columns="val_accuracy"), 1, ["best_on_validation"])
    assert without["mean"].isna().all() and len(without) == 1


def test_quoted_columns_have_the_published_number_and_no_run(paper: Study) -> None:
    cells, metrics = paper.plan.layout("clothing1m"), ["test_accuracy", "best_on_validation"]
    given_runs = runs(test_accuracy=[70.0, 71.0], val_accuracy=[70.0, 60.0])
    published = read_published(PUBLISHED, "clothing1m")
    table = tidy(summarise(given_runs, 1, metrics), cells, published, (), metrics).set_index(["metric", "method"])
    assert table.loc[("test_accuracy", "war_w2v"), ["mean", "published"]].tolist() == [71.0, 71.61]
    assert table.loc[("best_on_validation", "war_w2v"), ["mean", "published"]].tolist() == [70.0, 72.20]
    assert table.loc[("best_on_validation", "jof"), "published"] == 72.16
    assert table.loc[("test_accuracy", "cce_quoted"), "published"] == 68.80
    assert math.isnan(table.loc[("test_accuracy", "gce"), "mean"])
    title = add_quoted("Clothing1M", paper.plan.quoted("clothing1m"), paper.labels)
    assert title.endswith("run neither there nor here: CCE, Bootsoft, D2L, GCE, SL, Forward, JOF")
    text = to_markdown(table.reset_index(), "methods_as_rows", paper.labels, title)
    assert "epoch of the best validation" in text and "71.61 (−0.61)" in text and "CCE (quoted)" in text


# ---- times


def test_times_are_of_whole_steps_of_all_methods(smoke: Study) -> None:
    spec = smoke.plan.timing("cifar10", "cnn9")
    assert spec["shape"] == [3, 16, 16] and spec["images"] == 50_000 and spec["classes"] == 10
    assert smoke.plan.timing("imagenet32", "cnn9")["classes"] == 1000
    spec["training"] = {**spec["training"], "batch_size": 4}
    found = seconds_per_epoch({**spec, "steps": 3})
    assert list(found) == ["cce", "ar", "war_01", "war_code"]
    for times in found.values():
        assert times["step"] > 0 and times["epoch"] == pytest.approx(times["step"] * 12_500)
    assert found["cce"]["step"] < found["war_code"]["step"]


def timed(dataset: str, **seconds: float) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "noise": "clean",
        "net": "cnn9",
        "seconds": {method: {"step": value / 196, "epoch": value} for method, value in seconds.items()},
    }


def test_ratios_stand_beside_the_published_ones(paper: Study) -> None:
    measured = [timed("cifar10", cce=10, ar=20, war_01=25, war_code=30), timed("imagenet32", ar=100, war_01=110)]
    table = timing_table(measured, read_published(PUBLISHED, "timing"))
    ratios = table[table.metric == "ratio"].set_index(["dataset", "method"])
    assert ratios["mean"].to_dict() == {
        ("cifar10", "war_01/ar"): 1.25,
        ("cifar10", "ar/cce"): 2.0,
        ("cifar10", "war_01/cce"): 2.5,
        ("cifar10", "war_code/cce"): 3.0,
        ("cifar10", "war_code/ar"): 1.5,
        ("imagenet32", "war_01/ar"): 1.1,
    }
    published = [1.13, 2.89, 3.28, 3.28, 1.13, 1.215]  # as the paper's seconds give them
    np.testing.assert_allclose(ratios["published"], published, atol=0.005)
    legend = timing_legend("Seconds per epoch", "one core", reduced=False)
    text = plain.to_markdown(timing_rows(table, paper.labels), COLUMNS, legend)
    assert "| CIFAR-10 | WAR<sub>0-1</sub> / AR | 1.25 | 1.13 |" in text and "on one core" in text
    assert "narrower" not in text
    assert "narrower" in timing_legend("Seconds per epoch", "one core", reduced=True)


def test_a_small_scale_is_not_compared_with_the_paper(paper: Study, smoke: Study) -> None:
    def reduced(study: Study) -> bool:
        return is_reduced({"dataset": "cifar10", "spec": study.plan.timing("cifar10", "cnn9")})

    assert reduced(smoke) and not reduced(paper)


def test_a_gated_data_set_stops_only_what_needs_it(paper: Study) -> None:
    """Data sets are inputs of their own jobs, and the profile goes on with the others."""
    assert "keep-going: true" in (ROOT / "profiles" / "default" / "profile.yaml").read_text()
    left_out = replace(paper, scale={**paper.scale, "datasets": {"cifar10": {"source": "real"}}})
    assert {cell.dataset for name in ("clothing1m", "coteaching_plus") for cell in left_out.plan.cells(name)} == {
        "cifar10"
    }
