"""Average ranks: as the paper computes them, never over a table with gaps, and shown in every format."""

from pathlib import Path

import numpy as np
import pandas as pd

from tests.helpers.reports import LABELS, PUBLISHED, cell, tidy_table
from warlab.reporting.page.context import Context, TableSection
from warlab.reporting.page.report_page import render
from warlab.reporting.read import results
from warlab.reporting.tables import results_table
from warlab.reporting.tables.results_table import rank_rows, ranks

MEANS = {
    ("fashion_mnist", "clean", "cce"): 95.0,
    ("fashion_mnist", "clean", "ar"): 94.0,
    ("fashion_mnist", "clean", "war_w2v"): 94.0,
    ("fashion_mnist", "asym-40", "cce"): 79.0,
    ("fashion_mnist", "asym-40", "ar"): 85.001,
    ("fashion_mnist", "asym-40", "war_w2v"): 90.0,
}


def ranked(means: dict[tuple[str, str, str], float | None]) -> pd.DataFrame:
    numbers = {"metric": "test_accuracy", "std_epochs": 0.1, "std_runs": np.nan, "seeds": 2, "data": "real"}
    rows = [cell(*key) | numbers | {"mean": mean} for key, mean in means.items() if mean is not None]
    summary = pd.DataFrame(rows, columns=list(results.SUMMARY))
    published = results.read_published(PUBLISHED, "main_benchmark")
    return results_table.tidy(summary, [cell(*key) for key in means], published, ("all", "noisy"))


def test_ties_share_their_mean_rank_and_ranks_are_averaged_over_settings() -> None:
    assert ranks(tidy_table(MEANS)).to_dict() == {"cce": 2.0, "ar": 2.2, "war_w2v": 1.8}
    rows = ranked(MEANS).tail(6)
    assert rows["noise"].tolist() == ["all"] * 3 + ["noisy"] * 3
    assert rows["mean"].tolist() == [2.0, 2.2, 1.8, 3.0, 2.0, 1.0]
    assert (rows["dataset"] == "all").all() and (rows["metric"] == "average_rank").all() and (rows["seeds"] == 2).all()
    assert rows[rows["method"] == "war_w2v"]["published"].tolist() == [2.5, 1.0]  # as the paper prints them


def test_without_a_clean_setting_the_ranks_are_shown_once() -> None:
    noisy = {key: mean for key, mean in MEANS.items() if key[1] != "clean"}
    assert set(rank_rows(tidy_table(noisy), ["all", "noisy"])["noise"]) == {"noisy"}
    assert len(rank_rows(tidy_table(MEANS), [])) == 0 and set(rank_rows(tidy_table(MEANS), ["noisy"])["noise"]) == {
        "noisy"
    }
    clean = {key: mean for key, mean in MEANS.items() if key[1] == "clean"}
    assert set(rank_rows(tidy_table(clean), ["all", "noisy"])["noise"]) == {"all"}


def test_ranks_in_csv_markdown_latex_and_page(tmp_path: Path) -> None:
    table = ranked(MEANS)
    table.to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(results_table.read_tidy(tmp_path / "t.csv"), table, check_dtype=False)
    text = results_table.to_markdown(table, "methods_as_columns", LABELS)
    last = text.split("\n\n")[0].splitlines()[-1]
    assert last.startswith("|  | noisy settings | 3.0<br><sub>8.8 (−5.8)</sub>")
    assert last.endswith("| **1.0**<br><sub>1.0 (+0.0)</sub> |") and "±" not in last
    assert "| Average rank | all settings |" in text and "1 is the best" in text
    latex = results_table.to_latex(table, "methods_as_columns", LABELS)
    assert r"Average rank & all settings & 2.0 & 2.2 & \textbf{1.8}" in latex
    page = render(Context("demo", labels=LABELS, tables=[TableSection("main_benchmark", "All", table)]))
    assert "noisy settings" in page and ">1.0<small>1.0 (+0.0)</small>" in page


def test_methods_as_rows_have_columns_of_ranks() -> None:
    header = results_table.to_markdown(ranked(MEANS), "methods_as_rows", LABELS).splitlines()[0]
    assert header.endswith("| Average rank<br>all settings | noisy settings |")
