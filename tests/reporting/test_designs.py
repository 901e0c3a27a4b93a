"""Tables, ranks, claims and headlines of designs that are no full product, with settings that differ by noise."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers.reports import LABELS, PUBLISHED, caption, draw, runs_table, texts
from warlab.reporting.figures.base import Inputs
from warlab.reporting.page.context import Context, TableSection
from warlab.reporting.page.curves import make_panels
from warlab.reporting.page.opening import make_headlines
from warlab.reporting.read import results
from warlab.reporting.tables import results_table, statistics_table
from warlab.reporting.tables.grid import grid, legend
from warlab.reporting.tables.results_table import ranks

Key = tuple[str, str, str]
METHODS = ("cce", "sl", "war_w2v")
# two settings of CIFAR-10, one of Fashion-MNIST at another noise, one of another network: no full product
SETTINGS = [
    ("cifar10", "clean", "cnn9"),
    ("cifar10", "asym-40", "cnn9"),
    ("fashion_mnist", "asym-20", "cnn9"),
    ("cifar10", "pairflip-40", "cnn2"),
]


def runs_of(setting: Key, values: dict[tuple[str, int], list[float]]) -> pd.DataFrame:
    return runs_table(values).assign(**dict(zip(("dataset", "noise", "net"), setting, strict=True)))


def design(settings: list[Key] = SETTINGS, methods: tuple[str, ...] = METHODS, epochs: int = 3) -> pd.DataFrame:
    """In every setting the methods stand in the order of their names, ten points apart."""
    level = {method: 50.0 + 10 * place for place, method in enumerate(methods)}
    parts = [
        runs_of(setting, {(m, s): [level[m] + s] * epochs for m in methods for s in range(2)}) for setting in settings
    ]
    return pd.concat(parts, ignore_index=True).astype({"epoch": "Int64"})


def cells_of(settings: list[Key], methods: tuple[str, ...]) -> list[dict[str, str]]:
    return [dict(zip(results.CELL, (*setting, method), strict=True)) for setting in settings for method in methods]


def table_of(runs: pd.DataFrame, settings: list[Key], methods: tuple[str, ...] = METHODS, **given: Any) -> pd.DataFrame:
    summary = results.summarise(runs)
    published = results.read_published(PUBLISHED, "main_benchmark")
    return results_table.tidy(summary, cells_of(settings, methods), published, given.get("ranks", ("all", "noisy")))


def of_ranks(table: pd.DataFrame, group: str = "all") -> pd.DataFrame:
    return table[(table["metric"] == "average_rank") & (table["noise"] == group)].set_index("method")


# ---- ranks


def test_ranks_of_settings_that_are_no_full_product() -> None:
    table = table_of(design(), SETTINGS)
    assert of_ranks(table)["mean"].to_dict() == {"cce": 3.0, "sl": 2.0, "war_w2v": 1.0}
    assert of_ranks(table, "noisy")["mean"].notna().all()


@pytest.mark.parametrize("missing", [("cifar10", "pairflip-40", "cnn2", "sl"), ("cifar10", "clean", "cnn9", "cce")])
def test_a_declared_cell_without_a_run_still_takes_the_ranks_away(missing: tuple[str, ...]) -> None:
    runs = design()
    runs = runs[(runs[list(results.CELL)] != list(missing)).any(axis=1)]
    table = table_of(runs, SETTINGS)
    assert ranks(table[table["metric"] == "test_accuracy"]).isna().all()
    own = table_of(runs.assign(dataset="image_folder"), [("image_folder", *setting[1:]) for setting in SETTINGS[:2]])
    assert len(of_ranks(own)) == (3 if missing[1] != "clean" else 0), "a row with nothing in it is left out"


# ---- the user's own data


def test_own_data_have_their_own_ranks_and_nothing_of_the_paper() -> None:
    own = [("image_folder", "sym-40", "cnn9"), ("image_folder", "clean", "cnn9")]
    table = table_of(design(own), own)
    assert table["published"].isna().all() and of_ranks(table)["mean"].tolist() == [3.0, 2.0, 1.0]
    assert "The paper's ranks" not in legend(grid(table))
    assert "paper" not in results_table.to_markdown(table, "methods_as_columns", LABELS)


def test_the_papers_ranks_stand_where_its_settings_are_ranked() -> None:
    paper = [("fashion_mnist", "asym-40", "cnn9"), ("cifar10", "asym-40", "cnn9")]
    table = table_of(design(paper), paper)
    assert of_ranks(table, "noisy")["published"].notna().all() and "The paper's ranks" in legend(grid(table))
    mixed = [*paper, ("image_folder", "sym-40", "cnn9")]
    assert of_ranks(table_of(design(mixed), mixed), "noisy")["published"].isna().all()


def test_the_figure_of_beta_has_no_panel_for_a_setting_that_was_not_varied() -> None:
    varied = runs_of(("cifar10", "asym-40", "cnn9"), {("war_w2v+beta=10", 0): [70.0], ("war_w2v+beta=1", 0): [60.0]})
    others = [runs_of(("cifar10", noise, "cnn9"), {("war_w2v", 0): [50.0]}) for noise in ("clean", "asym-20")]
    runs = pd.concat([varied, *others], ignore_index=True).astype({"epoch": "Int64"})
    inputs = Inputs(runs=runs, published=results.read_published(PUBLISHED), labels=LABELS)
    assert len(draw("beta_sensitivity", inputs).axes) == 1


def test_the_figure_of_beta_takes_the_seeds_that_all_its_points_share() -> None:
    """The usual β has three seeds, the last two far above the first; β = 1 has the first alone."""
    usual = {("war_w2v+beta=10", seed): [70.0 + 10 * seed] for seed in range(3)}
    runs = runs_of(("cifar10", "asym-40", "cnn9"), usual | {("war_w2v+beta=1", 0): [60.0]}).astype({"epoch": "Int64"})
    inputs = Inputs(runs=runs, labels=LABELS)
    (axes,) = draw("beta_sensitivity", inputs).axes
    drawn = [list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines if len(line.get_xdata())]
    assert drawn == [[(1.0, 60.0), (10.0, 70.0)]]
    assert "this scale, 1 run each, the same seeds" in caption("beta_sensitivity", inputs)


def test_beta_with_another_changed_setting_is_not_a_point_of_its_method() -> None:
    at = ("cifar10", "asym-40", "cnn9")
    runs = runs_of(at, {("war_w2v+beta=1", 0): [60.0], ("war_w2v+beta=5+epsilon=0", 0): [99.0]})
    (axes,) = draw("beta_sensitivity", Inputs(runs=runs.astype({"epoch": "Int64"}), labels=LABELS)).axes
    assert [list(line.get_ydata()) for line in axes.lines if len(line.get_xdata())] == [[60.0]]


# ---- cells that lack a seed


def with_a_gap() -> pd.DataFrame:
    """Three methods, three seeds; the last seed of CCE is missing, and the two others of it are far off."""
    level = {"cce": 10.0, "ar": 75.0, "war_w2v": 80.0}
    runs = runs_table({(m, s): [v + s] for m, v in level.items() for s in range(3)}).astype({"epoch": "Int64"})
    gone = (runs["method"] == "cce") & (runs["seed"] == 2)
    return runs.assign(epoch=runs["epoch"].mask(gone), test_accuracy=runs["test_accuracy"].mask(gone))


def test_no_statistic_averages_the_seeds_that_happen_to_be_there() -> None:
    runs = with_a_gap()
    assert np.isnan(results.summarise(runs).set_index("method").loc["cce", "mean"])
    cells = [("fashion_mnist", "asym-40", "cnn9", method) for method in ("cce", "ar", "war_w2v")]
    per_run = results.add_complete_flag(results.readings(runs), runs)
    found = statistics_table.statistics(per_run, {"x": {"cells": cells}}, results.read_published(PUBLISHED))
    found = found[found["reading"] == "last10_mean"].set_index("test")
    assert set(found.loc["interval", "subject"]) == {f"fashion_mnist asym-40 cnn9 {m}" for m in ("ar", "war_w2v")}
    assert found.loc["kendall", "cells"] == 2, "CCE has no mean to be put in order"


def test_no_picture_averages_the_seeds_that_happen_to_be_there() -> None:
    runs = with_a_gap().assign(seconds=1.0, purity=50.0, memorised=50.0)
    (panel,) = make_panels(runs, LABELS)
    assert [line.name for line in panel.lines] == ["AR", "WAR_w2v"]
    inputs = Inputs(runs=runs, published=results.read_published(PUBLISHED), labels=LABELS)
    for name in ("learning_curves", "memorised", "purity", "time_and_accuracy", "agreement"):
        shown = texts(draw(name, inputs)).splitlines()
        assert "AR" in shown and "CCE" not in shown, name


def test_given_runs_of_a_table_are_its_own_seeds() -> None:
    """Another table may have more seeds of the same cell: each averages those that it declares."""
    runs = runs_table({("cce", 0): [50.0], ("cce", 1): [70.0]}).astype({"epoch": "Int64"})
    cell = ["fashion_mnist", "asym-40", "cnn9", "cce"]
    assert results.summarise(results.select_declared(runs, [[*cell, 0]]))["mean"].tolist() == [50.0]
    assert results.summarise(results.select_declared(runs, [[*cell, 0], [*cell, 1]]))["mean"].tolist() == [60.0]
    assert results.summarise(results.select_declared(runs, [[*cell, 0], [*cell, 2]]))["mean"].isna().all()


# ---- headlines


def headline_epochs(table: pd.DataFrame, runs: pd.DataFrame, last: int = 10) -> list[list[int]]:
    tables = [TableSection("main_benchmark", "All", table)]
    context = Context("x", labels=LABELS, tables=tables, epochs=results.epochs_averaged(runs, last))
    return [line.epochs for line in make_headlines(context)]


def test_a_headline_counts_the_epochs_of_its_own_setting() -> None:
    long, short = ("fashion_mnist", "asym-40", "cnn9"), ("cifar10", "asym-40", "cnn9")
    runs = pd.concat([design([long], epochs=12), design([short], epochs=4)], ignore_index=True)
    assert headline_epochs(table_of(runs, [long, short]), runs) == [[10], [4]]
    assert headline_epochs(table_of(runs, [long]), runs, last=1) == [[1]]
    runs = pd.concat([design([short], ("war_w2v",), 12), design([short], ("cce",), 4)], ignore_index=True)
    assert headline_epochs(table_of(runs, [short], ("cce", "war_w2v")), runs) == [[10, 4]]
