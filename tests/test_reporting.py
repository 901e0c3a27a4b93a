"""From finished runs to tables, figures and the page."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from warlab.errors import WarlabError
from warlab.reporting import figures, labels, page, results, tables
from warlab.reporting.figures import Inputs, style
from warlab.reporting.grid import grid
from warlab.reporting.headline import headlines

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "config" / "published.csv"
LABELS = {
    "method": {"cce": "CCE", "ar": "AR", "war_01": "WAR_0-1", "war_w2v": "WAR_w2v", "odd": "50 % & <b>_#"},
    "dataset": {"fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"},
    "noise": {"clean": "clean", "asym-20": "asymmetric 20 %", "asym-40": "asymmetric 40 %"},
}
NAMES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Ankle boot"]


# ---- material


def make_run(root: Path, accuracies: list[float], method: str = "cce", seed: int = 0, data: str = "real") -> Path:
    folder = root / "fashion_mnist" / "asym-40" / "cnn9" / method / f"seed{seed}"
    folder.mkdir(parents=True)
    epochs = range(1, len(accuracies) + 1)
    pd.DataFrame({"epoch": epochs, "test_accuracy": accuracies}).to_csv(folder / "metrics.csv", index=False)
    (folder / "result.json").write_text(json.dumps({"data": data}))
    return folder


def runs_table(values: dict[tuple[str, int], list[float]], data: str = "real") -> pd.DataFrame:
    rows = [
        {
            "dataset": "fashion_mnist",
            "noise": "asym-40",
            "net": "cnn9",
            "method": method,
            "seed": seed,
            "data": data,
        }
        | {"epoch": epoch, "test_accuracy": value}
        for (method, seed), series in values.items()
        for epoch, value in enumerate(series, 1)
    ]
    return pd.DataFrame(rows)


def cell(dataset: str, noise: str, method: str) -> dict[str, str]:
    return {"dataset": dataset, "noise": noise, "net": "cnn9", "method": method}


def tidy_table(means: dict[tuple[str, str, str], float | None], data: str = "real") -> pd.DataFrame:
    """A tidy table with these means (None: declared and not run), 0.1 as std, without published values."""
    numbers = {"metric": "test_accuracy", "std_epochs": 0.1, "std_runs": np.nan, "seeds": 1, "data": data}
    rows = [cell(*key) | numbers | {"mean": mean} for key, mean in means.items() if mean is not None]
    summary = pd.DataFrame(rows, columns=list(results.SUMMARY))
    return tables.tidy(summary, [cell(*key) for key in means], results.read_published(PUBLISHED).head(0))


def noise_manifest(data: str = "real") -> dict[str, Any]:
    noisy = np.repeat(np.arange(5), 8)
    noisy[:3] = 3
    noisy[32:34] = 2
    return {
        "dataset": "fashion_mnist",
        "noise": "asym-40",
        "rate": 0.4,
        "seed": 0,
        "realised_rate": 5 / 40,
        "transition": (0.6 * np.eye(5) + 0.4 * np.roll(np.eye(5), 1, 1)).tolist(),
        "class_names": NAMES,
        "labels": noisy,
        "labels_sha256": "ab" * 32,
        "data": data,
    }


def ground_cost(key: str = "w2v") -> dict[str, Any]:
    matrix = np.exp(-np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4)
    np.fill_diagonal(matrix, 0)
    checks = [
        {
            "name": "symmetry",
            "value": 0.0,
            "limit": 1e-12,
            "passed": True,
            "required": True,
            "meaning": "both ways alike",
        },
        {
            "name": "as printed",
            "value": 16.0,
            "limit": 0.0,
            "passed": False,
            "required": False,
            "meaning": "violations",
        },
    ]
    verified = {"passed": True, "checks": checks}
    return {
        "dataset": "fashion_mnist",
        "key": key,
        "class_names": NAMES,
        "matrix": matrix,
        "verified": verified,
    }


def description(data: str = "real") -> dict[str, Any]:
    source = "embedded subset of Fashion-MNIST" if data == "real" else "procedural stand-in for Fashion-MNIST"
    return {
        "dataset": "fashion_mnist",
        "data": data,
        "source": source,
        "class_names": NAMES,
        "n_train": 40,
        "n_test": 10,
        "shape": [1, 8, 8],
        "licence": "MIT",
    }


def figure_inputs(data: str = "real") -> Inputs:
    series = {(m, s): [50 + s + e for e in range(6)] for m in ("cce", "war_w2v") for s in range(2)}
    images = np.zeros((40, 1, 8, 8), np.uint8)
    arrays = {"train_x": images, "train_y": np.repeat(np.arange(5), 8)}
    return Inputs(
        runs=runs_table(series, data),
        noise=[noise_manifest(data)],
        costs=[ground_cost()],
        data={"fashion_mnist": (arrays, description(data))},
        labels=LABELS,
    )


def texts(figure: Any) -> str:
    from matplotlib.text import Text

    return "\n".join(artist.get_text() for artist in figure.findobj(Text))


# ---- the paper's numbers


def test_published_numbers_are_all_there_as_printed() -> None:
    raw = pd.read_csv(PUBLISHED, dtype=str, keep_default_na=False)
    assert list(raw.columns) == list(results.PUBLISHED)
    counts = {"main_benchmark": 132, "ar_war_variants": 36, "beta_sensitivity": 20, "clothing1m": 12}
    counts |= {"vaihingen": 42, "open_set": 12, "coteaching_plus": 12, "timing": 6}
    assert raw["experiment"].value_counts().to_dict() == counts
    assert len(raw) == 272
    assert not raw.duplicated([*results.PUBLISHED[:6], "note"]).any()
    assert raw["mean"].str.fullmatch(r"\d+(\.\d+)?").all()


@pytest.mark.parametrize(
    ("key", "mean", "std"),
    [
        ("main_benchmark,fashion_mnist,asym-40,cnn9,cce,test_accuracy", "78.85", "0.56"),
        ("main_benchmark,fashion_mnist,asym-40,cnn9,forward,test_accuracy", "82.85", "0.2"),
        ("main_benchmark,cifar100,clean,cnn9,jocor,test_accuracy", "69.29", "0.26"),
        ("main_benchmark,all,noisy,cnn9,war_w2v,average_rank", "1.0", ""),
        ("ar_war_variants,fashion_mnist,asym-40,cnn9,war_embed,test_accuracy", "90.20", "0.36"),
        ("beta_sensitivity,cifar10,asym-40,cnn9,war_w2v+beta=20,test_accuracy", "86.73", "0.20"),
        ("beta_sensitivity,cifar10,asym-40,cnn9,ar+beta=5,test_accuracy", "81.37", "0.21"),
        ("beta_sensitivity,cifar10,asym-40,cnn9,ar+beta=0.5,test_accuracy", "77.49", "0.18"),
        ("open_set,cifar10,openset_svhn-40,cnn6,war_w2v,test_accuracy", "82.03", ""),
        ("vaihingen,vaihingen,objects-33,unet,coteaching,f1_cars", "26.6", ""),
        ("coteaching_plus,cifar10,asym-40,cnn2,coteaching,test_accuracy", "56", ""),
        ("timing,imagenet32,clean,cnn9,war_01,seconds_per_epoch", "1712", ""),
    ],
)
def test_published_cells(key: str, mean: str, std: str) -> None:
    raw = pd.read_csv(PUBLISHED, dtype=str, keep_default_na=False).set_index(list(results.PUBLISHED[:6]))
    row = raw.loc[[tuple(key.split(","))]]
    assert row[["mean", "std"]].to_numpy().tolist() == [[mean, std]]


def test_published_prefers_the_experiment_and_the_authors_own_run() -> None:
    cells = [cell("cifar10", "asym-40", "coteaching"), cell("cifar10", "asym-40", "cce")]
    cells.append({**cell("clothing1m", "real", "cce"), "net": "resnet50"})
    nothing = pd.DataFrame(columns=list(results.SUMMARY))

    def published(experiment: str) -> list[float]:
        return tables.tidy(nothing, cells, results.read_published(PUBLISHED, experiment))["published"].tolist()

    assert published("coteaching_plus") == [80, 76.23, 68.65]
    assert published("main_benchmark") == [80.87, 76.23, 68.65]


# ---- runs


def test_collect_reads_the_declared_runs(tmp_path: Path) -> None:
    folders = [
        make_run(tmp_path, [50.0, 60.0], "cce"),
        make_run(tmp_path, [70.0], "war_w2v+beta=5", 2, "stand-in"),
    ]
    extra = pd.read_csv(folders[1] / "metrics.csv").assign(regulariser=0.5)
    extra.to_csv(folders[1] / "metrics.csv", index=False)
    runs = results.collect(folders)
    assert list(runs.columns) == [*results.RUN, "epoch", "test_accuracy", "regulariser"]
    assert runs["method"].tolist() == ["cce", "cce", "war_w2v+beta=5"]
    assert runs["seed"].tolist() == [0, 0, 2]
    assert runs["data"].tolist() == ["real", "real", "stand-in"]
    assert runs["regulariser"].isna().tolist() == [True, True, False]
    runs.to_csv(tmp_path / "runs.csv", index=False)
    assert "cce,0,real,1,50.0," in (tmp_path / "runs.csv").read_text()
    pd.testing.assert_frame_equal(results.read_runs(tmp_path / "runs.csv"), runs, check_dtype=False)


def test_a_missing_run_is_named_or_becomes_a_gap(tmp_path: Path) -> None:
    present = make_run(tmp_path, [50.0, 60.0], seed=0)
    absent = present.with_name("seed1")
    with pytest.raises(WarlabError, match="cce/seed1"):
        results.collect([present, absent])
    runs = results.collect([present, absent], missing="gap")
    assert runs["epoch"].isna().tolist() == [False, False, True]
    runs.to_csv(tmp_path / "runs.csv", index=False)
    again = results.read_runs(tmp_path / "runs.csv")
    summary = results.summarise(again).iloc[0]
    assert np.isnan(summary["mean"])  # never the average of what happens to be there
    assert summary["seeds"] == 1
    row = tables.tidy(results.summarise(again), [cell("fashion_mnist", "asym-40", "cce")], no_published()).iloc[0]
    assert np.isnan(row["mean"])
    assert row["data"] == ""


def no_published() -> pd.DataFrame:
    return results.read_published(PUBLISHED).head(0)


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda folder: (folder / "result.json").unlink(), "result.json"),
        (lambda folder: (folder / "result.json").write_text("{}"), "real or stand-in"),
        (lambda folder: (folder / "metrics.csv").write_text("epoch,loss\n1,2\n"), "test_accuracy"),
        (lambda folder: (folder / "metrics.csv").write_text("epoch,test_accuracy\n"), "no epoch"),
        (lambda folder: (folder / "metrics.csv").write_text(""), "cannot be read"),
    ],
)
def test_a_broken_run_is_named(tmp_path: Path, break_it: Any, says: str) -> None:
    folder = make_run(tmp_path, [50.0])
    break_it(folder)
    with pytest.raises(WarlabError, match=says):
        results.collect([folder])


def test_runs_csv_needs_its_columns(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("dataset,noise\na,b\n")
    with pytest.raises(WarlabError, match="'net'"):
        results.read_runs(tmp_path / "runs.csv")
    with pytest.raises(WarlabError, match="not a run folder"):
        results.collect([tmp_path / "x"])
    with pytest.raises(WarlabError, match="no runs"):
        results.collect([])


# ---- summaries, computed by hand


def test_summary_of_two_runs() -> None:
    first = [0.0] * 5 + [80.0, 82.0] * 5  # mean 81, std 1 (ddof 0) over the last ten
    second = [0.0] * 5 + [84.0, 90.0] * 5  # mean 87, std 3
    row = results.summarise(runs_table({("cce", 0): first, ("cce", 1): second})).iloc[0]
    assert row["mean"] == pytest.approx(84.0)
    assert row["std_epochs"] == pytest.approx(2.0)
    assert row["std_runs"] == pytest.approx(6 / np.sqrt(2))  # 81 and 87, ddof 1
    assert row["seeds"] == 2
    assert row["data"] == "real"
    assert row["metric"] == "test_accuracy"


def test_summary_of_a_short_single_run_in_any_order() -> None:
    runs = runs_table({("cce", 0): [10.0, 20.0, 60.0]}).iloc[::-1]
    row = results.summarise(runs).iloc[0]
    assert row["mean"] == pytest.approx(30.0)
    assert row["std_epochs"] == pytest.approx(np.std([10, 20, 60]))
    assert np.isnan(row["std_runs"])
    assert results.summarise(runs, last=1).iloc[0]["mean"] == 60.0  # by epoch, not by position
    assert results.epochs_averaged(runs) == 3
    assert results.epochs_averaged(runs, last=2) == 2


def test_summary_of_any_metric_and_of_mixed_data() -> None:
    runs = runs_table({("cce", 0): [50.0], ("cce", 1): [60.0], ("ar", 0): [70.0]}).assign(f1_cars=7.0)
    runs.loc[1, "data"] = "stand-in"
    summary = results.summarise(runs, metrics=("test_accuracy", "f1_cars"))
    assert summary[["method", "metric", "mean", "data"]].to_numpy().tolist() == [
        ["cce", "test_accuracy", 55.0, "stand-in"],
        ["cce", "f1_cars", 7.0, "stand-in"],
        ["ar", "test_accuracy", 70.0, "real"],
        ["ar", "f1_cars", 7.0, "real"],
    ]
    with pytest.raises(WarlabError, match="'nothing'"):
        results.summarise(runs, metrics=("nothing",))


# ---- tables


def test_tidy_has_a_row_for_every_declared_cell(tmp_path: Path) -> None:
    summary = results.summarise(runs_table({("war_w2v", 0): [80.0], ("other", 0): [1.0]}))
    cells = [cell("fashion_mnist", noise, m) for noise in ("asym-40", "asym_code-40") for m in ("cce", "war_w2v")]
    table = tables.tidy(summary, cells, results.read_published(PUBLISHED, "ar_war_variants"))
    columns = "dataset,noise,net,method,metric,mean,std_epochs,std_runs,seeds,published,difference,data"
    assert ",".join(table.columns) == columns
    assert table["method"].tolist() == ["cce", "war_w2v"] * 2
    assert table["published"].tolist() == [78.85, 90.41] * 2  # CCE from another table, both readings of the noise
    assert table["difference"][1] == pytest.approx(80 - 90.41)
    text = table.to_csv(index=False).splitlines()
    assert text[1] == "fashion_mnist,asym-40,cnn9,cce,test_accuracy,,,,,78.85,,"
    assert text[2].startswith("fashion_mnist,asym-40,cnn9,war_w2v,test_accuracy,80.0,0.0,,1,90.41,-10.4")
    table.to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(tables.read_tidy(tmp_path / "t.csv"), table, check_dtype=False)


def test_tidy_refuses_a_cell_without_its_method() -> None:
    with pytest.raises(WarlabError, match="method"):
        tables.tidy(
            pd.DataFrame(columns=list(results.SUMMARY)),
            [{"dataset": "a", "noise": "b", "net": "c"}],
            no_published(),
        )


def two_datasets() -> pd.DataFrame:
    means = {(d, n, m): 50.0 for d in ("fashion_mnist", "cifar10") for n in ("clean", "asym-40") for m in ("cce", "ar")}
    means[("fashion_mnist", "clean", "cce")] = 61.0
    means[("cifar10", "asym-40", "ar")] = 70.0
    means[("cifar10", "clean", "cce")] = None  # type: ignore[assignment]
    return tidy_table(means)


def test_layout_with_methods_as_columns() -> None:
    lines = tables.to_markdown(two_datasets(), "methods_as_columns", LABELS).splitlines()
    assert lines[0] == "| dataset | noise | CCE | AR |"
    assert lines[2] == "| Fashion-MNIST | clean | **61.00 ± 0.10** | 50.00 ± 0.10 |"
    assert lines[3].startswith("|  | asymmetric 40 % |")  # the dataset is printed once
    assert lines[4] == "| CIFAR-10 | clean | – | 50.00 ± 0.10 |"  # one cell alone is no contest
    latex = tables.to_latex(two_datasets(), "methods_as_columns", LABELS, label="tab:x")
    assert latex.count(r"\addlinespace") == 1
    assert latex.index("Fashion-MNIST &") < latex.index(r"\addlinespace") < latex.index("CIFAR-10 &")
    assert r"Fashion-MNIST & clean & \textbf{61.00 $\pm$ 0.10} & 50.00 $\pm$ 0.10 \\" in latex
    assert r"\label{tab:x}" in latex
    assert "multirow" not in latex


def test_layout_with_methods_as_rows() -> None:
    lines = tables.to_markdown(two_datasets(), "methods_as_rows", LABELS).splitlines()
    assert lines[0] == "| method | Fashion-MNIST<br>clean | asymmetric 40 % | CIFAR-10<br>clean | asymmetric 40 % |"
    assert lines[3] == "| AR | 50.00 ± 0.10 | **50.00 ± 0.10** | 50.00 ± 0.10 | **70.00 ± 0.10** |"
    latex = tables.to_latex(two_datasets(), "methods_as_rows", LABELS)
    assert r" & \multicolumn{2}{c}{Fashion-MNIST} & \multicolumn{2}{c}{CIFAR-10} \\" in latex
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in latex
    with pytest.raises(WarlabError, match="orientation"):
        tables.to_latex(two_datasets(), "sideways", LABELS)  # type: ignore[arg-type]


def test_best_is_what_prints_highest_and_ties_are_all_bold() -> None:
    key = ("fashion_mnist", "asym-40")
    layout = grid(tidy_table({(*key, "cce"): 80.001, (*key, "ar"): 80.004, (*key, "war_01"): 79.99}))
    assert [layout.cell(layout.settings[0], m).best for m in layout.methods] == [True, True, False]


def test_networks_and_metrics_are_named_where_there_are_several() -> None:
    rows = [cell("cifar10", "asym-40", "cce"), {**cell("cifar10", "asym-40", "cce"), "net": "cnn2"}]
    table = tables.tidy(pd.DataFrame(columns=list(results.SUMMARY)), rows, no_published())
    text = tables.to_markdown(table, "methods_as_columns", LABELS)
    assert "asymmetric 40 %, cnn9" in text
    assert "asymmetric 40 %, cnn2" in text


def test_the_legend_explains_only_what_is_there() -> None:
    plain = tidy_table({("cifar10", "clean", "cce"): 50.0, ("cifar10", "clean", "ar"): 51.0})
    text = tables.to_markdown(plain, "methods_as_columns", LABELS, "Caption")
    assert "Caption. Bold:" in text
    assert "†" not in text
    assert "–" not in text
    assert "Small print" not in text


def test_stand_in_is_marked_in_every_cell_and_explained() -> None:
    table = tidy_table({("cifar10", "clean", "cce"): 50.0, ("cifar10", "clean", "ar"): 51.0}, "stand-in")
    markdown = tables.to_markdown(table, "methods_as_columns", LABELS)
    assert "50.00 ± 0.10†" in markdown
    assert "**51.00 ± 0.10**†" in markdown
    assert "†: computed on procedural stand-in data" in markdown
    latex = tables.to_latex(table, "methods_as_columns", LABELS)
    assert latex.count(r"\rlap{$^{\dagger}$}") == 2
    assert r"$\dagger$: computed on procedural stand-in data" in latex


def published_table() -> pd.DataFrame:
    summary = results.summarise(runs_table({("war_w2v", 0): [80.0, 81.0], ("cce", 0): [75.0, 75.5]}))
    cells = [cell("fashion_mnist", "asym-40", m) for m in ("cce", "war_w2v", "war_embed", "tv")]
    return tables.tidy(summary, cells, results.read_published(PUBLISHED, "ar_war_variants"))


def test_published_value_and_difference_in_small_print() -> None:
    markdown = tables.to_markdown(published_table(), "methods_as_rows", LABELS)
    assert "**80.50 ± 0.50**<br><sub>90.41 (−9.91)</sub>" in markdown
    assert "| war\\_embed | –<br><sub>90.20</sub> |" in markdown
    latex = tables.to_latex(published_table(), "methods_as_rows", LABELS)
    assert r" & {\scriptsize 90.41 ($-$9.91)} \\[2pt]" in latex
    assert r"tv & -- \\" in latex  # neither run nor published: no second line


# ---- special characters


def test_special_characters_are_escaped() -> None:
    assert labels.latex(r"50 % & a_b #1 $x {y} ~^\ <i> β→−") == (
        r"50 \% \& a\_b \#1 \$x \{y\} \textasciitilde{}\textasciicircum{}\textbackslash{} "
        r"\textless{}i\textgreater{} $\beta$$\rightarrow$$-$"
    )
    assert labels.markdown("a|b_c*<i>") == r"a\|b\_c\*\<i\>"


def test_names_of_methods() -> None:
    assert labels.name(LABELS, "method", "war_w2v+beta=5") == "WAR_w2v, β = 5"
    assert labels.name(LABELS, "method", "own_method") == "own_method"
    assert labels.latex_method("WAR_0-1, β = 5") == r"WAR\textsubscript{0-1}, $\beta$ = 5"
    assert labels.latex_method("own_method") == r"own\_method"
    assert labels.markdown_method("WAR_w2v") == "WAR<sub>w2v</sub>"
    assert labels.plot_method("WAR_w2v") == r"WAR$_{\mathrm{w2v}}$"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_latex_compiles_with_awkward_names(tmp_path: Path) -> None:
    table = tidy_table({("cifar10", "clean", m): 50.0 for m in ("cce", "odd", "war_w2v+beta=5")}, "stand-in")
    awkward = r"50 % of β & _ # $ { } ~ ^ \ → − ± ≤ † “x” é"
    both = [tables.to_latex(table, o, LABELS, awkward) for o in ("methods_as_rows", "methods_as_columns")]
    head = r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}"
    (tmp_path / "t.tex").write_text(head + "\n".join([*both, r"\end{document}"]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


# ---- figures


def test_figures_are_found_by_name() -> None:
    assert figures.names() == ["flipped_samples", "learning_curves", "matrices"]
    assert figures.get("matrices").needs == ("costs", "noise")
    with pytest.raises(WarlabError, match="learning_curves"):
        figures.get("nothing")


@pytest.mark.parametrize("name", figures.names())
def test_figures_say_when_data_are_a_stand_in(name: str) -> None:
    figure = figures.get(name)
    for data, says in (("real", False), ("stand-in", True)):
        inputs = figure_inputs(data)
        assert ("stand-in data" in texts(figure.draw(inputs))) is says
        assert ("Stand-in data" in figure.caption(inputs)) is says
    assert "procedural stand-in for" in " ".join(texts(figure.draw(figure_inputs("stand-in"))).split())


@pytest.mark.parametrize("name", figures.names())
def test_figures_refuse_nothing(name: str) -> None:
    with pytest.raises(WarlabError):
        figures.get(name).draw(Inputs())


def test_figures_are_saved_twice_with_the_same_bytes(tmp_path: Path) -> None:
    draw = figures.get("learning_curves").draw
    for folder in ("a", "b"):
        style.save(draw(figure_inputs()), tmp_path / folder / "curve.v1")
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == ["curve.v1.pdf", "curve.v1.png"]
    for name in ("curve.v1.pdf", "curve.v1.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert b"CreationDate" not in (tmp_path / "a" / "curve.v1.pdf").read_bytes()


def test_learning_curves_draw_the_mean_and_the_band_of_the_seeds() -> None:
    inputs = figure_inputs()
    figure = figures.get("learning_curves").draw(inputs)
    (axes,) = figure.axes
    assert len(axes.lines) == 2
    np.testing.assert_allclose(axes.lines[0].get_ydata(), 50.5 + np.arange(6))
    assert axes.lines[1].get_color() == style.line("war_w2v")[0]
    assert len(axes.collections) == 2
    assert "2 seeds" in figures.get("learning_curves").caption(inputs)


def test_a_gap_in_the_runs_is_not_drawn() -> None:
    runs = runs_table({("cce", 0): [50.0, 60.0]})
    gap = runs.tail(1).assign(method="ar", epoch=None, test_accuracy=np.nan)
    runs = pd.concat([runs, gap]).astype({"epoch": "Int64"})
    (axes,) = figures.get("learning_curves").draw(Inputs(runs=runs, labels=LABELS)).axes
    assert len(axes.lines) == 1


def test_matrices_show_values_and_the_first_seed_only() -> None:
    costs = [ground_cost(key) for key in ("w2v", "embed@asym-40@seed0", "embed@asym-40@seed1")]
    clean = noise_manifest() | {"noise": "clean"}
    inputs = Inputs(costs=costs, noise=[clean, noise_manifest()], labels=LABELS)
    figure = figures.get("matrices").draw(inputs)
    assert len([ax for ax in figure.axes if ax.images]) == 3  # two costs, one transition
    shown = texts(figure)
    assert ".78" in shown  # exp(-1/4)
    assert "12.5 % of all labels changed" in shown
    assert "first" in figures.get("matrices").caption(inputs)


def test_flipped_samples_group_by_kind_of_flip() -> None:
    (axes,) = figures.get("flipped_samples").draw(figure_inputs()).axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "T-shirt/top → Dress\n3 images",
        "Ankle boot → Pullover\n2 images",
    ]


def test_a_method_has_one_look_everywhere() -> None:
    assert style.line("cce") == (style.BLACK, "-")
    assert style.line("war_w2v+beta=5")[0] == style.line("war_w2v")[0]
    assert style.line("my_own") == style.line("my_own")
    looks = [style.line(m) for m in style._METHODS]
    assert len(set(looks)) == len(looks)


# ---- headlines


def test_headline_compares_and_quotes_the_paper() -> None:
    (found,) = headlines(published_table(), LABELS, {"fashion_mnist": "embedded subset"}, last=2)
    assert found.sentence.replace("\xa0", " ") == (
        "Fashion-MNIST, asymmetric 40 % (embedded subset): WAR_w2v ends at 80.5 %, CCE at 75.2 % "
        "(mean of the last two epochs), a difference of +5.2 points. "
        "The paper, at full scale: WAR_w2v 90.41 % and CCE 78.85 %."
    )
    assert [standing.method for standing in found.standings] == ["WAR_w2v", "CCE"]
    assert all(0 <= standing.position <= 100 for standing in found.standings)


def test_headline_is_as_plain_when_the_baseline_wins() -> None:
    key = ("fashion_mnist", "asym-40")
    (found,) = headlines(tidy_table({(*key, "cce"): 80.0, (*key, "war_w2v"): 70.0, (*key, "ar"): 85.0}), LABELS, {})
    assert "WAR_w2v ends at 70.0" in found.sentence
    assert "a difference of −10.0 points. Highest: AR at 85.0" in found.sentence
    (standin,) = headlines(tidy_table({(*key, "cce"): 80.0, (*key, "ar"): 70.0}, "stand-in"), LABELS, {})
    assert "stand-in data" in standin.sentence
    assert "The paper" not in standin.sentence


# ---- the page


class Parsed(HTMLParser):
    """Fails on a tag that is not closed, and keeps every tag with its attributes."""

    VOID = frozenset({"meta", "link", "img", "br", "hr", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page_context(tmp_path: Path, data: str = "real") -> page.Context:
    png = tmp_path / "curve.png"
    if not png.exists():
        style.save(figures.get("flipped_samples").draw(figure_inputs()), png.with_suffix(""))
    table = published_table().assign(data=data)
    run = {
        "dataset": "fashion_mnist",
        "noise": "asym-40",
        "net": {"name": "cnn9"},
        "method": {"id": "cce"},
        "seed": 0,
    }
    made = {"seconds": 75.0, "peak_memory_mb": 512.4, "versions": {"torch": "2.13.0"}, "git": "abc</script>"}
    fidelity = yaml.safe_load((ROOT / "config" / "fidelity.yaml").read_text())
    numbers = {"methods": {"ar": {"beta": {"value": 5.0, "source": "paper", "for": {"x": {"value": 6.0}}}}}}
    return page.Context(
        scale="demo",
        description="a <b>test</b>",
        labels=LABELS,
        tables=[page.TableSection("ar_war_variants", "The variants", table, "methods_as_rows", "Accuracy")],
        figures=[page.FigureSection("samples", 'Flipped "samples"', "Images & labels <img src=x>", png)],
        datasets=[description(data)],
        noise=[noise_manifest(data)],
        costs=[ground_cost()],
        fidelity=fidelity,
        hyperparameters=page.hyperparameter_rows(numbers),
        results=[{"id": "0", "data": data, "run": run, "summary": {"last10_mean": 75.25}, "provenance": made}],
    )


def test_page_is_whole_and_loads_nothing(tmp_path: Path) -> None:
    text = page.render(page_context(tmp_path))
    parsed = Parsed(text)
    assert "http:" not in text
    assert "https:" not in text
    loads = [value for _, attrs in parsed.tags for key, value in attrs.items() if key in ("src", "href") and value]
    assert all(value.startswith(("data:", "#")) for value in loads)
    images = [attrs for tag, attrs in parsed.tags if tag == "img" and "src" in attrs]
    assert len(images) == 1
    assert images[0]["alt"] == 'Flipped "samples". Images & labels <img src=x>'
    identifiers = [attrs["id"] for _, attrs in parsed.tags if "id" in attrs]
    assert len(identifiers) == len(set(identifiers))
    targets = {value[1:] for value in loads if value.startswith("#")}
    assert targets <= set(identifiers)
    assert text.count("<script") == text.count("</script>") == 1


def test_page_shows_the_numbers_and_their_background(tmp_path: Path) -> None:
    text = re.sub(r"\s+", " ", page.render(page_context(tmp_path)).replace("\xa0", " "))
    for expected in (
        "WAR<sub>w2v</sub> ends at 80.5 %, CCE at 75.2 %",
        "<small>90.41 (−9.91)</small>",
        "embedded subset of Fashion-MNIST",
        "12.5 %",  # realised rate
        "1 of 1 required checks hold",
        "does not hold</b> <span class=\"quiet\">(informs only)",
        "Asymmetric noise on Fashion-MNIST",
        "1 min 15 s",
        "2.13.0",
        "A &lt;b&gt;test&lt;/b&gt;",
        "prefers-color-scheme: dark",
    ):  # fmt: skip
        assert expected in text
    assert "Weight λ of JoCoR" not in text  # not part of this report
    assert "stand-in data" not in text.lower()
    assert ">None<" not in text
    assert ">nan<" not in text


def test_page_marks_stand_in_data(tmp_path: Path) -> None:
    text = page.render(page_context(tmp_path, "stand-in"))
    assert "<b>Stand-in data.</b>" in text
    assert "procedural stand-in for Fashion-MNIST" in text
    assert "80.50&nbsp;<span class=\"pm\">± 0.50</span>†" in text  # fmt: skip


def test_page_of_almost_nothing(tmp_path: Path) -> None:
    text = page.render(page.Context(scale="empty"))
    Parsed(text)
    assert 'id="figures"' not in text
    broken = page.FigureSection("x", "X", "x", tmp_path / "x.png")
    with pytest.raises(WarlabError, match="draw it first"):
        page.render(page.Context(scale="empty", figures=[broken]))


def test_page_needs_hyperparameters_with_sources() -> None:
    own = {"value": 1, "source": "our choice"}
    rows = page.hyperparameter_rows({"nets": {"cnn9": {"width": {"value": 2, "source": "paper", "for": {"d": own}}}}})
    assert [(row["dataset"], row["value"], row["source"]) for row in rows] == [
        ("", 2, "paper"),
        ("d", 1, "our choice"),
    ]


def test_fidelity_entries_are_complete() -> None:
    entries = yaml.safe_load((ROOT / "config" / "fidelity.yaml").read_text())
    for entry in entries:
        assert (
            {"topic", "paper", "code", "choice", "why"}
            <= set(entry)
            <= {"topic", "paper", "code", "choice", "why", "needs"}
        )
        assert all(isinstance(entry[key], str) and entry[key] for key in ("topic", "paper", "code", "choice", "why"))
    assert len({entry["topic"] for entry in entries}) == len(entries)
    assert [entry["topic"] for entry in page.relevant(entries, {"jocor"}) if entry.get("needs")] == [
        "Weight λ of JoCoR",
        "Forget rate of JoCoR",
    ]


def test_reporting_does_not_import_torch() -> None:
    code = "import sys; from warlab.reporting import results, tables, page, figures, headline\n"
    code += "figures.get('matrices'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
