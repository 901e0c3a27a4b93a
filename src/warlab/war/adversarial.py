"""Adversarial regularisation with any divergence D between predictions: the step that WAR, AR and TV share.

    R(x) = D( p(x + r), sg[p(x)] )                sg stops the gradient: it flows through p(x + r) alone
    d = xi * unit(N(0, I))                        a small random probe, per sample
    g = gradient of D( p(x + d), sg[p(x)] ) in d  one power iteration, as in the paper; further ones start from unit(g)
    r = epsilon * unit(g)                         detached: no gradient flows through the direction

epsilon is a length, or relative_epsilon times the L2 norm of the sample.

Two controls need no gradient: a random direction, r = epsilon * unit(N(0, I)), and Gaussian noise of about this length,
r = epsilon * N(0, I) / sqrt(d) for samples of d values.

A step has three passes. The loop's own pass gives p(x); it is reused if its precision and its dropout masks allow it.
The probe is one forward pass and the gradient in x alone; with direction "clean" the gradient of the loop's own pass
takes its place. The final pass gives p(x + r), the only one that the loss is differentiated through.
"""

import math
import numbers
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import torch
from torch import Tensor, nn
from torch.nn.functional import nll_loss

from warlab.common.labels import check_labels, looks_like_probabilities
from warlab.common.precision import model_precision, spacing, tf32_allowed
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
    refuse_static_graph,
    select_forwards,
)
from warlab.war.perturbation import XI, XI_RELATIVE, XI_SAME_MASKS, draw_direction, norms, perturbation, unit
from warlab.war.watch import CALLS, Watch, has_dropout, remedy

Direction = Literal["sum", "mean", "clean", "random", "gaussian"]

# The library's default, one of the two; `paper` stays the paper's whatever it is.
EPSILON, RELATIVE_EPSILON = 0.005, None
PAPER: dict[str, Any] = {"dropout": "independent", "direction": "sum", "power_iterations": 1}  # beside epsilon
LEAST_ENTROPY = 1e-6  # of a batch; below, float32 has no digits of it
NEGLIGIBLE = 1e-3  # of the scale of D: with a weight of 10, a hundredth of a nat or less
DRAWN = ("random", "gaussian")  # directions without a gradient


@dataclass(eq=False, repr=False, kw_only=True)
class AdversarialLoss(nn.Module, ABC):
    """Mean over the batch of D(p(x + r), sg[p(x)]), the gradient flowing through p(x + r) alone.

    A subclass defines the divergence D; `WARLoss` describes the parameters.
    """

    epsilon: float | None = None
    relative_epsilon: float | None = None
    dropout: Dropout = "independent"
    batchnorm_update: bool = True
    direction: Direction = "sum"
    power_iterations: int = 1
    class_dim: int | None = None

    slope_at_clean = False  # whether D(q, p) has a gradient in q where q = p
    scale = 1.0  # the order of D between predictions that differ much

    def __post_init__(self) -> None:
        super().__init__()
        self._are_logits = False  # not yet known
        self._watch = Watch()
        if self.epsilon is None and self.relative_epsilon is None:
            self.epsilon, self.relative_epsilon = EPSILON, RELATIVE_EPSILON
        if self.epsilon is not None and self.relative_epsilon is not None:
            raise WarlabError("Give epsilon, a length, or relative_epsilon, a share of each sample's norm, not both.")
        self.epsilon = _checked("epsilon", "length of the perturbation", self.epsilon)
        share = "perturbation as a share of each sample's norm"
        self.relative_epsilon = _checked("relative_epsilon", share, self.relative_epsilon)
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

    @classmethod
    def paper(cls, *arguments: Any, **options: Any) -> Self:
        """Return the loss with the paper's settings, whatever the library's defaults are; `options` change them."""
        length = {} if "relative_epsilon" in options else {"epsilon": 0.005}
        return cls(*arguments, **PAPER | length | options)

    def extra_repr(self) -> str:
        """Return the settings, for print(loss)."""
        names = ("epsilon", "relative_epsilon", "dropout", "direction")
        return ", ".join(f"{name}={value!r}" for name in names if (value := getattr(self, name)) is not None)

    @property
    def perturbs(self) -> bool:
        """Whether there is a perturbation at all."""
        return bool(self.epsilon or self.relative_epsilon)

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
        coarse = self._survives(x)
        clean = self._reuse(model, logits, x, coarse)  # outside of extra_pass, which may switch TF32 off
        with extra_pass(model, self.dropout, self.batchnorm_update, exact=not coarse):
            if clean is None:
                with torch.no_grad():
                    clean = get_logits(inner(x))
            rows = self._check_rows(clean, len(x), mask)
            p_clean = rows.probabilities(clean)
            perturbed = x
            if self.perturbs and self.direction == "clean":
                perturbed = x + self._length(x) * self._clean_direction(inputs, logits, rows).to(x)
            elif self.perturbs and self.direction in DRAWN:
                perturbed = x + self._length(x) * draw_direction(x, fixed_length=self.direction == "random")
            elif self.perturbs:
                xi = self._probe_length(model, x, coarse)
                perturbed = x + self._perturbation(inner, x, p_clean, rows, xi)
            p_adversarial = rows.probabilities(outer(perturbed))
            value = rows.mean(self.divergence(p_adversarial, p_clean))
            if self._watch.is_open:
                with torch.no_grad():
                    self._watch.add(value.detach(), rows.mean(self.divergence(p_clean, p_clean)))
                self._warn_if_nothing_happens(model)
            return value

    def ratio(
        self,
        model: nn.Module,
        inputs: Tensor,
        labels: Tensor,
        *,
        predict: Predict | None = None,
        mask: Tensor | None = None,
    ) -> float:
        """Return (R - D(p, p)) / CE on a batch, to choose the weight of R by: beta = share / ratio.

        D(p, p), which the entropy in WAR's transport leaves, is not counted, since no weight makes it useful. Running
        statistics of batch norm stay as they are. Use it after the warm-up, on a few batches, with the model in the
        mode in which it is trained: without its dropout, beta would be much too large.
        """
        if self.dropout == "independent" and has_dropout(model, active=False) and not has_dropout(model):
            warnings.warn(
                "The dropout of the model is switched off, so that the ratio counts the perturbation alone; call "
                "model.train() before `ratio`, unless you train with it switched off.",
                stacklevel=2,
            )
        with_slope = self.direction == "clean"  # which needs the graph of the loop's own pass
        inputs = check_inputs(model, inputs).requires_grad_(with_slope)
        update, self.batchnorm_update = self.batchnorm_update, False
        watch, self._watch = self._watch, Watch(calls=CALLS)
        try:
            with torch.set_grad_enabled(with_slope), extra_pass(model, "independent", False, exact=False):
                clean = get_logits((predict or model)(inputs))
            value = self(model, inputs, clean if with_slope else None, predict=predict, mask=mask).detach()
        finally:
            self.batchnorm_update, self._watch = update, watch
        rows, axis = self._check_rows(clean, len(inputs), mask), class_axis(clean, len(inputs), self.class_dim)
        expected = tuple(size for k, size in enumerate(clean.shape) if k != axis)
        y = check_labels(labels, expected, clean.shape[axis], rows.mask)
        p = rows.probabilities(clean.detach())
        entropy = nll_loss(p.clamp_min(torch.finfo(p.dtype).tiny).log(), y, reduction="none")
        penalty, mean = float(value - rows.mean(self.divergence(p, p))), float(rows.mean(entropy))
        if not mean > LEAST_ENTROPY:
            raise WarlabError(
                f"The cross entropy on this batch is {mean:.2g}, to which nothing can be compared: the model predicts "
                "every label, or the mask leaves none; take a batch of held-out samples."
            )
        return penalty / mean

    def _warn_if_nothing_happens(self, model: nn.Module) -> None:
        if self._watch.is_open or (self.dropout == "independent" and has_dropout(model)):
            return
        mean, floor = self._watch.means()
        if not mean <= 2 * floor + NEGLIGIBLE * self.scale:  # of a model that returns NaN nothing is known
            return
        name = "epsilon" if self.relative_epsilon is None else "relative_epsilon"
        already = self.direction in DRAWN and (self.relative_epsilon or 0.0) >= 0.15
        warnings.warn(
            f"{type(self).__name__} does next to nothing here: over its first {CALLS} calls it is {mean:.2g}, of which "
            f"{floor:.2g} is there without any perturbation. No dropout masks differ, and {name}="
            f"{getattr(self, name):g} is too small for this model. {remedy(model, self.dropout, already)} Compare with "
            "the plain cross entropy over some seeds; `ratio` says how much the loss adds to it.",
            stacklevel=5,
        )

    def _length(self, x: Tensor) -> Tensor | float:
        """Return epsilon, per sample if it is relative; a sample of zeros is not perturbed."""
        if self.relative_epsilon is None:
            return self.epsilon or 0.0
        return self.relative_epsilon * norms(x)

    def _survives(self, x: Tensor) -> bool:
        """Return whether the perturbation survives the precision that the model computes in: it is above the relative
        spacing of its numbers. The share of an absolute epsilon is not known, and to measure it makes a GPU wait."""
        return self.relative_epsilon is not None and self.relative_epsilon >= spacing(x)

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

    def _probe_length(self, model: nn.Module, x: Tensor, coarse: bool) -> Tensor | float:
        if self.relative_epsilon is not None:
            return max(XI_RELATIVE, spacing(x) if coarse else 0.0) * norms(x)
        return XI if self.dropout == "independent" and has_dropout(model) else XI_SAME_MASKS

    def _perturbation(self, predict: Predict, x: Tensor, p_clean: Tensor, rows: Rows, xi: Tensor | float) -> Tensor:
        try:
            return perturbation(
                lambda inputs: rows.probabilities(predict(inputs)),
                lambda adversarial, clean: rows.per_sample(self.divergence(adversarial, clean)),
                x,
                p_clean,
                self._length(x),
                "mean" if self.direction == "mean" else "sum",
                self.power_iterations,
                xi,
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

    def _reuse(self, model: nn.Module, output: Any, x: Tensor, coarse: bool) -> Tensor | None:
        """Return the loop's logits, if they have the dropout rule and the precision of the extra passes."""
        if output is None or self.dropout == "shared" or (self.dropout == "off" and has_dropout(model)):
            return None
        logits = get_logits(output)
        if coarse:
            return logits.detach() if logits.dtype in (x.dtype, model_precision(x)) else None
        # A model may return float32 under autocast, as many do; its logits are as coarse as its layers.
        exact = logits.dtype == x.dtype == model_precision(x) and not (logits.is_cuda and tf32_allowed())
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


def _checked(name: str, meaning: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, numbers.Real) and math.isfinite(value) and float(value) >= 0:
        return float(value)
    raise WarlabError(f"{name} is the {meaning} and cannot be {value!r}; give a number, 0 or more.")
