"""Every table's LaTeX alone, in the smallest document that its first line asks for: it compiles and fits the line."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.helpers.reports import PUBLISHED, runs_of_the_paper
from warlab import data, nets
from warlab.config.reductions import used_settings
from warlab.config.study import load_study
from warlab.nets._describe import describe
from warlab.reporting.read import results
from warlab.reporting.tables import plain, results_table
from warlab.reporting.tables.timing_table import COLUMNS, timing_legend, timing_rows, timing_table

STUDY = load_study({"scale": "paper"}, ROOT)
SECONDS = {method: {"epoch": 12.5} for method in ("cce", "ar", "war_01", "war_code")}
pdflatex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")


def minimal(table: str) -> str:
    packages = re.match(r"% needs (\\usepackage\{[a-z,]+\})\n", table)
    assert packages, "the first line names the packages"
    return rf"\documentclass{{article}}{packages[1]}\begin{{document}}{table}\end{{document}}"


def compiled(text: str, folder: Path) -> str:
    """What LaTeX says of a document that it must accept."""
    (folder / "t.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    for _ in range(2):  # a longtable knows its widths after the first time
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
        assert done.returncode == 0, done.stdout[-1500:]
    return done.stdout


def paper_table(experiment: str) -> str:
    """A table at the paper's full size, made of the published numbers."""
    entry = STUDY.experiments[experiment]
    metrics = entry.get("metrics", [entry["metric"]])
    summary = results.summarise(runs_of_the_paper().assign(purity=90.0), metrics=metrics)
    published = results.read_published(PUBLISHED, experiment)
    table = results_table.tidy(summary, STUDY.plan.layout(experiment), published, entry.get("ranks", []), metrics)
    return results_table.to_latex(table, entry["orientation"], STUDY.labels, entry["title"], "tab:t")


def networks() -> Iterator[dict[str, str]]:
    for name, dataset in (("cnn9", "cifar10"), ("cnn2", "cifar10"), ("cnn6", "cifar10"), ("unet", "vaihingen")):
        side = 32 if dataset == "cifar10" else 128
        shape = (data.get(dataset).pixels.shape[0], side, side)
        net = nets.build(name, shape[0], 10, **STUDY.settings.net(name, dataset))
        seen = {"network": name, "input": f"{dataset}: {' × '.join(map(str, shape))}"}
        yield from (seen | row for row in describe(net, shape))


def plain_hyperparameters() -> str:
    columns = ["of", "setting", "runs", "value", "source"]
    return plain.to_latex(used_settings(STUDY), columns, "Settings", "tab:h")


def plain_architectures() -> str:
    return plain.to_latex(list(networks()), ["network", "input", "layer", "output", "parameters"], "Nets", "tab:a")


def plain_timing() -> str:
    measured = [{"dataset": d, "noise": "clean", "net": "cnn9", "seconds": SECONDS} for d in ("cifar10", "imagenet32")]
    times = timing_table(measured, results.read_published(PUBLISHED, "timing"))
    legend = timing_legend("Seconds per epoch", "a machine", reduced=True)
    return plain.to_latex(timing_rows(times, STUDY.labels), COLUMNS, legend, "tab:timing")


PLAIN = {"hyperparameters": plain_hyperparameters, "architectures": plain_architectures, "timing": plain_timing}


def assert_fits(table: str, folder: Path) -> None:
    said = compiled(minimal(table), folder)
    assert "Overfull" not in said, re.findall(r"Overfull.*(?:\n.*){2}", said)[:5]


@pdflatex
@pytest.mark.parametrize("experiment", STUDY.plan.tables)
def test_a_table_compiles_alone_and_fits(experiment: str, tmp_path: Path) -> None:
    assert_fits(paper_table(experiment), tmp_path)


@pdflatex
@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_table_compiles_alone_and_fits(name: str, tmp_path: Path) -> None:
    assert_fits(PLAIN[name](), tmp_path)


def test_the_columns_of_a_plain_table_share_the_line() -> None:
    """Also without LaTeX: the shares of the columns sum to the whole width, and numbers stand to the right."""
    rows = [{"a": "word " * 30, "b": 7, "c": "x_" * 20}, {"a": "b", "b": 1_000_000, "c": "y"}]
    text = plain.to_latex(rows, ["a", "b", "c"], "caption", "tab:x")
    shares = [float(share) for share in re.findall(r"dimexpr ([0-9.]+)\\LTcapwidth", text)]
    assert len(shares) == 3 and sum(shares) == pytest.approx(1, abs=1e-3) and shares[0] == max(shares)
    assert text.count(r">{\raggedleft") == 1 and "x\\_\\allowbreak{}x" in text
