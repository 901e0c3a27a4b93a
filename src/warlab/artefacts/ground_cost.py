"""A ground cost as a CSV file, its provenance, and the checks that verified it."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from warlab.artefacts import Description, read_entries
from warlab.common.files import write_json, write_text
from warlab.errors import WarlabError


@dataclass(frozen=True, kw_only=True)
class Provenance(Description):
    """`cost` is the kind, `key` the id of the cost in the workflow, and `source` says in words where it comes from."""

    cost: str
    settings: Mapping[str, object]
    source: str
    class_names: list[str]
    dataset: str = ""
    data: str = ""
    key: str = ""
    words: list[str] | None = None
    vectors_sha256: str | None = None
    file_sha256: str | None = None
    features: Mapping[str, object] | None = None  # the network and the images


@dataclass(frozen=True)
class GroundCost:
    """`matrix` is float64 (C, C): the cost of moving probability from class i to class j."""

    matrix: np.ndarray
    provenance: Provenance

    @property
    def signed(self) -> bool:
        """Return whether entries may be negative, as in the raw random costs of the paper."""
        return self.provenance.settings.get("variant") == "raw"

    @classmethod
    def load(cls, path: Path) -> "GroundCost":
        provenance = Provenance.load(path)
        return cls(read_matrix(path, provenance.class_names), provenance)

    def save(self, path: Path) -> None:
        write_text(Path(path), matrix_text(self.matrix, self.provenance.class_names))
        self.provenance.save(path)


def matrix_text(matrix: np.ndarray, class_names: Sequence[str]) -> str:
    """CSV with the class names as header and first column; its numbers read back to the same bits."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["class", *class_names])
    writer.writerows([name, *row] for name, row in zip(class_names, np.asarray(matrix).tolist(), strict=True))
    return buffer.getvalue()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_matrix(path: Path, class_names: Sequence[str] | None = None) -> np.ndarray:
    """Read a matrix that is bare, or has the class names as header and first column; they are compared if they are
    given. The csv module reads it, because pandas would read a class called NA as missing, and 01 as the number 1."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(entry.strip() for entry in row)]
        is_bare = bool(rows) and _is_number(rows[0][0])
        head, rows = ([], rows) if is_bare else (rows[0][1:], rows[1:])
        skipped = 0 if is_bare else 1
        matrix = np.array([[float(entry or "nan") for entry in row[skipped:]] for row in rows], np.float64)
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise WarlabError(f"The cost {path} cannot be read as a CSV of numbers ({error}); check the file.") from error
    if not len(matrix) or matrix.shape != (len(matrix), len(matrix)):
        raise WarlabError(f"The cost {path} is not a square matrix; give one row and one column per class.")
    names = None if class_names is None else list(class_names)
    if names is not None and (len(matrix) != len(names) or not (is_bare or head == [row[0] for row in rows] == names)):
        raise WarlabError(
            f"The cost {path} has other classes than the data ({', '.join(names)}): give a bare matrix of numbers in "
            "this order, or one with these names as header and first column."
        )
    if not np.isfinite(matrix).all():
        raise WarlabError(f"The cost {path} has entries that are not finite numbers; give a number for every pair.")
    return matrix


@dataclass(frozen=True)
class Check:
    """A property of a cost: `value` must be at most `limit`. No training starts if a required check fails."""

    name: str
    value: float
    limit: float
    meaning: str
    required: bool = True

    @property
    def passed(self) -> bool:
        return bool(self.value <= self.limit)


@dataclass(frozen=True)
class Verification:
    """All checks of a cost, as runs with this lambda and these iterations use it. `pairs` of predictions were compared
    with POT, whose version is `pot`."""

    lam: float
    iterations: int
    pairs: int
    pot: str
    checks: list[Check]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks if check.required)

    @classmethod
    def load(cls, path: Path) -> "Verification":
        content = read_entries(path, {field.name for field in fields(cls)} | {"passed"})
        del content["passed"]  # it follows from values and limits
        return cls(**content | {"checks": [Check(**check) for check in content["checks"]]})

    def save(self, path: Path) -> None:
        write_json(path, {"passed": self.passed, **asdict(self)})
