"""Find wrong labels: suspicion scores for all training samples, collected during an ordinary training.

    audit = LabelAudit(len(dataset), classes)             # before the training
    audit.update(logits, labels, index)                   # in every step; index: numbers of the samples of the batch
    suspects = audit.suspects()                           # afterwards: index, label, suggested label, scores

Logits are tensors or numpy arrays. Importing this package does not import torch; the first audit does.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warlab.audit.quality import auroc, average_precision, precision_at_errors
from warlab.audit.record import Means, Record
from warlab.audit.scoring import DEFAULT, SCORES, scores, suggested, suspects

Names = Sequence[Any] | None

__all__ = ["SCORES", "LabelAudit", "Means", "auroc", "average_precision", "precision_at_errors"]


class LabelAudit(Record):
    """An audit of `n_samples` labels of `n_classes` classes; `warlab.audit.scoring` defines the scores.

    `epochs` are the epochs that count, by default all of them. For example, range(40) leaves out later epochs, in which
    a network memorises wrong labels (AUM stops at the first drop of the learning rate). With `epochs`, every update
    must name its epoch. With `state_dict` and `load_state_dict` an audit continues exactly.

    >>> import numpy as np
    >>> audit = LabelAudit(n_samples=3, n_classes=2)
    >>> audit.update(np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), labels=np.array([0, 1, 1]), index=np.arange(3))
    >>> audit.suspects()["index"]
    array([2])
    """

    def scores(self, cost: Any = None) -> dict[str, np.ndarray]:
        """Return the scores by name, (N,) float32; higher is more suspicious. `cost` (C, C) is that of `transport`."""
        return scores(self.means(), cost)

    def suggested(self) -> np.ndarray:
        """Return the labels (N,) that the network suggests."""
        return suggested(self.means())

    def suspects(self, by: str = DEFAULT, cost: Any = None) -> np.ndarray:
        """Return a structured array of the samples whose suggested label differs, most suspicious first."""
        return suspects(self.means(), by, cost)

    def to_frame(self, files: Names = None, classes: Names = None, by: str = DEFAULT, cost: Any = None) -> Any:
        """Return the suspects as a DataFrame of pandas: index, file, label, suggested, scores. `files` names all
        samples and `classes` all classes, in the order of their numbers."""
        import pandas as pd

        return pd.DataFrame(self._table(files, classes, by, cost))

    def write_csv(
        self, path: Path | str, files: Names = None, classes: Names = None, by: str = DEFAULT, cost: Any = None
    ) -> None:
        """Write the columns of `to_frame`, without pandas."""
        from warlab.audit.export import write_csv

        write_csv(Path(path), self._table(files, classes, by, cost))

    def review_page(
        self,
        path: Path | str,
        images: Any,
        files: Names = None,
        classes: Names = None,
        by: str = DEFAULT,
        cost: Any = None,
        title: str = "Labels",
    ) -> None:
        """Write a page on which a person decides about the suspects, and which exports decisions.csv.

        `images` are those of all samples: anything that `images[index]` or `images(index)` takes one from, as a Pillow
        image or an array. `warlab.audit.decisions.read_decisions` reads the file.
        """
        from warlab.audit.export import name_suspects
        from warlab.audit.review import write_review

        rows = self.suspects(by, cost)
        take = images if callable(images) else getattr(images, "iloc", images).__getitem__  # by position
        named = name_suspects(self, rows, by, files, classes)
        write_review(Path(path), named, lambda k: take(int(rows["index"][k])), title)

    def label_studio(
        self, images: Names, classes: Names = None, by: str = DEFAULT, cost: Any = None
    ) -> list[dict[str, Any]]:
        """Return the suspects as tasks for Label Studio, to be written as JSON. `images` are the addresses of all
        samples there; `warlab.audit.export.label_studio` shows the labelling configuration."""
        from warlab.audit.export import label_studio, name_suspects

        named = name_suspects(self, self.suspects(by, cost), by, images, classes)
        return label_studio(named, named.files)

    def _table(self, files: Names, classes: Names, by: str, cost: Any) -> dict[str, Any]:
        from warlab.audit.export import columns, name_suspects

        rows = self.suspects(by, cost)
        return columns(rows, name_suspects(self, rows, by, files, classes))
