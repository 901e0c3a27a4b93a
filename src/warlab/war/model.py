"""What the losses take from a model: perturbed inputs, logits in rows, and the rules of its layers in extra passes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from warlab.common.precision import true_float32
from warlab.errors import WarlabError

Dropout = Literal["independent", "shared", "off"]
Predict = Callable[[Tensor], Any]  # inputs → logits, or an output that holds them


def check_inputs(model: nn.Module, inputs: Tensor) -> Tensor:
    """Return the inputs in the precision of the model's weights; an error if they cannot be perturbed."""
    if not isinstance(model, nn.Module):
        raise WarlabError(
            f"The model is a {type(model).__name__}; give the nn.Module, and a function that calls it as predict=."
        )
    if not isinstance(inputs, Tensor):
        raise WarlabError(
            f"The inputs are a {type(inputs).__name__}; give the one tensor that is perturbed, and pass the others "
            "through a closure: predict=lambda x: model(x, others)."
        )
    if not inputs.is_floating_point():
        raise WarlabError(
            f"The inputs are {inputs.dtype} and cannot be perturbed: for tokens give the embeddings as inputs and the "
            "part of the model that follows them as model (examples/tokens.py); scale images to floating point numbers."
        )
    if inputs.dim() < 2 or not len(inputs):
        raise WarlabError(f"The inputs have shape {tuple(inputs.shape)}; give a batch (B, ...) of at least one sample.")
    if not torch.is_grad_enabled():
        raise WarlabError(
            "Gradients are switched off here, and the loss and the direction of the perturbation need them; call it "
            "under torch.enable_grad(), and leave it out of validation."
        )
    return inputs.detach().to(_precision(model, inputs))


def _precision(model: nn.Module, inputs: Tensor) -> torch.dtype:
    dtypes = {weight.dtype for weight in model.parameters() if weight.is_floating_point()}
    coarse = dtypes - {torch.float32, torch.float64}
    if coarse:
        raise WarlabError(
            f"The model's weights are {coarse.pop()}, in which a small perturbation is lost; keep them in float32 and "
            "train under torch.autocast."
        )
    double = torch.float64 in (dtypes or {inputs.dtype})
    return torch.float64 if double else torch.float32


def select_forwards(model: nn.Module, predict: Predict | None) -> tuple[Predict, Predict]:
    """Return the functions of the reference and the probe, and of the final pass.

    With DistributedDataParallel the probe runs on the module inside, where no reducer waits for weight gradients that
    never come. The final pass runs through the wrapper, whose reducer adds its gradients to those of the loop.
    """
    outer = model if predict is None else predict
    if not isinstance(model, DistributedDataParallel):
        refuse_static_graph(model, "is inside another module, so that the probe runs through it; give it as the model")
        return outer, outer

    def inner(x: Tensor) -> Any:
        before = {name: value for name, value in vars(model).items() if name == "forward"}  # accelerate may set it
        vars(model)["forward"] = model.module  # also where `predict` calls the wrapper
        try:
            return outer(x)
        finally:
            del vars(model)["forward"]
            vars(model).update(before)

    return inner, outer


def refuse_static_graph(model: nn.Module, reason: str) -> None:
    """Raise an error for a static graph: a gradient in the inputs through its wrapper uses up the reduction of the
    weights' gradients, which are then not averaged, and the processes drift apart without a message."""
    if any(isinstance(m, DistributedDataParallel) and m.static_graph for m in model.modules()):
        raise WarlabError(f"DistributedDataParallel(static_graph=True) {reason}, or leave static_graph False.")


@contextmanager
def extra_pass(model: nn.Module, dropout: Dropout, batchnorm_update: bool, exact: bool = True) -> Iterator[None]:
    """Give every forward pass inside the given rules of dropout and batch norm, and, if exact, true float32."""
    with ExitStack() as stack:
        if dropout == "off":
            stack.enter_context(_set(model, nn.modules.dropout._DropoutNd, "training", False))
        if not batchnorm_update:  # batch statistics are still used, running ones stay
            stack.enter_context(_set(model, nn.modules.batchnorm._BatchNorm, "track_running_stats", False))
            for name in ("running_mean", "running_var"):  # instance norm writes to them whenever it has them
                stack.enter_context(_set(model, nn.modules.instancenorm._InstanceNorm, name, None, training=True))
        # A wrapper overwrites running statistics before a forward pass: once per step, in the loop's own pass.
        stack.enter_context(_set(model, DistributedDataParallel, "broadcast_buffers", False))
        if exact:
            stack.enter_context(true_float32())
        yield


@contextmanager
def _set(
    model: nn.Module, kind: type[Any], attribute: str, value: object, training: bool | None = None
) -> Iterator[None]:
    """Set an attribute of all modules of a kind, or of those in training mode, inside; restore it afterwards."""
    modules = [m for m in model.modules() if isinstance(m, kind) and training in (None, m.training)]
    before = [getattr(m, attribute) for m in modules]
    try:
        for m in modules:
            setattr(m, attribute, value)
        yield
    finally:
        for m, own in zip(modules, before, strict=True):
            setattr(m, attribute, own)


@contextmanager
def same_random_numbers(seed: int, device: torch.device) -> Iterator[None]:
    """Draw from generators with this seed inside; the generators outside are left as they were."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def fix_dropout_masks(predict: Predict, seed: int, device: torch.device) -> Predict:
    """Return the function `predict` with the same dropout masks in every call."""

    def again(x: Tensor) -> Any:
        with same_random_numbers(seed, device):
            return predict(x)

    return again


# ---- from outputs to rows of probabilities


def get_logits(output: Any) -> Tensor:
    """Return the output if it is a tensor, or its `logits` if it is an object or dict, as in Hugging Face's models."""
    logits = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", output)
    if isinstance(logits, Tensor):
        return logits
    raise WarlabError(
        f"The model returns {type(output).__name__} without a tensor of logits; pick them with a function, such as "
        "predict=lambda inputs: model(inputs)[0]."
    )


def probabilities(logits: Tensor, class_dim: int = 1) -> Tensor:
    """Softmax over classes; maps (B, C, H, W) become one row per pixel, images (B, C) stay as they are."""
    p = (logits if logits.dtype == torch.float64 else logits.float()).softmax(class_dim)
    return p if p.dim() == 2 else p.movedim(class_dim, -1).reshape(-1, p.shape[class_dim])


def class_axis(logits: Tensor, samples: int, class_dim: int | None) -> int:
    """Return the axis of the classes; an error if the logits have none, or if there are several candidates.

    A network for maps may give its pixels as rows, image by image: (B · H · W, classes).
    """
    shape = tuple(logits.shape)
    rows_of_pixels = logits.dim() == 2 and len(logits) > 0 and len(logits) % samples == 0
    if logits.dim() < 2 or (len(logits) != samples and not rows_of_pixels):
        raise WarlabError(
            f"The logits have shape {shape} for {samples} inputs; the losses need one row of logits per input, "
            f"({samples}, classes), or maps ({samples}, classes, height, width)."
        )
    if class_dim is None and logits.dim() == 3:
        raise WarlabError(
            f"Logits of shape {shape} may be (batch, classes, length) or (batch, length, classes): give class_dim=1 "
            "or class_dim=2 to the loss."
        )
    dims = logits.dim()
    axis = 1 if class_dim is None else class_dim % dims if -dims <= class_dim < dims else 0
    if axis == 0:
        raise WarlabError(
            f"class_dim={class_dim} is no axis of classes in logits of shape {shape}; the first is the batch."
        )
    if shape[axis] < 2:
        raise WarlabError(
            f"The logits have shape {shape}, a single class; for a binary task give two columns, "
            "such as predict=lambda inputs: torch.cat([0 * (z := model(inputs)), z], 1)."
        )
    return axis


def flatten_mask(mask: Tensor, logits: Tensor, axis: int) -> Tensor:
    """Return the mask as (rows,), one entry per row of `probabilities`."""
    expected = tuple(size for k, size in enumerate(logits.shape) if k != axis)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or tuple(mask.shape) != expected:
        actual = f"{tuple(mask.shape)} of {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
        raise WarlabError(
            f"The mask must be a tensor of booleans of shape {expected}, True where a label counts, such as "
            f"labels != ignore_index; it is {actual}."
        )
    return mask.reshape(-1).to(logits.device)


@dataclass(frozen=True)
class Rows:
    """From outputs to rows of probabilities, and from one value per row to one per sample and to the mean."""

    samples: int
    class_dim: int | None
    mask: Tensor | None

    def probabilities(self, output: Any) -> Tensor:
        logits = get_logits(output)
        return probabilities(logits, class_axis(logits, self.samples, self.class_dim))

    def per_sample(self, values: Tensor) -> Tensor:
        """Return the mean over the pixels or tokens of a sample, if it has any."""
        if self.mask is None:
            return values.view(self.samples, -1).mean(1)
        counts = self.mask.view(self.samples, -1).sum(1).clamp_min(1)
        return values.where(self.mask, 0.0).view(self.samples, -1).sum(1) / counts

    def mean(self, values: Tensor) -> Tensor:
        if self.mask is None:
            return values.mean()
        return values.where(self.mask, 0.0).sum() / self.mask.sum().clamp_min(1)
