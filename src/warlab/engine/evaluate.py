"""The only place where clean labels are looked at: test accuracy, and nothing of it flows back into training."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from warlab.engine.batches import Images
from warlab.methods.base import Method


class Evaluator:
    def __init__(self, images: Images, labels: Tensor, batch_size: int = 1000) -> None:
        self.images = images
        self.labels = labels
        self.batch_size = batch_size

    def __call__(self, method: Method, models: Sequence[nn.Module]) -> dict[str, float]:
        """Test accuracy in percent, averaged over the networks that the method reports."""
        modes = [model.training for model in models]
        for model in models:
            model.eval()
        correct = sum(self._correct(method, models, start) for start in range(0, len(self.images), self.batch_size))
        for model, mode in zip(models, modes, strict=True):
            model.train(mode)
        return {"test_accuracy": 100 * float(correct) / len(self.images)}

    @torch.no_grad()
    def _correct(self, method: Method, models: Sequence[nn.Module], start: int) -> Tensor:
        part = slice(start, start + self.batch_size)
        predicted = method.predict(models, self.images[part]).argmax(2)
        return (predicted == self.labels[part]).double().mean(0).sum()  # mean over networks, sum over images
