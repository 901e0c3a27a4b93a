"""Where a result comes from: code version, packages, machine, time and memory."""

import os
import platform
import resource
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

import warlab
from warlab.artefacts.run_result import Machine, RunProvenance
from warlab.common.precision import float32_precision
from warlab.engine.device import uses_gpu

PACKAGES = ("torch", "torchvision", "timm", "numpy", "pot", "gensim", "snakemake")


def provenance(seconds: float, processor_seconds: float) -> RunProvenance:
    return {
        "git": git_version(),
        "versions": versions(),
        "host": platform.node(),
        "processor": device_name(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None,
        "float32": float32_precision(),
        "threads": torch.get_num_threads(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
        "visible_gpus": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor_seconds, 2),
        "peak_memory_mb": peak_memory_mb(),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python, warlab and the packages that matter. A training that is over must not be lost
    here: warlab may run from its source without being installed, and a package may be missing."""
    found = {"python": platform.python_version(), "warlab": warlab.__version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> Machine:
    """Return what else the last bits of a training may depend on, apart from its configuration, code and inputs."""
    return {
        "torch": str(torch.__version__),
        "processor": device_name(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
    }


def git_version() -> str:
    """Return the commit, with -dirty if files are changed; "unknown" outside of a checkout."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def device_name() -> str:
    return torch.cuda.get_device_name() if uses_gpu() else f"CPU {platform.machine()}"


def peak_memory_mb() -> float:
    if uses_gpu():
        return round(torch.cuda.max_memory_allocated() / 2**20, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
