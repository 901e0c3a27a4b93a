"""Which labels are wrong: a score of suspicion for every training sample, from a training that takes place anyway.

    audit = LabelAudit(len(dataset), classes)             # before the training
    audit.update(logits, labels, index)                   # in every step; index: numbers of the samples of the batch
    suspects = audit.suspects()                           # afterwards: index, label, suggested label, scores

Logits are tensors or arrays of numpy. The import is light: torch is loaded with the first audit.
"""

from typing import Any

import numpy as np

from warlab.audit.quality import auroc, average_precision, precision_at_errors
from warlab.audit.record import Means, Record
from warlab.audit.scoring import DEFAULT, SCORES, scores, suggested, suspects

__all__ = ["SCORES", "LabelAudit", "Means", "auroc", "average_precision", "precision_at_errors"]


class LabelAudit(Record):
    """An audit of `n_samples` labels of `n_classes` classes; see `warlab.audit.scoring` for what the scores are.

    `epochs` restricts it to a window, such as range(40) to leave out those in which a network learns wrong labels by
    heart (AUM stops at the first drop of the learning rate); then every update names its epoch. By default all count.
    `state_dict` and `load_state_dict` continue it exactly.

    >>> import numpy as np
    >>> audit = LabelAudit(n_samples=3, n_classes=2)
    >>> audit.update(np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), labels=np.array([0, 1, 1]), index=np.arange(3))
    >>> audit.suspects()["index"]
    array([2])
    """

    def scores(self, cost: Any = None) -> dict[str, np.ndarray]:
        """Score → (N,) float32, higher is more suspicious; `cost` (C, C) is the ground cost of `transport`."""
        return scores(self.means(), cost)

    def suggested(self) -> np.ndarray:
        """(N,) the label that the network would give."""
        return suggested(self.means())

    def suspects(self, by: str = DEFAULT, cost: Any = None) -> np.ndarray:
        """The samples whose label the network contradicts, the most suspicious first: a structured array."""
        return suspects(self.means(), by, cost)
