"""ResNet-50 with ImageNet weights and a new last layer, for Clothing1M (He et al., 2016; torchvision's network).

`weights` is the path of a file with a state dict such as torchvision's resnet50-0676ba61.pth, or `none` for weights
drawn by the seed. Nothing is downloaded here: in a study with the setting `imagenet`, another job fetches the file.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.nets._library import adapt_channels, replace_last


@dataclass(frozen=True)
class Config:
    weights: str | None = setting("imagenet", "paper")  # or the path of a file with torchvision's weights, or none


class Net(nn.Module):
    """(B, 3, H, W) → logits (B, classes); made for 224 × 224."""

    def __init__(self, channels: int, classes: int, weights: str | None = None) -> None:
        super().__init__()
        from warlab.common.vision import torchvision

        self.body = torchvision.models.resnet50()
        adapt_channels(self.body, channels)
        self.head = replace_last(self.body, self.body.fc, "resnet50", channels, classes, weights)

    def features(self, x: Tensor) -> Tensor:
        """Return the globally averaged last feature map, (B, 2048)."""
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
