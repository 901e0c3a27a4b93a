"""Find wrong labels: suspicion scores for all training samples, collected during an ordinary training.

    audit = LabelAudit(len(dataset), classes)             # before the training
    audit.update(logits, labels, index)                   # in every step; index: numbers of the samples of the batch
    suspects = audit.suspects()                           # afterwards: index, label, suggested label, scores

Logits are tensors or numpy arrays. Importing this package does not import torch; the first audit does.
"""

from typing import Any

import numpy as np

from warlab.audit.quality import auroc, average_precision, precision_at_errors
from warlab.audit.record import Means, Record
from warlab.audit.scoring import DEFAULT, SCORES, scores, suggested, suspects

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
