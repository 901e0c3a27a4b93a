"""Pre-activation ResNet-18 for images of 32 × 32, the network of most work on label noise after the paper.

A 3x3 convolution with 64 channels, then four stages of two blocks with 64, 128, 256 and 512 channels, the last three
with stride 2; batch norm, ReLU, global average, dense layer. No dropout: methods that compare two dropout masks, such
as WAR with a tiny epsilon and R-Drop, are cross entropy here unless `head_dropout` is set.
He et al., Identity mappings in deep residual networks, 2016. The batch norm before the average is theirs; some later
code leaves it out.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.nets._layers import scale_channels

STAGES = (64, 128, 256, 512)


@dataclass(frozen=True)
class Config:
    width: float = setting(1.0, "baseline's code", above=0, maximum=16)
    head_dropout: float = setting(0.0, "baseline's code", minimum=0, below=1)


class Block(nn.Module):
    """Two 3x3 convolutions, each after batch norm and ReLU, added to the input, or, where the size changes, to a 1x1
    convolution of the input after its batch norm and ReLU."""

    def __init__(self, before: int, channels: int, stride: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.BatchNorm2d(before), nn.BatchNorm2d(channels)])
        self.first = nn.Conv2d(before, channels, 3, stride, padding=1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        same = stride == 1 and before == channels
        self.shortcut = None if same else nn.Conv2d(before, channels, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        active = self.norms[0](x).relu()
        change = self.second(self.norms[1](self.first(active)).relu())
        return change + (x if self.shortcut is None else self.shortcut(active))


class Net(nn.Module):
    """(B, channels, H, W) → logits (B, classes); `width` multiplies all channel counts."""

    def __init__(self, channels: int, classes: int, **settings: float) -> None:
        super().__init__()
        config = Config(**settings)
        sizes = scale_channels(STAGES, config.width)
        layers: list[nn.Module] = [nn.Conv2d(channels, sizes[0], 3, padding=1, bias=False)]
        for before, size in zip([sizes[0], *sizes], sizes, strict=False):
            layers += [Block(before, size, 1 if len(layers) == 1 else 2), Block(size, size, 1)]
        self.body = nn.Sequential(*layers, nn.BatchNorm2d(sizes[-1]), nn.ReLU())
        self.head = nn.Sequential(nn.Dropout(config.head_dropout), nn.Linear(sizes[-1], classes))

    def features(self, x: Tensor) -> Tensor:
        """Return the globally averaged last feature map, (B, 512 · width)."""
        return self.body(x).mean((2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
