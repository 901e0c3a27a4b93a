"""The workflow inside another one: imported as a module, from a folder of its own."""

from pathlib import Path

import yaml

from tests.conftest import ROOT
from tests.helpers.checkout import output_of

IMPORTING = f"""
configfile: "config.yaml"

module warlab:
    snakefile: "{ROOT / "workflow" / "Snakefile"}"
    config: config["warlab"]
    pathvars:
        results="elsewhere"

use rule * from warlab as warlab_*

rule mine:
    input:
        rules.warlab_corrupt.output.labels.format(dataset="fashion_mnist", noise="asym-40", seed=0)
    output:
        "mine.npz"
    shell:
        "cp {{input}} {{output}}"
"""


def test_another_workflow_imports_ours_and_moves_its_results(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(IMPORTING)
    (tmp_path / "config.yaml").write_text("warlab: {scale: smoke}\n")
    assert "warlab_train" in output_of("snakemake --cores 1 -n warlab_all", tmp_path, PYTHONPATH="")
    output_of("snakemake --cores 1 mine", tmp_path, PYTHONPATH="")
    made = tmp_path / "elsewhere" / "noise" / "fashion_mnist" / "asym-40" / "seed0.npz"
    assert (tmp_path / "mine.npz").read_bytes() == made.read_bytes()
    assert (tmp_path / "elsewhere" / "logs" / "corrupt" / "fashion_mnist" / "asym-40" / "seed0.log").exists()
    assert not (tmp_path / "config").exists() and not (tmp_path / "results").exists()


def test_the_catalog_finds_what_it_asks_for() -> None:
    catalog = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())
    assert "mandatory-flags" in catalog["usage"] and "report" in catalog["usage"]["software-stack-deployment"]
    assert (ROOT / "workflow" / "Snakefile").is_file() and (ROOT / "config" / "config.yaml").is_file()
    listed = (ROOT / "config" / "README.md").read_text()
    files = [file.name for file in (ROOT / "config").iterdir() if file.is_file() and file.name != "README.md"]
    assert [name for name in files if f"`{name}`" not in listed] == []
