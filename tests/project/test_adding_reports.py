"""Follow docs/extending.md literally: a figure, a table and a claim, each by the files of its row and no others."""

import re
from pathlib import Path

import pandas as pd

from tests.conftest import ROOT
from tests.helpers.checkout import changed_files, contents, copy_repository, output_of

PAGE = (ROOT / "docs" / "extending.md").read_text()
NAMES = {"<name>": "forgetting", "<scale>": "laptop"}
# Where each block of a section goes; a file that exists gets it at its end.
PLACES = {
    "a figure": ["src/warlab/reporting/figures/forgetting.py"],
    "a table": ["config/experiments.yaml", "config/scales/laptop.yaml"],
    "a claim": ["config/claims.yaml", "src/warlab/reporting/claims/checks.py"],
}


def snippets(title: str) -> list[str]:
    """Return the blocks of code of a section of the page."""
    section = PAGE[PAGE.index(f"## {title}\n") :].split("\n## ")[0]
    return re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)


def row(kind: str) -> set[str]:
    """Return the files that CONTRIBUTING.md says to touch."""
    line = next(line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith(f"| {kind} |"))
    files = re.findall(r"`((?:src|config)/[^`]*)`", line.split("|")[2])
    for name, example in NAMES.items():
        files = [file.replace(name, example) for file in files]
    return set(files)


def test_the_rows_lead_to_a_figure_a_table_and_a_verdict(tmp_path: Path) -> None:
    """From the committed runs of the laptop study, without training."""
    copy_repository(tmp_path, "docs/evidence/laptop")
    for kind, places in PLACES.items():
        before = contents(tmp_path)
        for place, text in zip(places, snippets(kind.capitalize()), strict=True):
            path = tmp_path / place
            gap = "\n\n\n" if path.suffix == ".py" else "\n"
            path.write_text(path.read_text().rstrip("\n") + gap + text if path.exists() else text)
        assert changed_files(before, contents(tmp_path)) == row(kind), kind

    results = tmp_path / "results" / "laptop"
    targets = ("figures/forgetting.png", "tables/two_methods.csv", "claims.csv")
    command = "snakemake --cores 1 --quiet --config scale=laptop runs_from=docs/evidence/laptop -- "
    output_of(command + " ".join(f"results/laptop/{target}" for target in targets), tmp_path)
    assert "minus that of the last epoch" in next((results / "figures").glob("forgetting*.txt")).read_text()
    table = pd.read_csv(results / "tables" / "two_methods.csv").set_index("method")
    assert table["mean"].round(2).to_dict() == {"cce": 78.66, "war_w2v": 83.06}
    verdict = pd.read_csv(results / "claims.csv").set_index("id").loc["war_fewer_errors"]
    assert verdict["verdict"] == "undecided, points against"  # 16.94 / 21.34 = 0.79, and no interval
    assert "WAR_w2v / CCE = 0.79" in verdict["numbers"]
