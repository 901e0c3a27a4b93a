"""The outcome of `warlab audit FOLDER`: what is written to the output folder, and read from it.

    result = AuditResult.load(Path("photos-audit"))
    result.files[0], result.classes[result.labels[0]], result.classes[result.suggested[0]]

Two files of the output folder, both written at the end (`review` writes the third):

`suspects.csv`   one row for every image, the most suspicious first: rank (from 1), file (relative to `folder`), label,
                 suggested, score, chance (estimated probability that the label is wrong), likely_wrong (yes or no).
`summary.json`   everything else: folder, classes, counts, unreadable files, estimates, matrix.

All arrays of an `AuditResult` are in the order of the rows. A sample with likely_wrong = no has a suggestion as well:
the most probable other class. Names of files and classes may have any characters. In the CSV, a cell that a
spreadsheet would take for a formula begins with an apostrophe (`to_cell`, `from_cell`); bytes that are not UTF-8 are
kept as they are.
"""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from warlab.common.files import read_json, write_atomic, write_json
from warlab.errors import WarlabError

SUSPECTS = "suspects.csv"
SUMMARY = "summary.json"
COLUMNS = ("rank", "file", "label", "suggested", "score", "chance", "likely_wrong")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """The judged images (N) of C classes, the most suspicious first, and estimates over all of them."""

    folder: Path  # the files are relative to it
    listing: str | None = None  # the CSV file that gave the labels; None if the folders did
    classes: tuple[str, ...]
    files: tuple[str, ...]  # N
    labels: np.ndarray  # (N,) given classes
    suggested: np.ndarray  # (N,) the most probable other class
    score: np.ndarray  # (N,) falls from row to row
    chance: np.ndarray  # (N,) estimated probability that the label is wrong
    likely_wrong: np.ndarray  # (N,) bool
    unreadable: dict[str, str] = field(default_factory=dict)  # file → reason; these are not judged
    at_most: int  # upper estimate of the number of wrong labels
    rates: np.ndarray  # (C,) upper estimate of the share of wrong labels among those of each class
    judged_by: str  # what the images were judged by, for people

    @property
    def matrix(self) -> np.ndarray:
        """Return the number (C, C) of likely wrong labels by given and suggested class."""
        counts = np.zeros((len(self.classes), len(self.classes)), np.int64)
        np.add.at(counts, (self.labels[self.likely_wrong], self.suggested[self.likely_wrong]), 1)
        return counts

    def save(self, out: Path | str) -> None:
        """Write both files into the folder `out`."""
        text = self.csv()
        out = Path(out)
        write_atomic(out / SUSPECTS, lambda file: file.write(text.encode("utf-8", "surrogateescape")))
        write_json(out / SUMMARY, self.summary())

    def csv(self) -> str:
        """Return the text of suspects.csv."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)  # else a lone \\r is not quoted
        writer.writerow(COLUMNS)
        columns = (self.files, self.labels, self.suggested, self.score, self.chance, self.likely_wrong)
        for rank, (file, label, suggested, score, chance, wrong) in enumerate(zip(*columns, strict=True), 1):
            names = [to_cell(name) for name in (file, self.classes[label], self.classes[suggested])]
            numbers = (float(f"{score:.6g}"), round(float(chance), 4))
            writer.writerow([rank, *names, *numbers, "yes" if wrong else "no"])
        return buffer.getvalue()

    def summary(self) -> dict[str, Any]:
        """Return the content of summary.json."""
        return {
            "folder": str(self.folder.resolve()),
            "listing": self.listing,
            "classes": list(self.classes),
            "images": len(self.files),
            "images_per_class": np.bincount(self.labels, minlength=len(self.classes)).tolist(),
            "unreadable": self.unreadable,
            "at_most_wrong": self.at_most,
            "likely_wrong": int(self.likely_wrong.sum()),
            "at_most_wrong_share_per_class": dict(zip(self.classes, self.rates.tolist(), strict=True)),
            "matrix_given_to_suggested": self.matrix.tolist(),
            "judged_by": self.judged_by,
        }

    @classmethod
    def load(cls, out: Path | str) -> "AuditResult":
        """Read the files that `save` wrote."""
        out = Path(out)
        about, rows = read_json(out / SUMMARY), read_rows(out / SUSPECTS, COLUMNS)
        number = {name: k for k, name in enumerate(about["classes"])}
        try:
            labels, suggested = ([number[row[name]] for row in rows] for name in ("label", "suggested"))
            return cls(
                folder=Path(about["folder"]),
                listing=about["listing"],
                classes=tuple(about["classes"]),
                files=tuple(row["file"] for row in rows),
                labels=np.array(labels, np.int64),
                suggested=np.array(suggested, np.int64),
                score=np.array([float(row["score"]) for row in rows]),
                chance=np.array([float(row["chance"]) for row in rows]),
                likely_wrong=np.array([row["likely_wrong"] == "yes" for row in rows], bool),
                unreadable=about["unreadable"],
                at_most=about["at_most_wrong"],
                rates=np.array([about["at_most_wrong_share_per_class"][name] for name in about["classes"]]),
                judged_by=about["judged_by"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise WarlabError(f"The files in {out} do not fit together ({error}); run warlab audit again.") from error


def to_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def from_cell(cell: str) -> str:
    """Return the text of a cell that `to_cell` made."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def read_rows(path: Path | str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Read the rows of a CSV file that has at least these columns; no cell of them may be missing. Spreadsheets of some
    languages write semicolons."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig", errors="surrogateescape") as file:
            first = file.readline()
            file.seek(0)
            reader = csv.DictReader(file, delimiter=";" if first.count(";") > first.count(",") else ",")
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            rows = [] if missing else list(reader)
    except (OSError, csv.Error) as error:
        raise WarlabError(f"{path} cannot be read as a CSV file ({error}).") from error
    if missing:
        raise WarlabError(f"{path} has no column {missing[0]!r}; its first line must name {', '.join(columns)}.")
    for line, row in enumerate(rows, 2):
        if any(row[name] is None for name in columns):
            raise WarlabError(f"Row {line} of {path} has too few cells; give {', '.join(columns)}.")
    return [{name: from_cell(row[name]) for name in columns} for row in rows]
