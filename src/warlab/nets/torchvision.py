"""A network of torchvision: torchvision.resnet18 and others that end in a dense layer, for any number of channels.

`weights` is the path of a file with a state dict of this network, or `none`. Nothing is downloaded here.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.nets._library import adapt_channels, replace_last


@dataclass(frozen=True)
class Config:
    weights: str | None = setting(None, "our choice")
    head_dropout: float = setting(0.0, "our choice", minimum=0, below=1)


class Net(nn.Module):
    """(B, channels, H, W) → logits (B, classes); most are made for 224 × 224."""

    def __init__(
        self, channels: int, classes: int, model: str, weights: str | None = None, head_dropout: float = 0.0
    ) -> None:
        super().__init__()
        from warlab.common.vision import torchvision

        self.body: nn.Module = torchvision.models.get_model(model)
        last = [module for module in self.body.modules() if not list(module.children())][-1]
        adapt_channels(self.body, channels)
        self.head = replace_last(self.body, last, f"torchvision.{model}", channels, classes, weights, head_dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the last layer."""
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
