"""The 9-layer CNN of the paper's benchmarks, as the authors' code builds it.

Three blocks of three 3x3 convolutions (128-128-128, 256-256-256, 512-256-128), each followed by batch norm and
leaky ReLU; 2x2 max-pool after every block, channel dropout after the first two, global average, dropout, dense.
(The paper's table has an average pool alone after block 3 and no dropout before the classifier.)
"""

import math
from dataclasses import dataclass

from torch import Tensor, nn

from warlab.common.setting import setting

BLOCKS = ((128, 128, 128), (256, 256, 256), (512, 256, 128))


@dataclass(frozen=True)
class Config:
    width: float = setting(1.0, "paper", above=0, maximum=16)
    dropout: float = setting(0.25, "authors' code", minimum=0, below=1)
    head_dropout: float = setting(0.5, "authors' code", minimum=0, below=1)


class Net(nn.Module):
    """(B, channels, H, W) → logits (B, classes); H and W at least 8. `width` multiplies all channel counts."""

    def __init__(
        self,
        channels: int,
        classes: int,
        width: float = Config.width,
        dropout: float = Config.dropout,
        head_dropout: float = Config.head_dropout,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for number, block in enumerate(BLOCKS):
            for size in block:
                size = max(1, round(size * width))
                layers += [nn.Conv2d(channels, size, 3, padding=1), nn.BatchNorm2d(size), nn.LeakyReLU(0.01)]
                channels = size
            layers.append(nn.MaxPool2d(2))
            if number < 2:
                layers.append(nn.Dropout2d(dropout))
        self.body = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Dropout(head_dropout), nn.Linear(channels, classes))
        self.apply(initialise)

    def features(self, x: Tensor) -> Tensor:
        """The vector before the classifier's dropout, (B, 128 · width)."""
        return self.body(x).mean((2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))


def initialise(module: nn.Module) -> None:
    """Kaiming-normal with fan-in and gain sqrt(2), biases 0, for every convolution and dense layer."""
    if isinstance(module, nn.Conv2d | nn.Linear):
        fan_in = module.weight[0].numel()
        nn.init.normal_(module.weight, std=math.sqrt(2 / fan_in))
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def count_parameters(net: nn.Module) -> int:
    return sum(p.numel() for p in net.parameters())
