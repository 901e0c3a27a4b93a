"""A network of timm: timm.convnext_tiny and others that end in a dense layer, for any number of channels.

`weights` is the path of a file with a state dict of this network, or `none`. Nothing is downloaded here.
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from warlab.common.setting import setting
from warlab.nets._library import replace_last


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
        from warlab.common.vision import load_timm

        self.body: Any = load_timm().create_model(model, in_chans=channels)
        last = self.body.get_classifier()
        self.head = replace_last(self.body, last, f"timm.{model}", channels, classes, weights, head_dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the last layer."""
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
