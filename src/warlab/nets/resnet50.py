"""ResNet-50 with ImageNet weights and a new last layer, for Clothing1M (He et al., 2016; torchvision's network).

`weights` is the path of a file with a state dict such as torchvision's resnet50-0676ba61.pth, or `none` for weights
drawn by the seed. Nothing is downloaded here: in a study with the setting `imagenet`, another job fetches the file.
"""

import pickle
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.errors import WarlabError, reason
from warlab.nets._layers import initialise


@dataclass(frozen=True)
class Config:
    weights: str | None = setting("imagenet", "paper")  # or the path of a file with torchvision's weights, or none


class Net(nn.Module):
    """(B, 3, H, W) → logits (B, classes); made for 224 × 224."""

    def __init__(self, channels: int, classes: int, weights: str | None = None) -> None:
        super().__init__()
        from warlab.common.vision import torchvision

        pretrained = weights not in (None, "none")
        if channels != 3 and pretrained:
            raise WarlabError(f"ImageNet weights are for colour images, not for {channels} channels: set weights none.")
        self.body = torchvision.models.resnet50()
        if channels != 3:
            self.body.conv1 = nn.Conv2d(channels, 64, 7, stride=2, padding=3, bias=False)
        if pretrained:
            try:
                self.body.load_state_dict(torch.load(str(weights), weights_only=True, map_location="cpu"))
            except (OSError, RuntimeError, EOFError, TypeError, AttributeError, pickle.UnpicklingError) as error:
                raise WarlabError(
                    f"The weights {weights} of ResNet-50 cannot be read or do not fit ({reason(error)}); check "
                    "nets.resnet50.weights, or take those of torchvision."
                ) from error
        self.head = nn.Linear(self.body.fc.in_features, classes)
        self.body.fc = nn.Identity()
        initialise(self.head)

    def features(self, x: Tensor) -> Tensor:
        """Return the globally averaged last feature map, (B, 2048)."""
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
