"""Facts about networks for the tests."""

from torch import nn


def count_parameters(net: nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())
