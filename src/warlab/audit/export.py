"""Suspects for other tools: a table of pandas, a CSV file, and tasks of Label Studio."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warlab.audit.review import Suspects
from warlab.audit.scoring import SCORES
from warlab.common.files import write_atomic
from warlab.common.wording import printable
from warlab.data.formats.image_list import to_cell
from warlab.errors import WarlabError


def name_suspects(
    audit: Any, rows: np.ndarray, by: str, files: Sequence[Any] | None, classes: Sequence[str] | None
) -> Suspects:
    """Return rows of `audit.suspects` with names of files and classes; without names they have their numbers."""
    files, classes = (_in_order(*given) for given in (("files", files), ("classes", classes)))
    if files is not None and len(files) != audit.n_samples:
        raise WarlabError(f"This audit has {audit.n_samples} samples, but files names {len(files)}.")
    if classes is not None and len(classes) != audit.n_classes:
        raise WarlabError(f"This audit has {audit.n_classes} classes, but classes names {len(classes)}.")
    return Suspects(
        files=[str(k if files is None else files[k]) for k in rows["index"].tolist()],
        labels=rows["label"],
        suggested=rows["suggested"],
        scores=rows[by],
        classes=[str(name) for name in (range(audit.n_classes) if classes is None else classes)],
    )


def _in_order(what: str, names: Any) -> list[Any] | None:
    """Return names by position: a Series of pandas would be asked for its own numbers of rows."""
    if isinstance(names, str | Mapping):
        raise WarlabError(
            f"The {what} are a {type(names).__name__}; give a list of names, in the order of their numbers."
        )
    return None if names is None else list(names)


def columns(rows: np.ndarray, named: Suspects) -> dict[str, Any]:
    """Return the columns by name: index, file, label, suggested, and the scores."""
    names = {kind: [named.classes[k] for k in getattr(named, kind)] for kind in ("labels", "suggested")}
    scores = {name: rows[name].astype(float) for name in SCORES}
    table = {
        "index": rows["index"],
        "file": list(named.files),
        "label": names["labels"],
        "suggested": names["suggested"],
    }
    return table | scores


def write_csv(path: Path, table: dict[str, Any]) -> None:
    """Write columns as CSV, no cell of which is a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(table)
    for row in zip(*(list(column) for column in table.values()), strict=True):
        cells = (to_cell(cell) if isinstance(cell, str) else float(f"{cell:.6g}") for cell in row[1:])
        writer.writerow([int(row[0]), *cells])
    write_atomic(path, lambda file: file.write(buffer.getvalue().encode("utf-8", "surrogateescape")))


def label_studio(suspects: Suspects, images: Sequence[str]) -> list[dict[str, Any]]:
    """Return tasks for Label Studio's import: the suggestion is a prediction with the score, by which tasks can be
    sorted. `images` are the addresses under which it finds the files. The labels belong to a configuration such as

        <View>
          <Image name="image" value="$image"/>
          <Choices name="label" toName="image"><Choice value="cat"/><Choice value="dog"/></Choices>
        </View>
    """
    tasks = []
    rows = zip(suspects.files, suspects.labels, suspects.suggested, suspects.scores, images, strict=True)
    for file, label, other, score, image in rows:
        given, suggested = (printable(suspects.classes[k]) for k in (label, other))
        choice = {"from_name": "label", "to_name": "image", "type": "choices", "value": {"choices": [suggested]}}
        prediction = {"model_version": "warlab", "score": float(score), "result": [choice]}
        data = {"image": image, "file": printable(file), "given_label": given}
        tasks.append({"data": data, "predictions": [prediction]})
    return tasks
