"""The extra passes of the regulariser: their inputs and precision, and what batch norm and dropout do in them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from warlab.common.precision import true_float32
from warlab.errors import WarlabError

Dropout = Literal["independent", "shared", "off"]
Predict = Callable[[Tensor], Any]  # inputs → logits, or an output that holds them


def perturbable(model: nn.Module, inputs: Tensor) -> Tensor:
    """The inputs in the precision of the model's weights; an error if they cannot be perturbed."""
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
            f"The inputs are {inputs.dtype} and cannot be perturbed: for tokens give the embeddings as inputs and the "
            "part of the model that follows them as model (examples/tokens.py); scale images to floating point numbers."
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
    dtypes = {weight.dtype for weight in model.parameters() if weight.is_floating_point()}
    coarse = dtypes - {torch.float32, torch.float64}
    if coarse:
        raise WarlabError(
            f"The model's weights are {coarse.pop()}, in which a perturbation of length 0.005 is lost; keep them in "
            "float32 and train under torch.autocast."
        )
    double = torch.float64 in (dtypes or {inputs.dtype})
    return torch.float64 if double else torch.float32


def forwards(model: nn.Module, predict: Predict | None) -> tuple[Predict, Predict]:
    """The forward of the reference and the probe, and the forward of the final pass.

    With DistributedDataParallel the probe runs on the module inside, where no reducer waits for weight gradients that
    never come. The final pass runs through the wrapper, whose reducer adds its gradients to those of the loop.
    """
    if predict is not None:
        return predict, predict
    return (model.module if isinstance(model, DistributedDataParallel) else model), model


@contextmanager
def extra_pass(model: nn.Module, dropout: Dropout, batchnorm_update: bool) -> Iterator[None]:
    """Every forward inside has the given rules of dropout and batch norm, and true float32."""
    with ExitStack() as stack:
        if dropout == "off":
            stack.enter_context(_switched_off(model, nn.modules.dropout._DropoutNd, "training"))
        if not batchnorm_update:  # batch statistics are still used, running ones stay
            stack.enter_context(_switched_off(model, nn.modules.batchnorm._NormBase, "track_running_stats"))
        # A wrapper overwrites running statistics before a forward: once per step, in the loop's own pass.
        stack.enter_context(_switched_off(model, DistributedDataParallel, "broadcast_buffers"))
        stack.enter_context(true_float32())
        yield


@contextmanager
def _switched_off(model: nn.Module, kind: type[Any], attribute: str) -> Iterator[None]:
    """Set an attribute of all modules of a kind to False inside, and restore it afterwards."""
    modules = [m for m in model.modules() if isinstance(m, kind)]
    before = [getattr(m, attribute) for m in modules]
    try:
        for m in modules:
            setattr(m, attribute, False)
        yield
    finally:
        for m, value in zip(modules, before, strict=True):
            setattr(m, attribute, value)


@contextmanager
def same_random_numbers(seed: int, device: torch.device) -> Iterator[None]:
    """Draw from generators with this seed inside; the generators outside are left as they were."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def with_same_masks(predict: Predict, seed: int, device: torch.device) -> Predict:
    """The function `predict` with the same dropout masks in every call."""

    def again(x: Tensor) -> Any:
        with same_random_numbers(seed, device):
            return predict(x)

    return again
