"""The share of testing in an epoch, at the size of the scale `sixteenth`.

    python benchmarks/evaluation.py

An epoch of CCE has 3 750 images of 14 x 14 in batches of 16, an evaluation 4 000 test images. Their processor time is
measured for several batch sizes of the evaluation, and with batch norm folded into the convolutions, which changes the
last bits. The last line says how fast one core would have to be for a share of 5 %.
"""

import argparse
import copy
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.utils.flop_counter import FlopCounterMode

from warlab.engine.device import place
from warlab.engine.images import Evaluator, Images, TrainingData, WrongLabels
from warlab.methods import make
from warlab.methods.base import Task, evaluating
from warlab.nets import build

CPU = torch.device("cpu")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=int, default=3750)
    parser.add_argument("--test", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    images = Images(rng.integers(0, 256, (options.test, 1, 14, 14), dtype=np.uint8), [0.5], [0.5], CPU)
    labels = torch.randint(10, (options.test,))
    wrong = WrongLabels(TrainingData(images, labels, 16, 0))
    model = place(build("cnn9", 1, 10, width=0.25, dropout=0.125, head_dropout=0.0), CPU)
    method = make("cce", {}, Task(labels, 10, 0.0, 0.0, CPU))
    steps = options.train // 16
    epoch = steps * statistics.median(processor(step(model)) for _ in range(max(30, 10 * options.repeats)))
    print(f"epoch of {options.train} images: {epoch:.2f} s of the processor")
    accuracies, seconds_at_500 = set(), 0.0
    for size in (100, 250, 500, 1000, 2000, 4000):
        evaluate = Evaluator(images, labels, wrong, size)
        taken = [processor(lambda: accuracies.add(evaluate(method, [model])["test_accuracy"])) for _ in range(3)]  # noqa: B023
        seconds = statistics.median(taken)
        seconds_at_500 = seconds if size == 500 else seconds_at_500
        print(f"evaluation in batches of {size:5}: {seconds:.3f} s, {seconds / (epoch + seconds):6.1%} of the epoch")
    print(f"different accuracies among them: {len(accuracies)}")
    with_folded = processor(lambda: Evaluator(images, labels, wrong)(method, [folded(model)]))
    share = with_folded / (epoch + with_folded)
    print(f"batch norm folded, batches of 500: {with_folded:.3f} s, {share:6.1%} of the epoch")
    work = options.test * flops(model) / 1e9
    measured = f"{work / seconds_at_500:.0f} GFLOP/s measured (500)"
    print(f"{work:.1f} GFLOP of {options.test} forward passes: {measured}, ", end="")
    print(f"{work / (epoch * 0.05 / 0.95):.0f} GFLOP/s needed for 5 %")


def step(model: nn.Module) -> Callable[[], None]:
    x, y = torch.randn(16, 1, 14, 14), torch.randint(10, (16,))
    optimiser = torch.optim.Adam(model.parameters(), 1e-9)

    def take() -> None:
        optimiser.zero_grad(set_to_none=True)
        cross_entropy(model(x), y).backward()
        optimiser.step()

    return take


def folded(model: nn.Module) -> nn.Module:
    """A copy in which every batch norm is part of the convolution before it."""
    copied = copy.deepcopy(model).eval()
    body = list(copied.body)  # type: ignore[arg-type]
    for number in range(1, len(body)):
        if isinstance(body[number], nn.BatchNorm2d):
            body[number - 1], body[number] = fuse_conv_bn_eval(body[number - 1], body[number]), nn.Identity()
    copied.body = nn.Sequential(*body)
    return copied


def flops(model: nn.Module) -> int:
    with FlopCounterMode(display=False) as counter, evaluating(model):
        model(torch.zeros(1, 1, 14, 14))
    return counter.get_total_flops()


def processor(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
