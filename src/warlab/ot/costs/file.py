"""A matrix of the user: numbers in the order of the classes, whose names may be the header and first column."""

from pathlib import Path

from warlab.artefacts.ground_cost import read_matrix
from warlab.common.files import file_digest
from warlab.errors import WarlabError
from warlab.ot.costs.base import CostInputs, Made, Origin

USER_FILES = ("path",)


def make(inputs: CostInputs, path: str | None = None) -> Made:
    if path is None:
        raise WarlabError("The cost `file` needs a path; give it as overrides: {costs: {file: {path: my.csv}}}.")
    matrix = read_matrix(Path(path), inputs.class_names)
    return matrix, Origin(f"file {path}", file_sha256=file_digest(Path(path)))
