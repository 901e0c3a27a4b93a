"""SOP: every sample has a sparse error of its own label, which is learned together with the network.

    U_i = clip(u_i^2, 0, 1) y_i,   V_i = clip(v_i^2, 0, 1) (1 - y_i)        u (N,), v (N, C), y one-hot
    q_i = normalise(max(p(x_i) + U_i - sg[V_i], 1e-4))
    L   = mean_i ( CE(q_i, y_i) + || onehot(argmax p(x_i)) + U_i - V_i - y_i ||^2 )

u and v start near zero (deviation 1e-8) and take plain gradient steps, so that only those grow whose labels disagree
with the network for long. The gradient of the mean carries 1/B: `lr_u` and `lr_v` belong to batches of `lr_batch`.
SOP+, with a consistency and a balance term, is another method.
Liu et al., Robust training under label noise by over-parameterization, 2022.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from warlab.common.setting import setting
from warlab.losses.probabilities import to_one_hot
from warlab.methods.base import Batch, Log, Losses, Method, Models, Samples, Step, Task

LEAST = 1e-4
DEVIATION = 1e-8  # of u and v at first


@dataclass(frozen=True)
class Config:
    # noisypy's for CIFAR-10N, which trains for 120 epochs as here; the baseline's code has CIFAR-100 only
    lr_u: float = setting(10.0, "public rerun", minimum=0)
    lr_v: float = setting(10.0, "public rerun", minimum=0)
    lr_batch: int = setting(128, "baseline's code", minimum=1)  # the batch size that lr_u and lr_v were chosen for


class Algorithm(Method):
    label = "SOP"
    saved = ("u", "v")

    def __init__(self, config: Config, task: Task) -> None:
        super().__init__(config, task)
        self.u = torch.full((len(task.labels), 1), DEVIATION, device=task.device)
        self.v = torch.full((len(task.labels), task.classes), DEVIATION, device=task.device)

    def on_epoch_start(self, models: Models, step: Step, samples: Samples) -> None:
        """Draw u and v before the first epoch, on the CPU, so that all devices draw the same numbers."""
        if step.epoch == 0:
            self.u, self.v = (DEVIATION * torch.randn(one.shape).to(one) for one in (self.u, self.v))

    def loss(self, models: Models, batch: Batch, step: Step) -> tuple[Losses, Log]:
        logits = models[0](batch.x)
        y = to_one_hot(batch.y, self.task.classes).to(logits.dtype)
        u, v = self.u[batch.index], self.v[batch.index]
        loss = mean_loss(logits, y, u, v)
        log: Log = {"moved": ((u**2)[:, 0] > 0.5).float().mean()}
        self.move(logits.detach(), y, batch.index)
        return loss, log

    def move(self, logits: Tensor, y: Tensor, index: Tensor) -> None:
        """Take one plain gradient step on the batch's u and v."""
        u, v = (one[index].requires_grad_() for one in (self.u, self.v))
        steps = torch.autograd.grad(mean_loss(logits, y, u, v) * len(y) / self.config.lr_batch, (u, v))
        self.u[index] = u.detach() - self.config.lr_u * steps[0]
        self.v[index] = v.detach() - self.config.lr_v * steps[1]


def mean_loss(logits: Tensor, y: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """L of a batch: logits and one-hot y (B, C), u (B, 1), v (B, C)."""
    more, less = (u**2 * y).clamp(0, 1), (v**2 * (1 - y)).clamp(0, 1)
    q = normalize((logits.softmax(1) + more - less.detach()).clamp_min(LEAST), p=1, eps=LEAST).clamp(LEAST, 1)
    hard = to_one_hot(logits.argmax(1), logits.shape[1]).to(logits.dtype)
    return (-(y * q.log()).sum(1) + (hard + more - less - y).square().sum(1)).mean()
