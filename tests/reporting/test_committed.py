"""Committed evidence on the report's page: shown in tables of its own, never mixed with the runs of the page."""

from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.helpers.reports import LABELS
from warlab.config.reductions import reductions
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.reporting.page.committed import read_committed
from warlab.reporting.page.context import Committed, Context, TableSection
from warlab.reporting.page.report_page import render
from warlab.reporting.tables.results_table import read_tidy

REDUCED = [{"what": "Fashion-MNIST: epochs", "paper": "60", "here": "24"}]
ENDS = {"cce": (70.0, 71.0, 72.0), "war_w2v": (74.0, 76.0, 75.0)}


def evidence_folder(folder: Path) -> dict[str, str]:
    """Three seeds of two methods, as tools/make_evidence.py keeps them."""
    runs = [
        ("fashion_mnist", "asym-40", "cnn9", method, seed, "real", epoch, value)
        for method, values in ENDS.items()
        for seed, value in enumerate(values)
        for epoch in range(1, 11)
    ]
    columns = ["dataset", "noise", "net", "method", "seed", "data", "epoch", "test_accuracy"]
    pd.DataFrame(runs, columns=columns).to_csv(folder / "runs.csv", index=False)
    head = "dataset,noise,net,method,seeds,ours,published,above_cce,published_above_cce,interval,interval_from"
    (folder / "summary.csv").write_text(
        f"{head}\n"
        'fashion_mnist,asym-40,cnn9,war_w2v,3,75,90.41,4,11.56,-0.30 to +8.30,"3 seeds, Student\'s t"\n'
        "fashion_mnist,asym-40,cnn9,cce,3,71,78.85,0,0,,\n"
        "fashion_mnist,asym-40,cnn9,jof,3,70.5,,-0.5,,-3.00 to +2.00,x\n"
    )
    table = [f"| {' | '.join(row.values())} |" for row in REDUCED]
    (folder / "reductions.md").write_text("\n".join(["| what | paper | here |", "| --- | --- | --- |", *table, ""]))
    return {"folder": "docs/evidence/x", "command": "snakemake x", "path": str(folder)}


def same(folder: Path, reduced: list[dict[str, str]]) -> list[Committed]:
    entry = evidence_folder(folder)
    rows = pd.read_csv(folder / "summary.csv").query("method != 'jof'")
    rows.to_csv(folder / "summary.csv", index=False)
    return read_committed({"same": entry}, LABELS, reduced, {"cce", "war_w2v", "ar"})


def test_more_seeds_of_the_same_settings_are_shown_seed_by_seed(tmp_path: Path) -> None:
    [found] = same(tmp_path, REDUCED)
    assert found.rows[0] == {
        "method": "WAR_w2v",
        "seed 0": "74.00",
        "seed 1": "76.00",
        "seed 2": "75.00",
        "mean": "75.00",
        "difference": "+4.00",
        "95 % interval": "−0.30 to +8.30",
    }
    assert found.rows[1]["difference"] == found.rows[1]["95 % interval"] == "–"
    assert "three seeds (committed, not computed in this run)" in found.title
    assert "WAR_w2v − CCE = +4.0 points (95\xa0%: −0.30 to +8.30; 3 seeds" in found.sentence
    assert "higher in 3 of 3 seeds; from docs/evidence/x" in found.sentence
    assert "snakemake x" in found.caption


MORE = {"what": "Fashion-MNIST, WAR_w2v: beta", "paper": "10", "here": "6"}


@pytest.mark.parametrize("changed", [[], [{**REDUCED[0], "here": "30"}], [*REDUCED, MORE]])
def test_seeds_of_other_settings_are_not_called_the_same(tmp_path: Path, changed: list[dict[str, str]]) -> None:
    assert same(tmp_path, changed) == []


def test_other_datasets_and_methods_and_the_number_of_seeds_do_not_matter(tmp_path: Path) -> None:
    names = ("CIFAR-10: epochs", "seeds of “All methods”", "Fashion-MNIST, AR: beta")  # AR is not in the evidence
    others = [{"what": what, "paper": "3", "here": "1"} for what in names]
    assert len(same(tmp_path, [*REDUCED, *others])) == 1


def test_methods_that_were_not_run_come_with_the_cce_of_their_own_study(tmp_path: Path) -> None:
    [found] = read_committed({"others": evidence_folder(tmp_path)}, LABELS, [], {"cce", "war_w2v+beta=5"})
    assert [row["method"] for row in found.rows] == ["CCE", "jof"]
    assert found.rows[1]["difference"] == "−0.50" and found.rows[1]["paper"] == "–"
    assert "not run here" in found.title and not found.sentence


def test_nothing_is_shown_where_every_method_was_run(tmp_path: Path) -> None:
    assert read_committed({"others": evidence_folder(tmp_path)}, LABELS, [], {"cce", "war_w2v", "jof"}) == []


def test_a_folder_without_its_summary_is_one_sentence(tmp_path: Path) -> None:
    entry = {"folder": "docs/evidence/x", "command": "c", "path": str(tmp_path)}
    with pytest.raises(WarlabError, match="docs/evidence/x has no summary"):
        read_committed({"others": entry}, LABELS, [], set())


def test_the_page_has_committed_numbers_in_their_own_table_only(tmp_path: Path) -> None:
    """Not in the table of the run, nor in its headline."""
    table = tmp_path / "main.csv"
    table.write_text(
        "dataset,noise,net,method,metric,mean,std_epochs,std_runs,seeds,epochs,published,difference,data\n"
        "fashion_mnist,asym-40,cnn9,cce,test_accuracy,66.6,1,1,1,10,78.85,-12.25,real\n"
        "fashion_mnist,asym-40,cnn9,ar,test_accuracy,67.7,1,1,1,10,89.74,-22.04,real\n"
    )
    context = Context("demo", labels=LABELS, tables=[TableSection("main_benchmark", "All", read_tidy(table))])
    shown = read_committed({"others": evidence_folder(tmp_path)}, LABELS, [], {"cce", "ar"})
    plain, page = render(context), render(Context(**{**vars(context), "committed": shown}))
    own = page[page.index('<details class="committed">') :]
    own = own[: own.index("</details>") + len("</details>")]
    assert "75.00" in own and "75.00" not in plain
    assert page.replace(own, "").split() == plain.split()


def test_the_committed_seeds_of_the_demo_have_the_settings_of_the_demo() -> None:
    """What `same` compares, of the two scale files themselves."""
    demo = load_study({"scale": "demo"}, ROOT)
    seeds = load_study({"scale": "docs/evidence/demo/demo_seeds.yaml"}, ROOT)
    noisy = {cell.method for cell in demo.plan.runs if (cell.dataset, cell.noise) == ("fashion_mnist", "asym-40")}
    assert {cell.method for cell in seeds.plan.runs} == noisy and {cell.seed for cell in seeds.plan.runs} == {0, 1, 2}
    own = [row for row in reductions(demo) if row["what"].startswith("Fashion-MNIST")]
    assert own == [row for row in reductions(seeds) if row["what"].startswith("Fashion-MNIST")]


def test_the_demo_shows_every_column_of_the_papers_table() -> None:
    """Run here, or from the evidence that its report names."""
    demo = load_study({"scale": "demo"}, ROOT)
    named = {kind: {**entry, "path": str(ROOT / entry["folder"])} for kind, entry in demo.scale["evidence"].items()}
    here = {cell.method for cell in demo.plan.cells("main_benchmark") if cell.noise == "asym-40"}
    found = read_committed(named, demo.labels, reductions(demo), here)
    assert len(found) == 2
    shown = {row["method"] for row in found[1].rows} | {demo.labels["method"][method] for method in here}
    assert {demo.labels["method"][method] for method in demo.experiments["main_benchmark"]["methods"]} <= shown
