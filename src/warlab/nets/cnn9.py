"""The 9-layer CNN of the paper's benchmarks, as the authors' code builds it.

Three blocks of three 3x3 convolutions (128-128-128, 256-256-256, 512-256-128), each followed by batch norm and
leaky ReLU (0.01); 2x2 max-pool after every block, channel dropout after the first two, global average, dropout, dense.
(The paper's table has an average pool alone after block 3 and no dropout before the classifier.)
"""

from dataclasses import dataclass

from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.nets._layers import convolutions, initialise, scale_channels

BLOCKS = ((128, 128, 128), (256, 256, 256), (512, 256, 128))


@dataclass(frozen=True)
class Config:
    width: float = setting(1.0, "paper", above=0, maximum=16)
    dropout: float = setting(0.25, "authors' code", minimum=0, below=1)
    head_dropout: float = setting(0.5, "authors' code", minimum=0, below=1)


class Net(nn.Module):
    """(B, channels, H, W) → logits (B, classes); H and W at least 8. `width` multiplies all channel counts."""

    def __init__(self, channels: int, classes: int, **settings: float) -> None:
        super().__init__()
        config = Config(**settings)
        layers: list[nn.Module] = []
        for number, block in enumerate(BLOCKS):
            sizes = scale_channels(block, config.width)
            layers += [*convolutions(channels, sizes, nn.LeakyReLU), nn.MaxPool2d(2)]
            channels = sizes[-1]
            if number < 2:
                layers.append(nn.Dropout2d(config.dropout))
        self.body = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Dropout(config.head_dropout), nn.Linear(channels, classes))
        self.apply(initialise)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier's dropout, (B, 128 · width)."""
        return self.body(x).mean((2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
