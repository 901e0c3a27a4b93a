"""The 6-layer CNN of the open-set experiment, as in the paper's table (the network of Co-Teaching+ for CIFAR-100).

3x3 convolutions 64-64, 128-128, 196-16, each with batch norm and ReLU, 2x2 max-pool after every pair, one dense
layer; no dropout, so that WAR's disagreement comes from the perturbation alone.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.nets._layers import FixedGrid, convolutions, initialise, scale_channels

PAIRS = ((64, 64), (128, 128), (196, 16))


@dataclass(frozen=True)
class Config:
    width: float = setting(1.0, "paper", above=0, maximum=16)


class Net(nn.Module):
    """(B, channels, 32, 32) → logits (B, classes). Other sizes, from 8 on, are pooled to the same grid of 4 × 4."""

    def __init__(self, channels: int, classes: int, width: float = Config.width) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for pair in PAIRS:
            sizes = scale_channels(pair, width)
            layers += [*convolutions(channels, sizes), nn.MaxPool2d(2)]
            channels = sizes[-1]
        self.body = nn.Sequential(*layers, FixedGrid(4), nn.Flatten())
        self.head = nn.Linear(16 * channels, classes)
        self.apply(initialise)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the dense layer, (B, 256 · width)."""
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
