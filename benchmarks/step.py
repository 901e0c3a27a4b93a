"""Seconds per training step of CCE, AR and WAR, side by side in one run, as ratios.

    python benchmarks/step.py            the 9-layer CNN at full width on 32x32 colour images
    python benchmarks/step.py --plan     the small network of the demo, for config/speed.yaml
    python benchmarks/step.py --options  what epsilon, dropout and power_iterations cost, for the docstring of WARLoss

In units of one forward: CCE 3 (forward, backward = 2), AR and WAR 8 (two more forwards, one input gradient, one
more backward), so 2.67 is the arithmetic limit of WAR / CCE. The methods take turns, so that a noisy machine slows
all of them alike; medians are printed.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.engine.batches import memory_format, place
from warlab.engine.run import device_settings
from warlab.nets import build
from warlab.ot.sinkhorn import sinkhorn
from warlab.war import AdversarialLoss, ARLoss, WARLoss

CLASSES = 10
OPTIONS = {
    "epsilon=0": ARLoss(epsilon=0),
    "dropout=shared": ARLoss(dropout="shared"),
    "dropout=off": ARLoss(dropout="off"),
    "power_iterations=2": ARLoss(power_iterations=2),
}


def main() -> None:
    given = arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    channels, size, width, batch = (1, 14, 0.25, 64) if given.plan else (3, 32, 1.0, given.batch)
    device_settings(1 if given.plan else given.threads)
    x = torch.randn(batch, channels, size, size, device=device).contiguous(memory_format=memory_format(device))
    y = torch.randint(CLASSES, (batch,), device=device)
    cost = (1 - torch.eye(CLASSES)).to(device)
    steps = {
        "CCE": make_step(x, y, width, None),
        "AR": make_step(x, y, width, ARLoss()),
        "WAR": make_step(x, y, width, WARLoss(cost).to(device)),
        "Sinkhorn": lambda: sinkhorn_part(batch, cost),
    }
    if given.options:
        steps |= {name: make_step(x, y, width, loss) for name, loss in OPTIONS.items()}
    times = measure(steps, given.repeats, device)
    report(times, batch, torch.get_num_threads())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", action="store_true", help="measure the demo's network instead")
    parser.add_argument("--options", action="store_true", help="measure AR with other options, too")
    parser.add_argument("--batch", type=int, default=256 if torch.cuda.is_available() else 64)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


def make_step(x: Tensor, y: Tensor, width: float, regulariser: AdversarialLoss | None) -> Callable[[], None]:
    """One whole training step, as the engine takes it."""
    torch.manual_seed(0)
    model = place(build("cnn9", x.shape[1], CLASSES, width=width), x.device)
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)

    def step() -> None:
        logits = model(x)
        loss = cross_entropy(logits, y)
        if regulariser is not None:
            loss = loss + 10 * regulariser(model, x, logits)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return step


def sinkhorn_part(batch: int, cost: Tensor) -> None:
    """The two transports of a WAR step, each with its backward."""
    for _ in range(2):
        logits = torch.randn(batch, CLASSES, device=cost.device, requires_grad=True)
        reference = torch.randn(batch, CLASSES, device=cost.device).softmax(1)
        sinkhorn(logits.softmax(1), reference, cost, 0.05, 20, log_domain=False).sum().backward()


def measure(steps: dict[str, Callable[[], None]], repeats: int, device: torch.device) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(repeats + 1):
        for name, step in steps.items():
            started = time.perf_counter()
            step()
            if device.type == "cuda":
                torch.cuda.synchronize()
            if number > 0:  # the first round warms up
                times[name].append(time.perf_counter() - started)
    return times


def report(times: dict[str, list[float]], batch: int, threads: int) -> None:
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratios = {
        name: statistics.median(t / c for t, c in zip(values, times["CCE"], strict=True))
        for name, values in times.items()
    }
    width = max(map(len, times)) if len(times) > 4 else 4
    print(f"torch {torch.__version__}, {threads} thread(s), batch {batch}, median of {len(times['CCE'])}")
    for name in (name for name in times if name != "Sinkhorn"):
        per_image = medians[name] / batch
        print(f"{name:{width}} {medians[name]:8.3f} s/step  {per_image:.6f} s/image  {ratios[name]:5.2f} x CCE")
    share = medians["Sinkhorn"] / medians["WAR"]
    print(f"WAR / AR {ratios['WAR'] / ratios['AR']:.3f};  the Sinkhorn part is {share:.2%} of a WAR step")


if __name__ == "__main__":
    main()
