"""Networks for the tests, and facts about networks."""

import torch
from torch import Tensor, nn

from warlab.common.precision import tf32_allowed


class Network(nn.Module):
    """A small network for images (B, 1, 8, 8) that records what it is given and how precisely it computes.

    `scale` undoes that of its inputs.
    """

    def __init__(self, dropout: float = 0.0, scale: float = 1.0) -> None:
        super().__init__()
        torch.manual_seed(0)
        layers = (
            nn.Conv2d(1, 6, 3),
            nn.BatchNorm2d(6),
            nn.ReLU(),
            nn.Dropout2d(dropout),
            nn.Flatten(),
            nn.Linear(216, 5),
        )
        self.net, self.scale = nn.Sequential(*layers), scale
        self.inputs: list[Tensor] = []
        self.precisions: list[torch.dtype] = []
        self.tf32: list[bool] = []

    def forward(self, x: Tensor) -> Tensor:
        self.inputs.append(x.detach())
        self.tf32.append(tf32_allowed())
        logits = self.net(x / self.scale)
        self.precisions.append(logits.dtype)
        return logits


def count_parameters(net: nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())
