"""The one place that decides where a network lives: on the GPU, or on the CPU where there is none."""

import os

import torch

from warlab.engine.lease import VISIBLE, device_count, visible_entries
from warlab.errors import WarlabError

CHOICE = "WARLAB_DEVICE"


def best_device() -> torch.device:
    """A GPU that torch cannot use is an error: days of training on the CPU are not what anyone wants."""
    if uses_gpu():
        return torch.device("cuda")
    if CHOICE not in os.environ and (reason := _expected()):
        built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "no CUDA"
        raise WarlabError(
            f"There should be a GPU ({reason}), but torch {torch.__version__} with {built} sees none: update the "
            f"driver or install the torch build for it (docs/cluster.md), or set {CHOICE}=cpu to train on the CPU."
        )
    return torch.device("cpu")


def uses_gpu() -> bool:
    if os.environ.get(CHOICE, "cpu") != "cpu":
        raise WarlabError(f"{CHOICE} is {os.environ[CHOICE]!r}; set it to cpu, or unset it to use a GPU where one is.")
    return CHOICE not in os.environ and torch.cuda.is_available()


def _expected() -> str | None:
    """Why a GPU is expected: a lease, a scheduler or the user has named one, or the machine shows one."""
    if VISIBLE in os.environ:
        return f"{VISIBLE}={os.environ[VISIBLE]}" if visible_entries(os.environ[VISIBLE]) else None
    return f"{count} of this machine" if (count := device_count()) else None
