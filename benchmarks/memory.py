"""Peak memory and time of the divergences of WAR and AR over the pixels of a batch of patches.

    python benchmarks/memory.py                          4 patches of 512 × 512, six classes
    python benchmarks/memory.py --patches 1 --side 256   a smaller batch

Each divergence runs in its own process, forward and backward from logits to their gradient. The memory is the growth
of the process beyond the logits and the reference (Linux), or that of torch's allocator on a GPU. The time is processor
time.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import torch

from warlab.war import AdversarialLoss, ARLoss, WARLoss, probabilities

CLASSES = 6


def divergences() -> dict[str, AdversarialLoss]:
    return {"AR": ARLoss(), "WAR": WARLoss(0.5 * (1 - torch.eye(CLASSES)))}


def measure(name: str, patches: int, side: int) -> dict[str, float]:
    """Megabytes and seconds of one forward and backward."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loss = divergences()[name].to(device)
    step(loss, 1, 64, device)  # loads what is loaded only once
    torch.manual_seed(0)
    logits = 3 * torch.randn(patches, CLASSES, side, side, device=device)
    reference = probabilities(logits + torch.randn_like(logits))
    logits.requires_grad_()
    forget_peak(device)
    before, started = peak(device), time.process_time()
    loss.divergence(probabilities(logits), reference).mean().backward()
    return {"megabytes": peak(device) - before, "seconds": time.process_time() - started}


def step(loss: AdversarialLoss, patches: int, side: int, device: torch.device) -> None:
    logits = torch.randn(patches, CLASSES, side, side, device=device, requires_grad=True)
    loss.divergence(probabilities(logits), probabilities(logits.detach())).mean().backward()


def forget_peak(device: torch.device) -> None:
    """Reset the peak: on Linux a process inherits that of its parent."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    else:
        Path("/proc/self/clear_refs").write_text("5")


def peak(device: torch.device) -> float:
    """The peak memory in megabytes."""
    if device.type == "cuda":
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() / 2**20
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def in_own_process(name: str, patches: int, side: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--only", name, "--patches", str(patches), "--side", str(side)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patches", type=int, default=4)
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--only", choices=list(divergences()), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only, options.patches, options.side)))
        return
    found = {name: in_own_process(name, options.patches, options.side) for name in divergences()}
    for name, numbers in found.items():
        print(f"{name:4} {numbers['megabytes']:8.0f} MB  {numbers['seconds']:6.2f} s")
    print(f"WAR / AR: {found['WAR']['megabytes'] / found['AR']['megabytes']:.2f} times the memory")


if __name__ == "__main__":
    main()
