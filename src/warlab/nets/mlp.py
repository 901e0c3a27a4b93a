"""Dense layers for vectors, such as rows of a table, frozen features or counts of words.

Two hidden layers of 128, each with batch norm, ReLU and dropout, and a dense layer.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.nets._layers import initialise, scale_channels

HIDDEN = (128, 128)


@dataclass(frozen=True)
class Config:
    width: float = setting(1.0, "our choice", above=0, maximum=64)
    dropout: float = setting(0.25, "our choice", minimum=0, below=1)


class Net(nn.Module):
    """(B, channels) → logits (B, classes); `width` multiplies the hidden layers."""

    def __init__(self, channels: int, classes: int, **settings: float) -> None:
        super().__init__()
        config, layers = Config(**settings), []
        before = channels
        for size in scale_channels(HIDDEN, config.width):
            layers += [nn.Linear(before, size), nn.BatchNorm1d(size), nn.ReLU(), nn.Dropout(config.dropout)]
            before = size
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(before, classes)
        self.apply(initialise)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the last layer, (B, 128 · width)."""
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
