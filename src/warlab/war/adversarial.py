"""Adversarial regularisation with any divergence D between predictions: the step that WAR, AR and TV share.

    R(x) = D( p(x + r), sg[p(x)] )                sg stops the gradient: it flows through p(x + r) alone
    d = xi * unit(N(0, I))                        a tiny random probe, per sample
    g = gradient of D( p(x + d), sg[p(x)] ) in d  one power iteration, as in the paper; further ones start from unit(g)
    r = epsilon * unit(g)                         detached: no gradient flows through the direction

Two controls need no gradient: a random direction, r = epsilon * unit(N(0, I)), and Gaussian noise of about this length,
r = epsilon * N(0, I) / sqrt(d) for samples of d values.

A step has three passes. The loop's own pass gives p(x); it is reused if its precision and its dropout masks allow it.
The probe is one forward pass and the gradient in x alone; with direction "clean" the gradient of the loop's own pass
takes its place. The final pass gives p(x + r), the only one that the loss is differentiated through.
"""

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from warlab.common.precision import tf32_allowed
from warlab.errors import WarlabError
from warlab.war.model import (
    Dropout,
    Predict,
    Rows,
    check_inputs,
    class_axis,
    extra_pass,
    fix_dropout_masks,
    flatten_mask,
    get_logits,
    looks_like_probabilities,
    refuse_static_graph,
    select_forwards,
)

Direction = Literal["sum", "mean", "clean", "random", "gaussian"]
Divergence = Callable[[Tensor, Tensor], Tensor]  # (adversarial probabilities, clean probabilities) → one per sample

XI = 1e-6  # length of the probe, paper's appendix and authors' code
XI_SAME_MASKS = 1e-4  # its length where no mask differs: what 1e-6 then changes in p is float32's rounding
DRAWN = ("random", "gaussian")  # directions without a gradient


@dataclass(eq=False, repr=False, kw_only=True)
class AdversarialLoss(nn.Module, ABC):
    """Mean over the batch of D(p(x + r), sg[p(x)]), the gradient flowing through p(x + r) alone.

    A subclass defines the divergence D; `WARLoss` describes the parameters.
    """

    epsilon: float = 0.005
    dropout: Dropout = "independent"
    batchnorm_update: bool = True
    direction: Direction = "sum"
    power_iterations: int = 1
    class_dim: int | None = None

    slope_at_clean = False  # whether D(q, p) has a gradient in q where q = p

    def __post_init__(self) -> None:
        super().__init__()
        self._are_logits = False  # not yet known
        if not (isinstance(self.epsilon, numbers.Real) and math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise WarlabError(
                f"epsilon is the length of the perturbation and cannot be {self.epsilon}; give 0 or more."
            )
        self.epsilon = float(self.epsilon)
        if self.dropout not in ("independent", "shared", "off"):
            raise WarlabError(f"dropout must be independent, shared or off, not {self.dropout!r}.")
        if self.direction not in get_args(Direction):
            raise WarlabError(f"direction must be sum, mean, clean, random or gaussian, not {self.direction!r}.")
        if self.power_iterations < 1:
            raise WarlabError(f"power_iterations must be at least 1, not {self.power_iterations}.")
        if self.direction == "clean" and not self.slope_at_clean:
            raise WarlabError(
                f"direction cannot be clean for {type(self).__name__}: its divergence has no slope where both "
                "predictions are the same, so that its direction needs a probe; choose sum or mean."
            )
        if self.direction == "clean" and (self.dropout != "independent" or self.power_iterations != 1):
            raise WarlabError(
                "direction is clean, which takes the one gradient that the clean pass gives; with it leave "
                "dropout independent and power_iterations 1."
            )
        if self.direction in DRAWN and self.power_iterations != 1:
            raise WarlabError(f"direction is {self.direction}, which takes no gradient; leave power_iterations 1.")

    @abstractmethod
    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        """D per row of two (N, C) batches of probabilities; the subclass is named after it."""

    def forward(
        self,
        model: nn.Module,
        inputs: Tensor,
        logits: Any = None,
        *,
        predict: Predict | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Return the regulariser as a scalar.

        Parameters
        ----------
        model : nn.Module
            The network, with weights in float32 or float64; it may be wrapped by DataParallel,
            DistributedDataParallel or torch.compile. It returns logits, or an object or dict with `logits`.
        inputs : Tensor (B, ...) of floating point numbers
            What is perturbed: images, features, or embeddings of tokens; then `model` is the part that follows them.
        logits : Tensor (B, C), (B, C, H, W), ..., or an output that holds them, optional
            The model's output on `inputs`, if the loop has it; detached here. Default: one more forward pass.
        predict : function, optional
            From perturbed inputs to logits, in place of `model(inputs)`: for further arguments, such as
            ``lambda e: model(inputs_embeds=e, attention_mask=m)``, and for outputs that hold the logits elsewhere.
        mask : Tensor of booleans, shaped as the labels, optional
            True where a pixel, token or sample counts, such as ``labels != ignore_index``. Default: everywhere.

        Returns
        -------
        Tensor ()
            The mean of D; 0 where the mask leaves nothing.
        """
        x = check_inputs(model, inputs)
        inner, outer = select_forwards(model, predict)
        if self.direction == "clean":
            refuse_static_graph(model, "does not average the gradients with direction clean; choose sum or mean")
        if self.dropout == "shared":
            seed = int(torch.randint(2**62, ()))
            inner, outer = (fix_dropout_masks(one, seed, x.device) for one in (inner, outer))
        if logits is not None:
            self._check_logits(get_logits(logits), len(x))
        clean = self._reuse(logits, x.dtype)  # outside of extra_pass, which switches TF32 off
        with extra_pass(model, self.dropout, self.batchnorm_update):
            if clean is None:
                with torch.no_grad():
                    clean = get_logits(inner(x))
            rows = self._check_rows(clean, len(x), mask)
            p_clean = rows.probabilities(clean)
            perturbed = x
            if self.epsilon > 0 and self.direction == "clean":
                perturbed = x + self.epsilon * self._clean_direction(inputs, logits, rows).to(x)
            elif self.epsilon > 0 and self.direction in DRAWN:
                perturbed = x + self.epsilon * draw_direction(x, fixed_length=self.direction == "random")
            elif self.epsilon > 0:
                perturbed = x + self._perturbation(inner, x, p_clean, rows)
            p_adversarial = rows.probabilities(outer(perturbed))
            return rows.mean(self.divergence(p_adversarial, p_clean))

    def _clean_direction(self, inputs: Tensor, output: Any, rows: Rows) -> Tensor:
        """Return unit vectors along the gradient of D(p(x), sg[p(x)]) in x, by the graph of the loop's own pass."""
        clean = rows.probabilities(output) if output is not None else inputs.detach()
        if not (inputs.requires_grad and clean.requires_grad):
            raise WarlabError(
                "direction is clean, so that the gradient comes from the loop's own forward pass: call "
                "inputs.requires_grad_() before logits = model(inputs), and give these logits with their graph."
            )
        value = rows.per_sample(self.divergence(clean, clean.detach())).sum()
        try:
            (gradient,) = torch.autograd.grad(value, inputs, retain_graph=True)
        except RuntimeError as error:
            if "not have been used in the graph" in str(error):
                raise WarlabError(
                    "The logits were not made from these inputs; give both from one forward pass."
                ) from error
            raise
        return unit(gradient)

    def _perturbation(self, predict: Predict, x: Tensor, p_clean: Tensor, rows: Rows) -> Tensor:
        try:
            return perturbation(
                lambda inputs: rows.probabilities(predict(inputs)),
                lambda adversarial, clean: rows.per_sample(self.divergence(adversarial, clean)),
                x,
                p_clean,
                self.epsilon,
                "mean" if self.direction == "mean" else "sum",
                self.power_iterations,
                XI if self.dropout == "independent" else XI_SAME_MASKS,
            )
        except RuntimeError as error:
            if "not have been used in the graph" in str(error) or "does not require grad" in str(error):
                raise WarlabError(
                    "The logits do not depend on the inputs in a differentiable way; look for a no_grad, a detach or "
                    "an argmax in the model, or a predict function that ignores its argument."
                ) from error
            raise

    def _check_logits(self, logits: Tensor, samples: int) -> None:
        if not logits.is_floating_point():
            raise WarlabError(
                f"The logits are {logits.dtype} of shape {tuple(logits.shape)}; give the model's output on the inputs, "
                "not the labels, which the loss does not use."
            )
        class_axis(logits, samples, self.class_dim)

    def _reuse(self, output: Any, precision: torch.dtype) -> Tensor | None:
        """Return the loop's logits, if they have the dropout rule and the precision of the extra passes."""
        if output is None or self.dropout != "independent":
            return None
        logits = get_logits(output)
        exact = logits.dtype == precision and not (logits.is_cuda and tf32_allowed())
        return logits.detach() if exact else None

    def _check_rows(self, clean: Tensor, samples: int, mask: Tensor | None) -> Rows:
        """Return the rows of the logits. The first logits are checked: a model that ends in a softmax would only train
        worse."""
        axis = class_axis(clean, samples, self.class_dim)
        if not self._are_logits:
            suspicious = looks_like_probabilities(clean, axis)
            if suspicious:
                raise WarlabError(
                    "The model returns probabilities (rows that sum to 1), and the loss would take their softmax "
                    "again; return logits, or give predict=lambda inputs: model(inputs).log()."
                )
            self._are_logits = suspicious is False
        return Rows(samples, self.class_dim, None if mask is None else flatten_mask(mask, clean, axis))


def perturbation(
    predict: Callable[[Tensor], Tensor],
    divergence: Divergence,
    x: Tensor,
    p_clean: Tensor,
    epsilon: float,
    reduction: Literal["sum", "mean"] = "sum",
    power_iterations: int = 1,
    xi: float = XI,
) -> Tensor:
    """Return r of the formulas above: (B, …) like x, of length epsilon per sample.

    `reduction="mean"` is the authors' code to the letter: the gradient of the batch mean carries 1/B and is
    divided by its norm + 1e-8, which shortens r where the gradient is tiny (no dropout, large batch).
    """
    direction = draw_direction(x, fixed_length=True)
    for _ in range(power_iterations):
        probe = (xi * direction).requires_grad_()
        value = divergence(predict(x + probe), p_clean)
        total = value.mean() if reduction == "mean" else value.sum()
        # Asking for the probe's gradient alone keeps autograd from computing any weight gradient.
        (gradient,) = torch.autograd.grad(total, probe)
        if reduction == "mean":
            direction = gradient / (gradient.flatten(1).norm(dim=1).view(-1, *[1] * (x.dim() - 1)) + 1e-8)
        else:
            direction = unit(gradient)
    return epsilon * direction


def draw_direction(x: Tensor, fixed_length: bool) -> Tensor:
    """Return a random vector per sample: of length 1, or of d Gaussian values whose mean square is 1 / d."""
    drawn = torch.randn_like(x)
    return unit(drawn) if fixed_length else drawn / math.sqrt(x[0].numel())


def unit(t: Tensor) -> Tensor:
    """Scale every sample to length 1; by its largest entry first, so that 1e-30 does not square to zero."""
    flat = t.flatten(1)
    flat = flat / flat.abs().amax(1, keepdim=True).clamp_min(torch.finfo(t.dtype).tiny)
    flat = flat / flat.norm(dim=1, keepdim=True).clamp_min(torch.finfo(t.dtype).tiny)
    return flat.view_as(t)
