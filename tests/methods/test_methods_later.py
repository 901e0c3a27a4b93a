"""Methods that came after the paper's baselines: their losses against the formulas of the originals."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, kl_div

from tests.helpers.on_logits import LATER, make, some_logits
from warlab.methods.base import Batch, add_gradients


class Passes(nn.Module):
    """A network whose first pass returns the first logits, the second pass the second, …"""

    def __init__(self, *logits: Tensor) -> None:
        super().__init__()
        self.logits = [one.clone().requires_grad_() for one in logits]
        self.passes = iter(self.logits)

    def forward(self, x: Tensor) -> Tensor:
        return next(self.passes)


def run_passes(name: str, y: Tensor, *logits: Tensor, **settings: object) -> tuple[Tensor, list[Tensor]]:
    """Return the loss of a batch and its gradients in the logits of each pass."""
    model = Passes(*logits)
    total, _ = add_gradients(make(name, y, logits[0].shape[1], **settings), [model], Batch(y, y, y), LATER)
    return total, [one.grad for one in model.logits]  # type: ignore[misc]


@pytest.mark.parametrize("divergence", ["mean", "sum"])
def test_rdrop_is_the_loss_of_its_authors_with_gradients_through_both_passes(divergence: str) -> None:
    """As in their README; summed over the batch, as in their code for images, which computes twice as much."""
    (one, y), (two, _) = some_logits(), some_logits(seed=1)
    loss, gradients = run_passes("rdrop", y, one, two, alpha=0.3, divergence=divergence)
    first, second = one.clone().requires_grad_(), two.clone().requires_grad_()
    log_p, log_q = first.log_softmax(-1), second.log_softmax(-1)
    both = [kl_div(log_p, log_q.exp(), reduction="none").sum(), kl_div(log_q, log_p.exp(), reduction="none").sum()]
    total = cross_entropy(first, y) + cross_entropy(second, y) + 0.3 * sum(both) / (12 if divergence == "mean" else 1)
    (total / 2).backward()
    torch.testing.assert_close(loss, total.detach() / 2)
    for found, logits in zip(gradients, (first, second), strict=True):
        torch.testing.assert_close(found, logits.grad)


def test_the_mean_divergence_of_rdrop_does_not_depend_on_the_batch_size() -> None:
    (one, y), (two, _) = some_logits(), some_logits(seed=1)
    (whole, _), (twice, _) = (
        run_passes("rdrop", y.repeat(n), one.repeat(n, 1), two.repeat(n, 1), alpha=2.0) for n in (1, 2)
    )
    torch.testing.assert_close(whole, twice)
