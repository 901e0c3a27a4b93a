"""Time and memory of one training step of CCE, AR and all variants of WAR, as ratios from the same run.

    python benchmarks/step.py                        the 9-layer CNN at full width on 32x32 colour images, ten classes
    python benchmarks/step.py --classes 10 100 1000  the same for more classes
    python benchmarks/step.py --memory               peak memory of each variant, each in a process of its own
    python benchmarks/step.py --net resnet18 --autocast    torchvision's ResNet-18 under autocast to bfloat16
    python benchmarks/step.py --plan                 the network of the scale laptop, for config/speed.yaml
    on a GPU also: --tf32, --channels-last, --compile, one at a time or together

In units of one forward pass: CCE 3 (a backward pass counts 2), AR and WAR 8 (two more forward passes, one input
gradient, one more backward pass), so 2.67 is the arithmetic limit of WAR / CCE; 2.33 with direction "clean", 2.0 with
epsilon 0, 3.0 with dropout "shared" or "off", 4.0 with three power iterations. "authors" computes WAR as the authors'
code does: four forward passes, and weight gradients for the direction. The variants alternate, so that a busy machine
slows all alike.
On a CPU use the processor time, which leaves out other work on the machine; on a GPU use the clock.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from memory import forget_peak, peak
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from warlab.common.precision import tf32_allowed, true_float32
from warlab.common.vision import torchvision
from warlab.engine.device import memory_format, place
from warlab.nets import build
from warlab.ot.sinkhorn import sinkhorn
from warlab.war import AdversarialLoss, ARLoss, WARLoss

Step = Callable[[], None]
AUTHORS, JOINT, RELATIVE = "authors", "WAR, one backward", "WAR, 1 % of the norm"
BETA, PROBE, TINY = 10, 1e-6, 1e-8


def regularisers(classes: int) -> dict[str, AdversarialLoss | None]:
    cost = 1 - torch.eye(classes)
    return {
        "CCE": None,
        "AR": ARLoss(),
        "WAR": WARLoss(cost),
        JOINT: WARLoss(cost),
        "WAR, direction clean": WARLoss(cost, direction="clean"),
        RELATIVE: WARLoss(cost, relative_epsilon=0.01),
        "WAR, epsilon 0": WARLoss(cost, epsilon=0),
        "WAR, dropout shared": WARLoss(cost, dropout="shared"),
        "WAR, dropout off": WARLoss(cost, dropout="off"),
        "WAR, 3 power iterations": WARLoss(cost, power_iterations=3),
        AUTHORS: WARLoss(cost),
    }


def main() -> None:
    options = arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1 if options.plan else options.threads)
    if options.tf32:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    if options.only:
        print(json.dumps(memory_of(options, options.only, device)))
        return
    print(heading(options, device))
    for classes in options.classes:
        if options.memory:
            report_memory(options, classes)
        else:
            report(measure(steps(options, classes, device), options.repeats, device), classes, options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", action="store_true", help="CCE, AR and WAR on the network of the scale laptop")
    parser.add_argument("--memory", action="store_true", help="peak memory in place of time")
    parser.add_argument("--classes", type=int, nargs="+", default=[10])
    parser.add_argument("--batch", type=int, default=256 if torch.cuda.is_available() else 32)
    parser.add_argument("--width", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tf32", action="store_true", help="allow TF32 (GPU): faster, and not the same numbers")
    parser.add_argument("--channels-last", action="store_true", help="memory format of a GPU's images; CPUs have it")
    parser.add_argument("--compile", action="store_true", help="torch.compile the network")
    parser.add_argument("--net", choices=("cnn9", "resnet18"), default="cnn9")
    parser.add_argument("--autocast", action="store_true", help="compute in bfloat16 under torch.autocast")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plan:
        options.width, options.batch = 0.25, 64
    return options


def heading(options: argparse.Namespace, device: torch.device) -> str:
    name = torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {torch.get_num_threads()} thread(s)"
    settings = f"TF32 {'on' if tf32_allowed() else 'off'}, " if device.type == "cuda" else ""
    settings += "channels last, " if layout(options, device) == torch.channels_last else ""
    settings += "compiled, " if options.compile else ""
    settings += "autocast to bfloat16, " if options.autocast else ""
    net = f"cnn9 at width {options.width:g}" if options.net == "cnn9" else options.net
    return f"torch {torch.__version__}, {name}, {settings}{net}, batch {options.batch}"


def layout(options: argparse.Namespace, device: torch.device) -> torch.memory_format:
    return torch.channels_last if options.channels_last else memory_format(device)


def steps(options: argparse.Namespace, classes: int, device: torch.device) -> dict[str, Step]:
    chosen = ("CCE", "AR", "WAR") if options.plan else tuple(regularisers(classes))
    return {name: make_step(options, name, classes, device) for name in chosen}


def make_step(options: argparse.Namespace, name: str, classes: int, device: torch.device) -> Step:
    """One whole training step, as the engine takes it."""
    torch.manual_seed(0)
    channels, size = (1, 14) if options.plan else (3, 32)
    x = torch.randn(options.batch, channels, size, size, device=device)
    x = x.contiguous(memory_format=layout(options, device))
    y = torch.randint(classes, (options.batch,), device=device)
    if options.net == "cnn9":
        model = place(build("cnn9", channels, classes, width=options.width), device)
    else:
        model = place(torchvision.models.resnet18(num_classes=classes), device)
    model = model.to(memory_format=layout(options, device))  # type: ignore[call-overload]
    model = torch.compile(model) if options.compile else model  # type: ignore[assignment]
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    regulariser = regularisers(classes)[name]
    if regulariser is not None:
        regulariser = regulariser.to(device)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        backward(name, model, x, y, regulariser, options.autocast)
        optimiser.step()

    return step


def backward(
    name: str, model: nn.Module, x: Tensor, y: Tensor, regulariser: AdversarialLoss | None, autocast: bool
) -> None:
    """Add the gradients of all terms, those of the cross entropy first where that is possible, as in the engine."""
    with torch.autocast(x.device.type, torch.bfloat16, enabled=autocast):
        if name == AUTHORS:
            assert isinstance(regulariser, WARLoss)
            loss = authors_loss(model, x, y, regulariser.get_buffer("cost"))
        elif regulariser is None:
            loss = cross_entropy(model(x), y)
        elif name == JOINT or regulariser.direction == "clean":
            x = x.detach().requires_grad_(regulariser.direction == "clean")
            logits = model(x)
            loss = cross_entropy(logits, y) + BETA * regulariser(model, x, logits)
        else:
            logits = model(x)
            cross_entropy(logits, y).backward()
            loss = BETA * regulariser(model, x, logits.detach())
    loss.backward()


def authors_loss(model: nn.Module, x: Tensor, y: Tensor, cost: Tensor) -> Tensor:
    """Return WAR by four forward passes, with gradients of all weights for the direction, which are not used."""

    def transport(perturbed: Tensor) -> Tensor:
        return sinkhorn(model(perturbed).softmax(1), reference, cost, 0.05, 20, log_domain=False).mean()

    entropy = cross_entropy(model(x), y)
    reference = model(x).softmax(1).detach()
    probe = scale(torch.randn_like(x), PROBE).requires_grad_()
    with true_float32():
        transport(x + probe).backward()
        model.zero_grad(set_to_none=True)
        assert probe.grad is not None
        return entropy + BETA * transport(x + scale(probe.grad, 0.005))


def scale(x: Tensor, length: float) -> Tensor:
    return length * x / (x.flatten(1).norm(dim=1).view(-1, 1, 1, 1) + TINY)


Times = dict[str, list[tuple[float, float]]]  # variant → seconds by the clock and of the processor, per step


def measure(steps: dict[str, Step], repeats: int, device: torch.device) -> Times:
    times: Times = {name: [] for name in steps}
    for number in range(repeats + 1):
        for name, step in steps.items():
            clock, processor = time.perf_counter(), time.process_time()
            step()
            if device.type == "cuda":
                torch.cuda.synchronize()
            if number > 0:  # the first round warms up
                times[name].append((time.perf_counter() - clock, time.process_time() - processor))
    return times


def report(times: Times, classes: int, options: argparse.Namespace) -> None:
    print(f"\n{classes} classes, median of {options.repeats}   clock s  x CCE   processor s  x CCE   s/image")
    for name, values in times.items():
        cells = []
        for kind in (0, 1):
            ratio = statistics.median(v[kind] / c[kind] for v, c in zip(values, times["CCE"], strict=True))
            cells += [statistics.median(v[kind] for v in values), ratio]
        clock, by_clock, processor, by_processor = cells
        image = processor / options.batch
        print(f"{name:25}{clock:12.3f}{by_clock:7.2f}{processor:14.3f}{by_processor:7.2f}{image:10.5f}", flush=True)


def memory_of(options: argparse.Namespace, name: str, device: torch.device) -> float:
    """Peak megabytes of two steps beyond the network and its optimiser."""
    step = make_step(options, name, options.classes[0], device)
    forget_peak(device)
    before = peak(device)
    step()
    step()
    return peak(device) - before


def report_memory(options: argparse.Namespace, classes: int) -> None:
    print(f"\n{classes} classes              MB  x CCE")
    size = [
        "--batch",
        str(options.batch),
        "--width",
        str(options.width),
        "--net",
        options.net,
        "--classes",
        str(classes),
    ]
    found: dict[str, float] = {}
    for name in regularisers(classes):
        command = [sys.executable, __file__, "--only", name, *size]
        found[name] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(f"{name:25}{found[name]:7.0f}{found[name] / found['CCE']:7.2f}", flush=True)


if __name__ == "__main__":
    main()
