"""Methods that came after the paper's baselines: their losses against the formulas of the originals.

tests/losses/test_robust.py has those whose loss is in `warlab.losses`.
"""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, kl_div, mse_loss, normalize, one_hot

from tests.helpers.on_logits import LATER, evaluate, make, some_logits
from warlab.methods.base import Batch, Step, add_gradients


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


def test_known_values_of_a_single_sample() -> None:
    """p = (0.5, 0.3, 0.2), label 1, computed by hand."""
    p, y = torch.tensor([[0.5, 0.3, 0.2]]), torch.tensor([1])
    expected = {
        "label_smoothing": -(0.9 + 0.1 / 3) * math.log(0.3) - 0.1 / 3 * math.log(0.5 * 0.2),
        "elr": -math.log(0.3) + math.log(1 - 0.1 * (0.25 + 0.09 + 0.04)),  # t is a tenth of p after one step
        "sop": -math.log(0.3) + 2,  # u = v = 0: one-hot vectors of different classes
        "mixup": -math.log(0.3),  # the only other sample is itself
    }
    for name, value in expected.items():
        assert evaluate(make(name, y, 3), p.log(), y)[0] == pytest.approx(value, rel=1e-5), name


@pytest.mark.parametrize("name", ["label_smoothing", "elr", "sop", "mixup"])
def test_extreme_logits_have_finite_losses_and_gradients(name: str) -> None:
    logits = torch.tensor([[200.0, 0, 0], [-200, 0, 0], [0, 0, 0], [1e-3, 300, -300]])
    value, gradient, _ = evaluate(make(name, y := torch.tensor([1, 0, 2, 2]), 3), logits, y)
    assert math.isfinite(value) and torch.isfinite(gradient).all()


@pytest.mark.parametrize(
    ("name", "settings"),
    [("label_smoothing", {"share": 0.0}), ("elr", {"lam": 0.0}), ("mixup", {"alpha": 0.0}), ("rdrop", {"alpha": 0.0})],
)
def test_limits_in_which_a_loss_is_cce(name: str, settings: dict[str, float]) -> None:
    logits, y = some_logits()
    value, gradient, _ = evaluate(make(name, y, 5, **settings), logits, y)
    expected, expected_gradient, _ = evaluate(make("cce", y, 5), logits, y)
    assert value == pytest.approx(expected, rel=1e-6)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-5, atol=1e-7)


def test_elr_remembers_predictions_and_holds_a_prediction_that_leaves_them() -> None:
    """The target is the moving average of the predictions of each sample; its gradient points back to it."""
    y = torch.tensor([1])
    method = make("elr", y, 3, beta=0.8, lam=3.0)
    early, late = torch.tensor([[4.0, 0, 0]]), torch.tensor([[0.0, 4, 0]])
    for _ in range(3):
        evaluate(method, early, y)
    _, gradient, _ = evaluate(method, late, y)
    expected = 0.8 * (1 - 0.8**3) * early.softmax(1) + 0.2 * late.softmax(1)
    torch.testing.assert_close(method.table, expected, atol=1e-4, rtol=0)
    _, plain, _ = evaluate(make("cce", y, 3), late, y)
    assert gradient[0, 0] < plain[0, 0]  # the step raises the score of the early class


def test_mixup_mixes_images_and_labels_by_the_same_share() -> None:
    """A linear network shows the share: its output for the mixture is the mixture of its outputs."""
    logits, y = some_logits(n=40)
    torch.manual_seed(3)
    value, _, _ = evaluate(make("mixup", y, 5), logits, y)
    torch.manual_seed(3)
    share = float(torch.distributions.Beta(1.0, 1.0).sample())
    other = torch.randperm(40)
    mixed = share * logits + (1 - share) * logits[other]
    target = share * one_hot(y, 5) + (1 - share) * one_hot(y[other], 5)
    assert value == pytest.approx(float(-(target * mixed.log_softmax(1)).sum(1).mean()), rel=1e-5)


def test_sop_moves_u_and_v_by_plain_gradient_steps_of_its_loss() -> None:
    """Against the loss written out with parameters and torch's own optimiser, for three steps."""
    logits, y = some_logits()
    method = make("sop", y, 5, lr_batch=12, lr_u=0.3, lr_v=0.7)
    u = nn.Parameter(0.3 * torch.rand(12, 1, generator=torch.Generator().manual_seed(1)))
    v = nn.Parameter(0.3 * torch.rand(12, 5, generator=torch.Generator().manual_seed(2)))
    method.load_state_dict({"u": u.detach().clone(), "v": v.detach().clone()})
    optimiser = torch.optim.SGD([{"params": u, "lr": 0.3}, {"params": v, "lr": 0.7}])
    label = one_hot(y, 5).float()
    for _ in range(3):
        value, _, _ = evaluate(method, logits, y)
        plus, minus = (u**2 * label).clamp(0, 1), (v**2 * (1 - label)).clamp(0, 1)
        prediction = normalize((logits.softmax(1) + plus - minus.detach()).clamp(min=1e-4), p=1, eps=1e-4)
        hard = one_hot(logits.argmax(1), 5).float()
        loss = -(label * prediction.clamp(1e-4, 1).log()).sum(1).mean()
        loss = loss + mse_loss(hard + plus - minus, label, reduction="sum") / 12
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        assert value == pytest.approx(loss.item(), rel=1e-5)
        torch.testing.assert_close(method.u, u.data)
        torch.testing.assert_close(method.v, v.data)


def test_sop_explains_wrong_labels_by_u() -> None:
    """Where the network is sure of another class than the label, u grows from almost zero; elsewhere it does not."""
    logits, y = 8 * torch.eye(3).repeat(4, 1), torch.arange(3).repeat(4)
    y[:3] = (y[:3] + 1) % 3
    method = make("sop", y, 3, lr_batch=12)
    method.on_epoch_start([], Step(0, 60), None)  # type: ignore[arg-type]
    for _ in range(20):
        evaluate(method, logits, y)
    assert (method.u[:3].abs() > 0.7).all() and (method.u[3:].abs() < 1e-3).all()


def test_gjs_is_the_scaled_divergence_of_the_label_and_two_predictions() -> None:
    """Two views, by hand for one sample: m = 0.3 e_1 + 0.35 (p + q)."""
    p, q, label = ([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.0, 1.0, 0.0])
    m = [0.3 * c + 0.35 * (a + b) for a, b, c in zip(p, q, label, strict=True)]
    terms = zip((0.3, 0.35, 0.35), (label, p, q), strict=True)
    value = sum(w * a * math.log(a / b) for w, part in terms for a, b in zip(part, m, strict=True) if a > 0)
    y = torch.tensor([1])
    batch = Batch(torch.tensor([p]).log(), y, torch.tensor([0]), torch.tensor([q]).log())
    batch.x.requires_grad_()
    total, log = add_gradients(make("gjs", y, 3), [nn.Identity()], batch, LATER)
    assert float(total) == pytest.approx(-value / (0.7 * math.log(0.7)), rel=1e-5)
    torch.testing.assert_close(log["logits"], batch.x.detach())  # the audit sees the first view


@pytest.mark.parametrize(("pi", "limit"), [(1e-3, "cce"), (1 - 1e-6, "mae")])
def test_gjs_of_one_view_lies_between_cce_and_the_mean_absolute_error(pi: float, limit: str) -> None:
    logits, y = some_logits()
    value, _, _ = evaluate(make("gjs", y, 5, pi=pi), logits, y)
    p = logits.double().softmax(1)[torch.arange(12), y]
    expected = {"cce": -p.log().mean(), "mae": (1 - p).mean()}[limit]
    assert value == pytest.approx(float(expected), rel=0.1)
