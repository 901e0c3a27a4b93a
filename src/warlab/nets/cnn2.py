"""The 2-layer CNN of the discussion of Co-Teaching+, as the code of Co-Teaching+ builds it for CIFAR-10.

5x5 convolution to 6 channels, ReLU, 2x2 max-pool, 5x5 convolution to 16, ReLU, 2x2 max-pool, then dense layers
400-120-84-classes with ReLU between them; no padding, no batch norm, no dropout.
"""

from torch import Tensor, nn

from warlab.nets._layers import FixedGrid, initialise


class Net(nn.Module):
    """(B, channels, 32, 32) → logits (B, classes). Other sizes, from 16 on, are pooled to the same grid of 5 × 5."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, 6, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            FixedGrid(5),
            nn.Flatten(),
            nn.Linear(400, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
        )
        self.head = nn.Linear(84, classes)
        self.apply(initialise)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the last dense layer, (B, 84)."""
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
