"""Parts that several networks share."""

import math
from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d


def scale_channels(sizes: Sequence[int], width: float) -> list[int]:
    """Return the numbers of channels, multiplied by the width of the network."""
    return [max(1, round(size * width)) for size in sizes]


def convolutions(
    channels: int, sizes: Sequence[int], activation: type[nn.Module] = nn.ReLU, bias: bool = True
) -> list[nn.Module]:
    """3x3 convolutions with these numbers of channels, each followed by batch norm and activation."""
    layers: list[nn.Module] = []
    for before, size in pairwise([channels, *sizes]):
        layers += [nn.Conv2d(before, size, 3, padding=1, bias=bias), nn.BatchNorm2d(size), activation()]
    return layers


class FixedGrid(nn.Module):
    """Pools feature maps to a grid of fixed size for dense layers, whatever the size of the images. Maps of that size
    pass unchanged, because adaptive pooling has no deterministic GPU kernel."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self.side = side

    def forward(self, x: Tensor) -> Tensor:
        return x if x.shape[2:] == (self.side, self.side) else adaptive_avg_pool2d(x, self.side)


def initialise(module: nn.Module) -> None:
    """Initialise a convolution or dense layer: Kaiming normal with fan-in and gain sqrt(2), biases 0."""
    if isinstance(module, nn.Conv2d | nn.Linear):
        fan_in = module.weight[0].numel()
        nn.init.normal_(module.weight, std=math.sqrt(2 / fan_in))
        if module.bias is not None:
            nn.init.zeros_(module.bias)
