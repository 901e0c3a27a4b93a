"""U-Net (Ronneberger et al., 2015) for maps: four halvings from 64 to 1024 channels, and back with skip connections.

Two 3x3 convolutions with batch norm and ReLU per level, padded so that a map has the size of its image; 2x2 max-pool
down, 2x2 transposed convolution up, 1x1 convolution to the classes. Dropout is at the end of the contracting path, as
in the original; the paper only says "U-Net with 5 input channels".
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.errors import WarlabError
from warlab.nets._layers import convolutions, initialise, scale_channels

MAPS = True  # it predicts a class for every pixel
LEVELS = (64, 128, 256, 512, 1024)
MULTIPLE = 2 ** (len(LEVELS) - 1)  # the sides of an image must be multiples of this


@dataclass(frozen=True)
class Config:
    width: float = setting(1.0, "our choice", above=0, maximum=16)  # 64 to 1024 channels; the paper gives no numbers
    dropout: float = setting(0.5, "our choice", minimum=0, below=1)  # as in the original U-Net; the paper gives none


class Net(nn.Module):
    """(B, channels, H, W) → logits (B, classes, H, W); H and W multiples of 16. `width` multiplies channel counts."""

    def __init__(self, channels: int, classes: int, **settings: float) -> None:
        super().__init__()
        config = Config(**settings)
        sizes = scale_channels(LEVELS, config.width)
        self.down = nn.ModuleList(_level(before, size) for before, size in zip([channels, *sizes], sizes, strict=False))
        self.shrink = nn.MaxPool2d(2)
        self.dropout = nn.Dropout2d(config.dropout)
        pairs = list(zip(sizes[:0:-1], sizes[-2::-1], strict=True))  # from the deepest level up
        self.grow = nn.ModuleList(nn.ConvTranspose2d(deep, size, 2, stride=2) for deep, size in pairs)
        self.up = nn.ModuleList(_level(2 * size, size) for _, size in pairs)
        self.head = nn.Conv2d(sizes[0], classes, 1)
        self.apply(initialise)

    def features(self, x: Tensor) -> Tensor:
        """Return the maps before the last convolution, (B, 64 · width, H, W)."""
        if any(side % MULTIPLE for side in x.shape[2:]):
            raise WarlabError(
                f"The sides of a patch must be multiples of {MULTIPLE} for unet, not {tuple(x.shape[2:])}."
            )
        skips = []
        for number, level in enumerate(self.down):
            x = level(self.shrink(x) if number else x)
            skips.append(x)
        x = self.dropout(skips.pop())
        for grow, level in zip(self.grow, self.up, strict=True):
            x = level(torch.cat([skips.pop(), grow(x)], 1))
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))


def _level(before: int, size: int) -> nn.Sequential:
    return nn.Sequential(*convolutions(before, (size, size), bias=False))
