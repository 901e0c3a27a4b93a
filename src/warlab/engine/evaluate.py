"""The only place where clean labels are looked at: test accuracy and purity; nothing flows back into training."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from warlab.common.readings import LAST
from warlab.engine.batches import Images
from warlab.methods.base import Method, evaluating


class Evaluator:
    """`images` and `labels` are the test set; `trusted` says of every training sample whether its label is true.

    `recent` holds the predicted classes (M, N) of the last ten evaluations, so that methods can be compared image by
    image.
    """

    def __init__(self, images: Images, labels: Tensor, trusted: Tensor, batch_size: int = 500) -> None:
        self.images = images
        self.labels = labels
        self.trusted = trusted
        self.batch_size = batch_size
        self.recent: list[Tensor] = []

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Test accuracy in percent, averaged over the networks that the method reports."""
        starts = range(0, len(self.images), self.batch_size)
        with evaluating(*models):
            predicted = torch.cat([self._classes(method, models, start) for start in starts], dim=1)
        self.recent = [*self.recent, predicted.to("cpu", torch.int16 if predicted.max() > 255 else torch.uint8)][-LAST:]
        return {"test_accuracy": 100 * float((predicted == self.labels).double().mean())}

    def _classes(self, method: Method, models: Sequence[nn.Module], start: int) -> Tensor:
        """(M, B)"""
        return method.predict(models, self.images[start : start + self.batch_size]).argmax(2)

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        return purity(selected, self.trusted[index])


def purity(selected: Tensor, trusted: Tensor) -> dict[str, Tensor]:
    """Percent of true labels (B,) among the selected samples (M, B) of a batch, averaged over the networks."""
    true = (selected & trusted).sum(1)
    return {"purity": 100 * (true / selected.sum(1).clamp_min(1)).mean()}
