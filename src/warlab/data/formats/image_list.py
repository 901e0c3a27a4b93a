"""A CSV file with the label of each image: columns `file`, relative to the CSV file, and `label`.

    file,label
    ../photos/cat/001.png,cat

Names of files and classes may have any characters. A cell that a spreadsheet would take for a formula begins with an
apostrophe (`to_cell`, `from_cell`); bytes that are not UTF-8 are kept as they are.
"""

import csv
import os
from collections import Counter
from pathlib import Path

from warlab.common.wording import for_terminal
from warlab.errors import WarlabError

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def read_image_list(path: Path) -> dict[str, str]:
    """Return the label of each file, in the order of the rows."""
    rows = read_rows(path, ("file", "label"))
    for line, row in enumerate(rows, 2):
        if not row["file"].strip() or not row["label"].strip():
            raise WarlabError(
                f"Row {line} of {for_terminal(path)} has an empty file or label; fill it in or remove it."
            )
    twice = [file for file, count in Counter(os.path.normpath(row["file"]) for row in rows).items() if count > 1]
    if twice:
        raise WarlabError(f"{for_terminal(path)} lists {for_terminal(twice[0])} more than once; keep one label of it.")
    classes = {row["label"] for row in rows}
    apart = Counter(name.strip() for name in classes)
    if spaced := sorted(name for name in classes if apart[name.strip()] > 1):
        names = " and ".join(map(repr, spaced[:2]))
        raise WarlabError(
            f"{for_terminal(path)} has the labels {names}, which differ in spaces alone; write one of them."
        )
    return {row["file"]: row["label"] for row in rows}


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
        raise WarlabError(f"{for_terminal(path)} cannot be read as a CSV file ({error}).") from error
    if missing:
        raise WarlabError(
            f"{for_terminal(path)} has no column {missing[0]!r}; its first line must name {', '.join(columns)}."
        )
    for line, row in enumerate(rows, 2):
        if any(row[name] is None for name in columns):
            raise WarlabError(f"Row {line} of {for_terminal(path)} has too few cells; give {', '.join(columns)}.")
    return [{name: from_cell(row[name]) for name in columns} for row in rows]


def to_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def from_cell(cell: str) -> str:
    """Return the text of a cell that `to_cell` made."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell
