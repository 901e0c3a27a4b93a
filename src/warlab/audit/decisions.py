"""decisions.csv, which review.html writes, and what it makes of the labels of a folder."""

import csv
import io
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warlab.common.files import write_atomic
from warlab.common.progress import Progress
from warlab.common.wording import printable, several, short
from warlab.data.formats.image_list import read_rows, to_cell
from warlab.data.in_place import CLASSES
from warlab.errors import WarlabError

LABELS = "labels.csv"
SMALL = 32  # pixels, at which an image is read to see whether it can be
COLUMNS = ("file", "label", "decision", "new_label")  # that are needed
KEEP, RELABEL, DROP, UNSURE = "keep", "relabel", "drop", "unsure"


@dataclass(frozen=True)
class Decision:
    """What a person said about a file with this given label; `new_label` is empty unless it is relabelled."""

    file: str
    label: str
    decision: str
    new_label: str


@dataclass(frozen=True)
class Corrected:
    """The labels (file → class) after the decisions. `changed` and `dropped` name the files concerned, `unsure` those
    whose label stays for now."""

    labels: Mapping[str, str]
    changed: Sequence[str]
    dropped: Sequence[str]
    unsure: Sequence[str]

    def summary(self) -> str:
        return (
            f"{several(len(self.changed), 'label')} changed, {several(len(self.dropped), 'image')} dropped, "
            f"{len(self.unsure)} unsure and left as given; {several(len(self.labels), 'image')} in all"
        )


def read_decisions(path: Path | str) -> list[Decision]:
    """Read and check a decisions.csv."""
    found = []
    for number, row in enumerate(read_rows(path, COLUMNS), 2):
        one = Decision(**row)
        if one.decision not in (KEEP, RELABEL, DROP, UNSURE):
            known = ", ".join((KEEP, RELABEL, DROP, UNSURE))
            raise WarlabError(
                f"{path}: record {number} has the decision {short(one.decision)}; it must be one of {known}."
            )
        if bool(one.new_label) != (one.decision == RELABEL):
            raise WarlabError(f"{path}: record {number} must have a new_label if it is relabelled, and only then.")
        found.append(one)
    twice = [file for file, count in Counter(one.file for one in found).items() if count > 1]
    if twice:
        raise WarlabError(f"{path} decides about {short(twice[0])} more than once; leave one line for each file.")
    return found


def correct(labels: Mapping[str, str], decisions: Sequence[Decision], classes: Sequence[str]) -> Corrected:
    """Apply decisions to the given labels (file → class). Decisions that were made for other labels are refused.

    Decisions name files and classes as the page shows them: bytes that are not UTF-8 are escaped there.
    """
    files, names = ({printable(text): text for text in texts} for texts in (labels, classes))
    unknown = [one.file for one in decisions if one.file not in files]
    if unknown:
        raise WarlabError(
            f"{several(len(unknown), 'decision')} of these are about files that are not here, first "
            f"{short(unknown[0])}; use the decisions of this folder."
        )
    new, dropped, unsure = {}, [], []
    for one in decisions:
        file = files[one.file]
        if printable(labels[file]) != one.label:
            raise WarlabError(
                f"{short(one.file)} is labelled {short(labels[file])} now, but was {short(one.label)} when it was "
                "reviewed; run the audit again, or use the folder that was reviewed."
            )
        if one.decision == RELABEL:
            if one.new_label not in names:
                raise WarlabError(
                    f"The new label {short(one.new_label)} of {short(one.file)} is not one of the classes."
                )
            new[file] = names[one.new_label]
        elif one.decision == DROP:
            dropped.append(file)
        elif one.decision == UNSURE:
            unsure.append(file)
    left = labels.keys() - dropped
    return Corrected(
        {file: new.get(file, label) for file, label in labels.items() if file in left},
        changed=[file for file, label in new.items() if label != labels[file]],
        dropped=dropped,
        unsure=unsure,
    )


def apply_decisions(
    decisions: Path, folder: Path, labels: Mapping[str, str], classes: Sequence[str], out: Path, copy: Path | None
) -> str:
    """Write labels.csv into `out` and, if `copy` is given, a corrected folder there; return what was done.

    `labels` are those of the files of `folder`, which is not changed. Files in labels.csv are relative to `out`, and
    a classes.txt of the folder is copied there.
    """
    done = correct(labels, read_decisions(decisions), classes)
    unreadable = [] if copy is None else copy_corrected(copy, folder, done.labels, classes)
    start, whole = out.resolve(), folder.resolve()  # a relative path must not lead through a link
    write_labels(out / LABELS, {os.path.relpath(whole / file, start): label for file, label in done.labels.items()})
    if (whole / CLASSES).is_file() and whole != start:
        shutil.copy2(whole / CLASSES, start)  # the workflow reads the order of the classes beside the list
    written = [str(out / LABELS), *([] if copy is None else [str(copy)])]
    without = f", without {several(len(unreadable), 'unreadable image')}, first {unreadable[0]}" if unreadable else ""
    return f"{done.summary()}; written to {' and '.join(written)}{without}"


def write_labels(path: Path, labels: Mapping[str, str]) -> None:
    """Write labels.csv: a line for each file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([("file", "label"), *((to_cell(file), to_cell(label)) for file, label in labels.items())])
    write_atomic(path, lambda file: file.write(buffer.getvalue().encode("utf-8", "surrogateescape")))


def copy_corrected(out: Path, folder: Path, labels: Mapping[str, str], classes: Sequence[str]) -> list[str]:
    """Copy the images of `folder` into a new folder with a folder per class, and classes.txt if there is one.

    Images of one name that come to the same class get a number. Files that cannot be read as images, which an audit
    does not judge, are left out and returned. The new folder appears at the end only, so that one which is there is
    complete.
    """
    if out.exists():
        raise WarlabError(f"{out} is there already; move it away, or choose another folder.")
    unfit = [name for name in classes if name in (".", "..") or "/" in name or "\\" in name or "\0" in name]
    if unfit:
        raise WarlabError(f"The class {short(unfit[0])} cannot be the name of a folder; use labels.csv instead.")
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    for name in classes:
        (part / name).mkdir(parents=True)
    unreadable = []
    progress = Progress("copied {} of {} images", len(labels))
    for done, (file, label) in enumerate(labels.items(), 1):
        if _is_readable(folder / file):
            shutil.copy2(folder / file, _free(part / label / Path(file).name))
        else:
            unreadable.append(file)
        progress(done)
    if len(unreadable) == len(labels):
        raise WarlabError(f"No image in {folder} can be read; check that it is the folder that was reviewed.")
    if (folder / CLASSES).is_file():
        shutil.copy2(folder / CLASSES, part)
    part.rename(out)
    return unreadable


def _is_readable(path: Path) -> bool:
    from warlab.data.formats.image_file import read_square

    try:
        read_square(path, SMALL)
    except WarlabError:
        return False
    return True


def _free(path: Path) -> Path:
    """Return this path, or with a number if it is taken."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}_{number}{path.suffix}")
    return free
