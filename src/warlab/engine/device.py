"""Decide whether networks run on a GPU or on the CPU, and how torch computes there."""

import os

import torch
from torch import nn

from warlab.artefacts.run_config import DeviceOptions
from warlab.common.precision import use_tf32
from warlab.engine.lock import VISIBLE, device_count, visible_entries
from warlab.errors import WarlabError

CHOICE = "WARLAB_DEVICE"
_options = DeviceOptions()  # global in this process, like the flags of torch


def best_device() -> torch.device:
    """Return the GPU, or the CPU if there is none. A GPU that torch cannot use is an error: training on the CPU by
    accident would take days."""
    if uses_gpu():
        return torch.device("cuda")
    if CHOICE not in os.environ and (reason := _reason_to_expect_gpu()):
        built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "no CUDA"
        raise WarlabError(
            f"There should be a GPU ({reason}), but torch {torch.__version__} with {built} sees none: update the "
            f"driver or install the torch build for it (docs/cluster.md), or set {CHOICE}=cpu to train on the CPU."
        )
    return torch.device("cpu")


def uses_gpu() -> bool:
    if os.environ.get(CHOICE, "cpu") != "cpu":
        raise WarlabError(f"{CHOICE} is {os.environ[CHOICE]!r}; set it to cpu, or unset it to use a GPU if available.")
    return CHOICE not in os.environ and torch.cuda.is_available()


def _reason_to_expect_gpu() -> str | None:
    """Return why a GPU is expected: a lease, a scheduler or the user has named one, or the machine has one."""
    if VISIBLE in os.environ:
        return f"{VISIBLE}={os.environ[VISIBLE]}" if visible_entries(os.environ[VISIBLE]) else None
    return f"{count} of this machine" if (count := device_count()) else None


def device_settings(threads: int, options: DeviceOptions | None = None) -> None:
    """Make results reproducible: deterministic kernels where torch has them, and true float32 unless TF32 is chosen."""
    global _options
    _options = options or DeviceOptions()
    use_tf32(_options.tf32)
    torch.set_num_threads(threads)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS only warns
    # use_deterministic_algorithms(True, warn_only=True) does the same, but imports the compiler, which takes a second.
    torch.set_deterministic_debug_mode("warn")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined] # only slow
    torch.backends.cudnn.benchmark = False


def memory_format(device: torch.device) -> torch.memory_format:
    """Channels last is about a quarter faster on CPUs (benchmarks/step.py); on GPUs it is an option."""
    last = device.type == "cpu" or _options.channels_last
    return torch.channels_last if last else torch.contiguous_format


def place(model: nn.Module, device: torch.device) -> nn.Module:
    """Move the model to the device, in the memory format of the batches; compile it if that option is on."""
    placed: nn.Module = model.to(device).to(memory_format=memory_format(device))  # type: ignore[call-overload]
    if _options.compile:
        placed.forward = torch.compile(placed.forward)  # hooks and names of weights stay as they are
    return placed
