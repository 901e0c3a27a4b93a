"""The only place where clean labels are looked at: test accuracy and purity; nothing flows back into training."""

from collections.abc import Sequence

from torch import Tensor, nn

from warlab.engine.batches import Images
from warlab.methods.base import Method, evaluating


class Evaluator:
    """`images` and `labels` are the test set; `trusted` says of every training sample whether its label is true."""

    def __init__(self, images: Images, labels: Tensor, trusted: Tensor, batch_size: int = 1000) -> None:
        self.images = images
        self.labels = labels
        self.trusted = trusted
        self.batch_size = batch_size

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Test accuracy in percent, averaged over the networks that the method reports."""
        starts = range(0, len(self.images), self.batch_size)
        with evaluating(*models):
            correct = sum(self._correct(method, models, start) for start in starts)
        return {"test_accuracy": 100 * float(correct) / len(self.images)}

    def _correct(self, method: Method, models: Sequence[nn.Module], start: int) -> Tensor:
        part = slice(start, start + self.batch_size)
        predicted = method.predict(models, self.images[part]).argmax(2)
        return (predicted == self.labels[part]).double().mean(0).sum()  # mean over networks, sum over images

    def purity(self, selected: Tensor, index: Tensor) -> dict[str, Tensor]:
        return purity(selected, self.trusted[index])


def purity(selected: Tensor, trusted: Tensor) -> dict[str, Tensor]:
    """Percent of true labels (B,) among the selected samples (M, B) of a batch, averaged over the networks."""
    true = (selected & trusted).sum(1)
    return {"purity": 100 * (true / selected.sum(1).clamp_min(1)).mean()}
