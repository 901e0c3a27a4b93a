"""What tests ask of networks."""

from torch import nn


def count_parameters(net: nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())
