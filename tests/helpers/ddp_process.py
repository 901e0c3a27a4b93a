"""One of two processes of a distributed training: python -m tests.helpers.ddp_process RANK FOLDER"""

import sys
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from warlab import TVLoss, WarlabError, WARLoss, zero_one_cost

OPTIONS = {
    "plain": {},
    "unused": {"find_unused_parameters": True},
    "static": {"static_graph": True},
    "views": {"gradient_as_bucket_view": True},
}
CALLS = ("model", "predict", "shared", "no_clean_pass", "accumulated", "clean_direction", "inside")
# torch itself fails if the first backward pass of a static graph is in no_sync().
CASES = [(option, call) for option in OPTIONS for call in CALLS if (option, call) != ("static", "accumulated")]


class Net(nn.Module):
    """Smooth and without batch statistics, so that the mean of two halves is the whole."""

    def __init__(self, option: str, rank: int = 0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.rank = rank
        self.first, self.last = nn.Linear(6, 8, dtype=torch.float64), nn.Linear(8, 3, dtype=torch.float64)
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        if option == "unused":
            self.never = nn.Linear(2, 2, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        self.seen += 1 + self.rank  # a statistic that differs between the processes, as those of batch norm do
        return self.last(torch.tanh(self.first(x)))


def batch() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(8, 6, generator=generator, dtype=torch.float64), torch.arange(8) % 3


def penalty(model: nn.Module, x: Tensor, logits: Tensor | None, call: str) -> Tensor:
    """Its random probe depends on the sample, not on the process that has it."""
    options = {"epsilon": 0.5, "dropout": "shared" if call == "shared" else "independent"}
    direction = "clean" if call == "clean_direction" else "sum"
    loss = TVLoss(**options) if call == "no_clean_pass" else WARLoss(zero_one_cost(3), direction=direction, **options)
    torch.manual_seed(3)
    probe = torch.randn(8, 6, dtype=torch.float64)

    predict = (lambda inputs: model(inputs)) if call == "predict" else None
    with mock.patch.object(torch, "randn_like", lambda _like: probe[rows(x)]):
        return loss(nn.Sequential(model) if call == "inside" else model, x, logits, predict=predict)


def rows(x: Tensor) -> Tensor:
    """The numbers of these samples in the whole batch."""
    return (batch()[0][None] == x[:, None]).all(2).nonzero()[:, 1]


def gradients(model: nn.Module, x: Tensor, y: Tensor, call: str) -> dict[str, Tensor]:
    for _ in range(3):  # the reducer rebuilds its buckets after the first
        model.zero_grad()
        parts = [slice(0, len(x) // 2), slice(len(x) // 2, None)] if call == "accumulated" else [slice(None)]
        for number, part in enumerate(parts):
            waits = isinstance(model, DistributedDataParallel) and number + 1 < len(parts)
            with model.no_sync() if waits else nullcontext():
                backward(model, x[part], y[part], call, len(parts))
    return {name.removeprefix("module."): p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def backward(model: nn.Module, x: Tensor, y: Tensor, call: str, parts: int) -> None:
    if call == "no_clean_pass":
        loss = penalty(model, x, None, call)
    else:
        x = x.detach().requires_grad_(call == "clean_direction")
        logits = model(x)
        loss = cross_entropy(logits, y) + 10 * penalty(model, x, logits, call)
    (loss / parts).backward()


def main(rank: int, folder: Path) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    x, y = batch()
    found: dict[tuple[str, str], object] = {}
    for option, call in CASES:
        model = DistributedDataParallel(Net(option, rank), **OPTIONS[option])
        try:
            found[option, call] = gradients(model, x[rank::2], y[rank::2], call), int(model.module.seen)
        except WarlabError as error:
            found[option, call] = str(error)
        assert model.broadcast_buffers
    torch.save(found, folder / f"{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), Path(sys.argv[2]))
