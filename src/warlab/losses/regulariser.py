"""What the losses of `warlab.war` share: the passes of a step, for any model, output and number format.

    the loop's own pass   p(x), reused as the reference where its precision and its dropout masks allow it
    the probe             one forward and the gradient in x alone: the direction, `warlab.adversarial.perturbation`;
                          with direction "clean" no forward, but the gradient of the loop's own pass
    the final pass        p(x + r), the only one that the loss is differentiated through

Of a DistributedDataParallel the probe runs on the module inside, where no reducer waits for weight gradients that
never come, and the final pass runs through the wrapper, whose reducer sums its gradients with those of the loop.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from warlab.adversarial import Dropout, extra_pass, perturbation, same_random_numbers, unit
from warlab.common.precision import tf32_allowed
from warlab.errors import WarlabError
from warlab.losses.logits import class_axis, logits_of, looks_like_probabilities, probabilities, rows_of_mask

Direction = Literal["sum", "mean", "clean"]
Predict = Callable[[Tensor], Any]  # inputs → logits, or an output that carries them


class AdversarialLoss(nn.Module, ABC):
    """Mean over the batch of D(p(x + r), sg[p(x)]), the gradient flowing through p(x + r) alone.

    A subclass names the divergence D; `WARLoss` describes the parameters.
    """

    slope_at_clean = False  # whether D(q, p) has a gradient in q where q = p

    def __init__(
        self,
        epsilon: float = 0.005,
        dropout: Dropout = "independent",
        batchnorm_update: bool = True,
        direction: Direction = "sum",
        power_iterations: int = 1,
        class_dim: int | None = None,
    ) -> None:
        super().__init__()
        if not (isinstance(epsilon, int | float) and math.isfinite(epsilon) and epsilon >= 0):
            raise WarlabError(f"epsilon is the length of the perturbation and cannot be {epsilon}; give 0 or more.")
        if dropout not in ("independent", "shared", "off"):
            raise WarlabError(f"dropout must be independent, shared or off, not {dropout!r}.")
        if direction not in ("sum", "mean", "clean"):
            raise WarlabError(f"direction must be sum, mean or clean, not {direction!r}.")
        if power_iterations < 1:
            raise WarlabError(f"power_iterations must be at least 1, not {power_iterations}.")
        if direction == "clean":
            self._check_clean(dropout, power_iterations)
        self.epsilon = epsilon
        self.dropout: Dropout = dropout
        self.batchnorm_update = batchnorm_update
        self.direction: Direction = direction
        self.power_iterations = power_iterations
        self.class_dim = class_dim
        self._are_logits = False  # not yet known

    def _check_clean(self, dropout: Dropout, power_iterations: int) -> None:
        if not self.slope_at_clean:
            raise WarlabError(
                f"direction cannot be clean for {type(self).__name__}: its divergence has no slope where both "
                "predictions are the same, so that its direction needs a probe; choose sum or mean."
            )
        if dropout != "independent" or power_iterations != 1:
            raise WarlabError(
                "direction is clean, which takes the one gradient that the clean pass gives; with it leave "
                "dropout independent and power_iterations 1."
            )

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
        """The regulariser as a scalar.

        Parameters
        ----------
        model : nn.Module
            The network, wrapped by DataParallel, DistributedDataParallel or torch.compile or not, its weights in
            float32 or float64. It returns logits, or an object or dict that carries them as `logits`.
        inputs : Tensor (B, ...) of floating point numbers
            What is perturbed: images, features, or the embeddings of tokens; then `model` is the part behind them.
        logits : Tensor (B, C), (B, C, H, W), ..., or the output that carries them, optional
            The model's output on `inputs`, if the loop has it; detached here. Default: one more forward.
        predict : function, optional
            From perturbed inputs to logits, in place of `model(inputs)`: for further arguments, such as
            ``lambda e: model(inputs_embeds=e, attention_mask=m)``, and for outputs that need picking.
        mask : Tensor of booleans, shaped as the labels, optional
            True where a pixel, token or sample counts, such as ``labels != ignore_index``. Default: everywhere.

        Returns
        -------
        Tensor ()
            The mean of D; 0 where the mask leaves nothing.
        """
        x = _perturbable(model, inputs)
        inner, outer = _passes(model, predict)
        if self.dropout == "shared":
            seed = int(torch.randint(2**62, ()))
            inner, outer = (_same_masks(one, seed, x.device) for one in (inner, outer))
        reused = self._reused(logits, x.dtype)  # asked here: inside, TF32 is off whatever the loop's own pass had
        with extra_pass(model, self.dropout, self.batchnorm_update):
            clean = _no_grad(inner, x) if reused is None else reused
            rows = _Rows(len(x), self.class_dim, self._kept(clean, len(x), mask))
            reference = rows.probabilities(clean)
            if self.epsilon == 0:
                perturbed = x
            elif self.direction == "clean":
                perturbed = x + self.epsilon * self._clean_direction(inputs, logits, rows).to(x)
            else:
                perturbed = x + self._perturbation(inner, x, reference, rows)
            return rows.mean(self.divergence(rows.probabilities(outer(perturbed)), reference))

    def _clean_direction(self, inputs: Tensor, output: Any, rows: "_Rows") -> Tensor:
        """Unit vectors along the gradient of D(p(x), sg[p(x)]) in x, through the graph of the loop's own forward."""
        clean = rows.probabilities(output) if output is not None else inputs.detach()
        if not (inputs.requires_grad and clean.requires_grad):
            raise WarlabError(
                "direction is clean, so that the gradient comes from the loop's own forward: call "
                "inputs.requires_grad_() before logits = model(inputs), and give these logits with their graph."
            )
        value = rows.per_sample(self.divergence(clean, clean.detach())).sum()
        try:
            (gradient,) = torch.autograd.grad(value, inputs, retain_graph=True)
        except RuntimeError as error:
            if "not have been used in the graph" in str(error):
                raise WarlabError("The logits were not made of these inputs; give both of one forward.") from error
            raise
        return unit(gradient)

    def _perturbation(self, predict: Predict, x: Tensor, reference: Tensor, rows: "_Rows") -> Tensor:
        try:
            return perturbation(
                lambda inputs: rows.probabilities(predict(inputs)),
                lambda adversarial, clean: rows.per_sample(self.divergence(adversarial, clean)),
                x,
                reference,
                self.epsilon,
                "mean" if self.direction == "mean" else "sum",
                self.power_iterations,
            )
        except RuntimeError as error:
            if "not have been used in the graph" in str(error) or "does not require grad" in str(error):
                raise WarlabError(
                    "The logits do not depend on the inputs in a differentiable way; look for a no_grad, a detach or "
                    "an argmax in the model, or a predict function that ignores its argument."
                ) from error
            raise

    def _reused(self, output: Any, precision: torch.dtype) -> Tensor | None:
        """The loop's logits, if they saw the dropout rule and the precision of the extra passes."""
        if output is None or self.dropout != "independent":
            return None
        logits = logits_of(output)
        exact = logits.dtype == precision and not (logits.is_cuda and tf32_allowed())
        return logits.detach() if exact else None

    def _kept(self, clean: Tensor, samples: int, mask: Tensor | None) -> Tensor | None:
        """Look at the first logits, because a model that ends in a softmax trains on, only worse; then the mask."""
        axis = class_axis(clean, samples, self.class_dim)
        if not self._are_logits:
            found = looks_like_probabilities(clean, axis)
            if found:
                raise WarlabError(
                    "The model returns probabilities (rows that sum to 1), and the loss would take their softmax "
                    "again; return logits, or give predict=lambda inputs: model(inputs).log()."
                )
            self._are_logits = found is False
        return None if mask is None else rows_of_mask(mask, clean, axis)


def _no_grad(predict: Predict, x: Tensor) -> Tensor:
    with torch.no_grad():
        return logits_of(predict(x))


@dataclass(frozen=True)
class _Rows:
    """From outputs to rows of probabilities, and from one value per row to one per sample and to the mean."""

    samples: int
    class_dim: int | None
    mask: Tensor | None

    def probabilities(self, output: Any) -> Tensor:
        logits = logits_of(output)
        return probabilities(logits, class_axis(logits, self.samples, self.class_dim))

    def per_sample(self, values: Tensor) -> Tensor:
        """The mean over the pixels or tokens of a sample, if it has any."""
        if self.mask is None:
            return values.view(self.samples, -1).mean(1)
        counts = self.mask.view(self.samples, -1).sum(1).clamp_min(1)
        return values.where(self.mask, 0.0).view(self.samples, -1).sum(1) / counts

    def mean(self, values: Tensor) -> Tensor:
        if self.mask is None:
            return values.mean()
        return values.where(self.mask, 0.0).sum() / self.mask.sum().clamp_min(1)


def _perturbable(model: nn.Module, inputs: Tensor) -> Tensor:
    """The inputs in the precision of the model's weights, or one sentence why they cannot be perturbed."""
    if not isinstance(model, nn.Module):
        raise WarlabError(
            f"The model is a {type(model).__name__}; give the nn.Module, and a function that calls it as predict=."
        )
    if not isinstance(inputs, Tensor):
        raise WarlabError(
            f"The inputs are a {type(inputs).__name__}; give the one tensor that is perturbed, and hand the others "
            "over in a function: predict=lambda x: model(x, others)."
        )
    if not inputs.is_floating_point():
        raise WarlabError(
            f"The inputs are {inputs.dtype} and cannot be perturbed: of tokens give the embeddings as inputs and the "
            "part of the model behind them as model (examples/tokens.py); scale images to floating point numbers."
        )
    if inputs.dim() < 2 or not len(inputs):
        raise WarlabError(f"The inputs have shape {tuple(inputs.shape)}; give a batch (B, ...) of at least one sample.")
    if not torch.is_grad_enabled():
        raise WarlabError(
            "The direction of the perturbation is a gradient, and gradients are switched off here; call the loss under "
            "torch.enable_grad(), and leave it out of validation."
        )
    return inputs.detach().to(_precision(model, inputs))


def _precision(model: nn.Module, inputs: Tensor) -> torch.dtype:
    found = {weight.dtype for weight in model.parameters() if weight.is_floating_point()}
    coarse = found - {torch.float32, torch.float64}
    if coarse:
        raise WarlabError(
            f"The model's weights are {coarse.pop()}, in which a perturbation of length 0.005 is lost; keep them in "
            "float32 and train under torch.autocast."
        )
    double = torch.float64 in (found or {inputs.dtype})
    return torch.float64 if double else torch.float32


def _passes(model: nn.Module, predict: Predict | None) -> tuple[Predict, Predict]:
    """What reference and probe are computed by, and what the final pass is computed by."""
    if predict is not None:
        return predict, predict
    return (model.module if isinstance(model, DistributedDataParallel) else model), model


def _same_masks(predict: Predict, seed: int, device: torch.device) -> Predict:
    """A function that draws the same dropout masks in every call."""

    def again(x: Tensor) -> Any:
        with same_random_numbers(seed, device):
            return predict(x)

    return again
