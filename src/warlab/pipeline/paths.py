"""Where the files of a study are.

The rules declare all files. Their patterns begin with one of these folders, such as `<results>`; rules/common.smk gives
them to Snakemake as pathvars. The methods name the files that Python code looks for without Snakemake; a test compares
them with the rules.
"""

from dataclasses import dataclass
from pathlib import Path

from warlab.config.study import Study
from warlab.ids import RunId

# Regular expressions of the wildcards, narrow enough that no file matches two rules; see `warlab.ids`.
WILDCARDS = {
    "dataset": "[a-z0-9_]+",
    "source": "embedded|stand_in|real(-[0-9a-f]{12})?",
    "noise": r"[a-z0-9_]+(-[0-9.]+)?",
    "net": r"[a-z0-9_]+(\.[A-Za-z0-9_]+)?",
    "method": r"[A-Za-z0-9_+=.\-]+",
    "seed": "[0-9]+",
    "cost": "[A-Za-z0-9_@.-]+",
    "lam": "[0-9.e-]+",
    "iterations": "[0-9]+",
    "network": "[a-z0-9_]+",
    "size": "[0-9]+",
    "experiment": "[a-z0-9_]+",
    "figure": "[a-z0-9_]+",
}


def snakemake_call(root: Path) -> list[str]:
    """Return the words that call the workflow of this repository from the working folder."""
    return ["snakemake"] if Path.cwd() == root.resolve() else ["snakemake", "-s", str(root.resolve() / "Snakefile")]


@dataclass(frozen=True)
class Paths:
    """The folders of a study: fetched files, results of the scale, and results that do not depend on the scale."""

    raw: str
    results: str
    common: str = ""

    @classmethod
    def of(cls, study: Study) -> "Paths":
        results = study.config.get("results_root", "results")
        return cls(study.config.get("data_root", "data"), f"{results}/{study.name}", f"{results}/common")

    def receipt(self, name: str, source: str) -> str:
        """Return the file that records where a dataset or another resource was fetched from."""
        return f"{self.raw}/{name}/{source}/receipt.json"

    def data_json(self, dataset: str) -> str:
        return f"{self.results}/data/{dataset}.json"

    def run(self, run: RunId) -> str:
        return f"{self.results}/runs/{run}"

    def train_log(self, run: RunId) -> str:
        return f"{self.results}/logs/train/{run}.log"

    def suspects(self, run: RunId) -> str:
        """Return the list of labels that look wrong."""
        return f"{self.results}/audit/{run}/suspects.csv"


IN_RULES = Paths("<raw>", "<results>", "<common>")  # Snakemake fills in the folders
