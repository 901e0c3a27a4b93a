"""The backward pass of the transport by autograd and by our own (`warlab.ot.chunks`): processor time and operations.

    python benchmarks/transport.py

On a GPU every operation is a kernel launch, which dominates the time of small ones.
"""

import statistics
import time

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from warlab.ot.chunks import ChunkedSinkhorn
from warlab.ot.sinkhorn import DELTA, _value

SIZES = [(16, 10), (32, 10), (256, 10), (256, 100), (64, 1000)]  # rows, classes


class Count(TorchDispatchMode):
    """Counts the operations that reach the device."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        self.number += 1
        return function(*args, **(kwargs or {}))


def both(logits: Tensor, reference: Tensor, cost: Tensor) -> dict[str, Tensor]:
    def autograd(a: Tensor) -> Tensor:
        return _value(a, reference, cost, 0.05, 20)

    def own(a: Tensor) -> Tensor:
        return ChunkedSinkhorn.apply(a, reference, cost, 0.05, 20, DELTA)

    return {"autograd": autograd, "own": own}  # type: ignore[dict-item]


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'rows':>6}{'classes':>9}{'autograd ms':>13}{'own ms':>9}{'own / autograd':>16}{'operations':>16}")
    for rows, classes in SIZES:
        torch.manual_seed(0)
        logits, reference = torch.randn(rows, classes), torch.randn(rows, classes).softmax(1)
        ways = both(logits, reference, 1 - torch.eye(classes))
        times: dict[str, list[float]] = {name: [] for name in ways}
        counts = {}
        for name, way in ways.items():
            with Count() as count:
                take(way, logits)
            counts[name] = count.number
        for _ in range(15):
            for name, way in ways.items():
                times[name].append(take(way, logits))
        ratio = statistics.median(o / a for o, a in zip(times["own"], times["autograd"], strict=True))
        a, o = (1000 * statistics.median(times[name]) for name in ("autograd", "own"))
        print(f"{rows:6}{classes:9}{a:13.2f}{o:9.2f}{ratio:16.2f}{counts['autograd']:9} → {counts['own']}")


def take(way, logits: Tensor) -> float:  # type: ignore[no-untyped-def]
    given = logits.clone().requires_grad_()
    started = time.process_time()
    way(given.softmax(1)).mean().backward()
    return time.process_time() - started


if __name__ == "__main__":
    main()
