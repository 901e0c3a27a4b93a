"""The outcome of `warlab audit FOLDER`: what is written to the output folder, and read from it.

    result = AuditResult.load(Path("photos-audit"))
    result.files[0], result.classes[result.labels[0]], result.classes[result.suggested[0]]

Two files of the output folder, both written at the end (`review` writes the third):

`suspects.csv`   one row for every image, the most suspicious first: rank (from 1), file (relative to `folder`), label,
                 suggested, score, chance (estimated probability that the label is wrong), likely_wrong (yes or no).
`summary.json`   everything else: folder, classes, counts, unreadable files, estimates, matrix.

All arrays of an `AuditResult` are in the order of the rows. A sample with likely_wrong = no has a suggestion as well:
the most probable other class. The cells of the CSV are those of `warlab.data.formats.image_list`.
"""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from warlab.common.files import read_json, write_atomic, write_json
from warlab.data.formats.image_list import read_rows, to_cell
from warlab.errors import WarlabError

SUSPECTS = "suspects.csv"
SUMMARY = "summary.json"
COLUMNS = ("rank", "file", "label", "suggested", "score", "chance", "likely_wrong")


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
