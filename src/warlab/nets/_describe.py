"""The layers of a network as rows of a table, recorded while an image passes through it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

MOST_ROWS = 40  # a deeper network is described by its blocks
_FOLLOWS = (nn.BatchNorm2d, nn.ReLU, nn.LeakyReLU)  # described in the row of the layer before


def describe(net: nn.Module, shape: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return rows with layer, output (channels × height × width) and parameters, in the order of the computation."""
    rows: list[dict[str, Any]] = []

    def watch(module: nn.Module, _: Any, output: Tensor) -> None:
        parameters = sum(p.numel() for p in module.parameters())
        if isinstance(module, _FOLLOWS) and rows:
            rows[-1]["layer"] += f", {name(module)}"
            rows[-1]["parameters"] += parameters
        else:
            size = " × ".join(map(str, output.shape[1:]))
            rows.append({"layer": name(module), "output": size, "parameters": parameters})

    parts = next(parts for depth in range(20, 0, -1) if len(parts := _parts(net, depth)) <= 3 * MOST_ROWS)
    handles = [part.register_forward_hook(watch) for part in parts]
    was_training = net.training
    with torch.no_grad():
        net.eval()(torch.zeros(1, *shape))
    net.train(was_training)
    for handle in handles:
        handle.remove()
    return rows


def _parts(net: nn.Module, depth: int) -> list[nn.Module]:
    """Return the modules at this depth, and modules above it that have no children."""
    children = list(net.children())
    if not children or depth == 0:
        return [net]
    return [part for child in children for part in _parts(child, depth - 1)]


def name(module: nn.Module) -> str:
    """Return a layer in words, or the name of its class."""
    for kind, words in _WORDS.items():
        if isinstance(module, kind):
            return words(module)
    return type(module).__name__


def _side(value: int | tuple[int, ...]) -> str:
    sides = value if isinstance(value, tuple) else (value, value)
    return "×".join(map(str, sides))


_WORDS: dict[type[nn.Module], Callable[[Any], str]] = {
    nn.Conv2d: lambda m: f"{_side(m.kernel_size)} convolution" + (f", stride {m.stride[0]}" if m.stride[0] > 1 else ""),
    nn.ConvTranspose2d: lambda m: f"{_side(m.kernel_size)} transposed convolution",
    nn.BatchNorm2d: lambda m: "batch norm",
    nn.LeakyReLU: lambda m: f"leaky ReLU {m.negative_slope:g}",
    nn.ReLU: lambda m: "ReLU",
    nn.MaxPool2d: lambda m: f"{_side(m.kernel_size)} max-pool",
    nn.AdaptiveAvgPool2d: lambda m: "average pool",
    nn.Dropout2d: lambda m: f"channel dropout {m.p:g}",
    nn.Dropout: lambda m: f"dropout {m.p:g}",
    nn.Linear: lambda m: "dense",
    nn.Flatten: lambda m: "flatten",
}
