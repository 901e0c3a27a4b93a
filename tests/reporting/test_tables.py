"""Tables in the paper's layout: gaps, bold, small print, special characters."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers.reports import LABELS, PUBLISHED, cell, no_published, published_table, runs_table, tidy_table
from warlab import nets
from warlab.errors import WarlabError
from warlab.nets._describe import describe
from warlab.reporting import formats, names
from warlab.reporting.read import results
from warlab.reporting.tables import plain, results_table
from warlab.reporting.tables.grid import grid


def test_tidy_has_a_row_for_every_declared_cell(tmp_path: Path) -> None:
    summary = results.summarise(runs_table({("war_w2v", 0): [80.0], ("other", 0): [1.0]}))
    cells = [cell("fashion_mnist", noise, m) for noise in ("asym-40", "asym_code-40") for m in ("cce", "war_w2v")]
    table = results_table.tidy(summary, cells, results.read_published(PUBLISHED, "ar_war_variants"))
    columns = "dataset,noise,net,method,metric,mean,std_epochs,std_runs,seeds,published,difference,data"
    assert ",".join(table.columns) == columns
    assert table["method"].tolist() == ["cce", "war_w2v"] * 2
    assert table["published"].tolist() == [78.85, 90.41] * 2  # CCE from another table, both readings of the noise
    assert table["difference"][1] == pytest.approx(80 - 90.41)
    text = table.to_csv(index=False).splitlines()
    assert text[1] == "fashion_mnist,asym-40,cnn9,cce,test_accuracy,,,,,78.85,,"
    assert text[2].startswith("fashion_mnist,asym-40,cnn9,war_w2v,test_accuracy,80.0,,,1,90.41,-10.4")
    table.to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(results_table.read_tidy(tmp_path / "t.csv"), table, check_dtype=False)


PAIR = {"cce": 80.0, "ar": 70.0}


def two_datasets() -> pd.DataFrame:
    means = {(d, n, m): 50.0 for d in ("fashion_mnist", "cifar10") for n in ("clean", "asym-40") for m in ("cce", "ar")}
    means[("fashion_mnist", "clean", "cce")] = 61.0
    means[("cifar10", "asym-40", "ar")] = 70.0
    means[("cifar10", "clean", "cce")] = None  # type: ignore[assignment]
    return tidy_table(means)


def test_layout_with_methods_as_columns() -> None:
    lines = results_table.to_markdown(two_datasets(), "methods_as_columns", LABELS).splitlines()
    assert lines[0] == "| dataset | noise | CCE | AR |"
    assert lines[2] == "| Fashion-MNIST | clean | **61.00 ± 0.10** | 50.00 ± 0.10 |"
    assert lines[3].startswith("|  | asymmetric 40 % |")  # the dataset is printed once
    assert lines[4] == "| CIFAR-10 | clean | – | 50.00 ± 0.10 |"  # one cell alone is no contest
    latex = results_table.to_latex(two_datasets(), "methods_as_columns", LABELS, label="tab:x")
    assert latex.count(r"\addlinespace") == 1
    assert latex.index("Fashion-MNIST &") < latex.index(r"\addlinespace") < latex.index("CIFAR-10 &")
    assert r"Fashion-MNIST & clean & \textbf{61.00 $\pm$ 0.10} & 50.00 $\pm$ 0.10 \\" in latex
    assert r"\label{tab:x}" in latex
    assert "multirow" not in latex


def test_layout_with_methods_as_rows() -> None:
    lines = results_table.to_markdown(two_datasets(), "methods_as_rows", LABELS).splitlines()
    assert lines[0] == "| method | Fashion-MNIST<br>clean | asymmetric 40 % | CIFAR-10<br>clean | asymmetric 40 % |"
    assert lines[3] == "| AR | 50.00 ± 0.10 | **50.00 ± 0.10** | 50.00 ± 0.10 | **70.00 ± 0.10** |"
    latex = results_table.to_latex(two_datasets(), "methods_as_rows", LABELS)
    assert r" & \multicolumn{2}{c}{Fashion-MNIST} & \multicolumn{2}{c}{CIFAR-10} \\" in latex
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in latex
    with pytest.raises(WarlabError, match="orientation"):
        results_table.to_latex(two_datasets(), "sideways", LABELS)  # type: ignore[arg-type]


def test_best_is_what_prints_highest_and_ties_are_all_bold() -> None:
    key = ("fashion_mnist", "asym-40")
    layout = grid(tidy_table({(*key, "cce"): 80.001, (*key, "ar"): 80.004, (*key, "war_01"): 79.99}))
    assert [layout.cell(layout.settings[0], m).best for m in layout.methods] == [True, True, False]


def test_numbers_of_which_more_is_not_better_are_neither_bold_nor_ranked() -> None:
    table = tidy_table({("fashion_mnist", noise, m): a for noise in ("clean", "asym-40") for m, a in PAIR.items()})
    wrong = table.assign(metric="memorised", mean=100 - table["mean"].astype(float))
    both = pd.concat([table, wrong], ignore_index=True)
    layout = grid(both)
    assert {(setting.metric, method) for (setting, method), one in layout.cells.items() if one.best} == {
        ("test_accuracy", "cce")
    }
    assert results_table.ranks(both).to_dict() == {"cce": 1.0, "ar": 2.0}


def test_networks_and_metrics_are_named_where_there_are_several() -> None:
    rows = [cell("cifar10", "asym-40", "cce"), {**cell("cifar10", "asym-40", "cce"), "net": "cnn2"}]
    table = results_table.tidy(pd.DataFrame(columns=list(results.SUMMARY)), rows, no_published())
    text = results_table.to_markdown(table, "methods_as_columns", LABELS)
    assert "asymmetric 40 %, cnn9" in text
    assert "asymmetric 40 %, cnn2" in text


def test_the_legend_explains_only_what_is_there() -> None:
    plain = tidy_table({("cifar10", "clean", "cce"): 50.0, ("cifar10", "clean", "ar"): 51.0})
    text = results_table.to_markdown(plain, "methods_as_columns", LABELS, "Caption")
    assert "Caption. Bold:" in text
    assert "†" not in text
    assert "–" not in text
    assert "Small print" not in text


def test_stand_in_is_marked_in_every_cell_and_explained() -> None:
    table = tidy_table({("cifar10", "clean", "cce"): 50.0, ("cifar10", "clean", "ar"): 51.0}, "stand-in")
    markdown = results_table.to_markdown(table, "methods_as_columns", LABELS)
    assert "50.00 ± 0.10†" in markdown
    assert "**51.00 ± 0.10**†" in markdown
    assert "†: computed on procedural stand-in data" in markdown
    latex = results_table.to_latex(table, "methods_as_columns", LABELS)
    assert latex.count(r"\rlap{$^{\dagger}$}") == 2
    assert r"$\dagger$: computed on procedural stand-in data" in latex


def test_published_value_and_difference_in_small_print() -> None:
    markdown = results_table.to_markdown(published_table(), "methods_as_rows", LABELS)
    assert "**80.50 ± 0.50**<br><sub>90.41 (−9.91)</sub>" in markdown
    assert "| war\\_embed | –<br><sub>90.20</sub> |" in markdown
    latex = results_table.to_latex(published_table(), "methods_as_rows", LABELS)
    assert r" & {\scriptsize 90.41 ($-$9.91)} \\[2pt]" in latex
    assert r"tv & -- \\" in latex  # neither run nor published: no second line


# ---- special characters


def test_special_characters_are_escaped() -> None:
    assert names.escape_latex(r"50 % & a_b #1 $x {y} ~^\ <i> β→−") == (
        r"50 \% \& a\_b \#1 \$x \{y\} \textasciitilde{}\textasciicircum{}\textbackslash{} "
        r"\textless{}i\textgreater{} $\beta$$\rightarrow$$-$"
    )
    assert names.escape_markdown("a|b_c*<i>") == r"a\|b\_c\*\<i\>"


def test_names_of_methods() -> None:
    assert names.display_name(LABELS, "method", "war_w2v+beta=5") == "WAR_w2v, β = 5"
    assert names.display_name(LABELS, "method", "own_method") == "own_method"
    assert names.latex_method({}, "WAR_0-1, β = 5") == r"WAR\textsubscript{0-1}, $\beta$ = 5"
    assert names.latex_method({}, "own_method") == r"own\_method"
    assert names.markdown_method({}, "WAR_w2v") == "WAR<sub>w2v</sub>"
    assert names.plot_method({}, "WAR_w2v") == r"WAR$_{\mathrm{w2v}}$"


# ---- plain tables, networks, and the PDF of all


def test_many_methods_stand_in_pieces_below_each_other() -> None:
    table = tidy_table({("cifar10", "clean", f"m{k:02d}"): 50.0 + k for k in range(12)})
    latex = results_table.to_latex(table, "methods_as_columns", LABELS)
    assert latex.count(r"\begin{tabular}{llcccccc}") == 2 and latex.count(r"\textbf{61.00") == 1
    assert latex.count(r"\textbf") == 1 and latex.count("CIFAR-10 & clean") == 2  # the best of all pieces


def test_the_deviation_between_runs_has_its_own_table() -> None:
    summary = results.summarise(runs_table({("cce", s): [70.0 + s, 72.0 + s] for s in range(3)}))
    table = results_table.tidy(summary, [cell("fashion_mnist", "asym-40", "cce")], no_published())
    assert "72.00 ± 1.00" in results_table.to_markdown(table, "methods_as_rows", LABELS)  # between 71.x, 72.x, 73.x
    text = results_table.to_latex(table.assign(std_epochs=9.0), "methods_as_rows", LABELS, spread="std_runs")
    assert r"72.00 $\pm$ 1.00" in text and "between the means of the runs" in text and "9.00" not in text


def test_plain_tables_escape_and_break() -> None:
    rows = [{"of": "a_b & 50 %", "value": [1, 2.5]}, {"of": "x" * 70, "value": None}]
    assert r"| a\_b & 50 % | 1, 2.5 |" in plain.to_markdown(rows, ["of", "value"], "c")
    latex = plain.to_latex(rows, ["of", "value"], "50 %", "tab:x")
    assert r"a\_\allowbreak{}b \& 50 \% & 1, 2.5 \\" in latex and latex.count(r"\raggedright\arraybackslash") == 2
    assert formats.value_text(4434570) == "4\u202f434\u202f570" and formats.value_text(True) == "yes"


def test_a_network_tells_its_layers() -> None:
    rows = describe(nets.build("cnn9", 3, 10), (3, 32, 32))
    assert rows[0] == {
        "layer": "3×3 convolution, batch norm, leaky ReLU 0.01",
        "output": "128 × 32 × 32",
        "parameters": 3 * 9 * 128 + 128 + 2 * 128,
    }
    assert sum(row["parameters"] for row in rows) == 4_434_570 and rows[-1]["layer"] == "dense"
    assert [row["layer"] for row in rows].count("2×2 max-pool") == 3


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_all_tables_in_one_pdf(tmp_path: Path) -> None:
    table = tidy_table({("cifar10", "clean", m): 50.0 for m in ("cce", "odd", "war_w2v+beta=5")})
    table_of_rows = plain.to_latex([{"of": r"50 % of β & _ # $ { } ~ ^ \ → − ± ≤ †" * 3}], ["of"], "p_%", "tab:p")
    text = formats.render(
        "document.tex",
        tables=[results_table.to_latex(table, "methods_as_rows", LABELS), table_of_rows],
        title="A_title & 5 %",
    )
    for name in ("a.pdf", "b.pdf"):
        plain.typeset(text, tmp_path / name)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()  # no times in it
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(WarlabError, match="Undefined control sequence"):
        plain.typeset(formats.render("document.tex", tables=[r"\undefinedword"], title="x"), tmp_path / "c.pdf")


def test_without_latex_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WarlabError, match="texlive-latex-recommended"):
        plain.typeset("", tmp_path / "a.pdf")


def test_every_greek_letter_is_a_command_of_latex() -> None:
    """pdflatex stops at a letter that it has no glyph for. Letters that look Latin have no command."""
    for letter in map(chr, [*range(0x3B1, 0x3CA), *range(0x391, 0x3AA)]):
        if letter not in "οςΑΒΕΖΗΙΚΜΝΟΡΤΧ\u03a2":
            assert names.escape_latex(letter).isascii(), letter
