"""Effect of the direction "clean" of WAR: its angle to the direction of the probe, and accuracies at equal seeds.

    python benchmarks/direction.py                   three seeds, a few minutes
    python benchmarks/direction.py --seeds 1 --epochs 4 --train 200

A small copy of the scale `sixteenth`: the embedded Fashion-MNIST at 14 x 14, 40 % asymmetric noise, a quarter of the
width, batches of 16, Adam at 1e-3 with two drops, a quarter of the epochs as warm-up. Angles are measured on one batch
before each epoch after the warm-up: between two probes with different masks and random starts, and between a probe and
"clean".
"""

import argparse
import statistics
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from warlab import data
from warlab.data.fetch import fetch
from warlab.engine.device import place
from warlab.engine.images import Images
from warlab.methods.base import evaluating
from warlab.nets import build
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest
from warlab.ot.ground import word_cost
from warlab.war import WARLoss, probabilities
from warlab.war.perturbation import perturbation, unit

BATCH, BETA = 16, 10
CPU = torch.device("cpu")


class Task:
    """Training and test images of the scale, and noisy labels by seed."""

    def __init__(self, train: int, test: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            dataset, root = data.get("fashion_mnist"), Path(folder)
            fetch(dataset, root / "raw", "embedded")
            spec = {"source": "embedded", "train": train, "test": test, "pool": 2}
            self.data = dataset.prepare(root / "raw", spec)
        self.names = self.data.about.class_names
        self.train, self.test = (
            Images(self.data.arrays[f"{part}_x"], self.data.about.mean, self.data.about.std, CPU)
            for part in ("train", "test")
        )
        self.cost = word_cost(self.names)

    def labels(self, seed: int) -> Tensor:
        request = NoiseRequest("fashion_mnist", "asym-40", seed, self.names, "real")
        return torch.from_numpy(make_noise(request, self.data.arrays, {}).labels).long()


def train(task: Task, direction: str, seed: int, epochs: int) -> tuple[float, list[tuple[float, float]]]:
    """Mean test accuracy of the last quarter of the epochs, and the cosines of each epoch."""
    torch.manual_seed(seed)
    model = place(build("cnn9", 1, 10, width=0.25, dropout=0.125, head_dropout=0.0), CPU)
    labels, loss = task.labels(seed), WARLoss(task.cost, direction=direction)  # type: ignore[arg-type]
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    accuracies, angles = [], []
    for epoch in range(epochs):
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * 0.1 ** (3 * epoch // epochs)
        torch.manual_seed(1000 * seed + epoch)
        order = torch.randperm(len(task.train)).split(BATCH)
        warm = epoch < epochs // 4
        if not warm:
            angles.append(cosines(model, loss, task.train[order[0]]))
        for index in order:
            x = task.train[index].requires_grad_(direction == "clean" and not warm)
            logits = model(x)
            total = cross_entropy(logits, labels[index])
            if not warm:
                total = total + BETA * loss(model, x, logits)
            optimiser.zero_grad(set_to_none=True)
            total.backward()
            optimiser.step()
        accuracies.append(accuracy(model, task))
    return statistics.mean(accuracies[-max(1, epochs // 4) :]), angles


def cosines(model: nn.Module, loss: WARLoss, x: Tensor) -> tuple[float, float]:
    """Medians over a batch: probe with another probe, "clean" with a probe. Model and random state stay unchanged."""
    saved = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.random.fork_rng():
        probes = [probe(model, loss, x) for _ in range(2)]
        given = x.clone().requires_grad_()
        p = probabilities(model(given))
        (gradient,) = torch.autograd.grad(loss.divergence(p, p.detach()).sum(), given)
    model.load_state_dict(saved)  # running statistics of batch norm
    return cosine(probes[0], probes[1]), cosine(unit(gradient), probes[0])


def probe(model: nn.Module, loss: WARLoss, x: Tensor) -> Tensor:
    reference = probabilities(model(x)).detach()
    return perturbation(lambda given: probabilities(model(given)), loss.divergence, x, reference, 1.0)


def cosine(a: Tensor, b: Tensor) -> float:
    return float(torch.cosine_similarity(a.flatten(1), b.flatten(1)).median())


def accuracy(model: nn.Module, task: Task) -> float:
    truth = torch.from_numpy(task.data.arrays["test_y"])
    with evaluating(model):
        found = torch.cat([model(task.test[start : start + 500]).argmax(1) for start in range(0, len(truth), 500)])
    return 100 * float((found == truth).double().mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--test", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    task = Task(options.train, options.test)
    size = f"{options.train} images, {options.epochs} epochs"
    print(f"{size}, 40 % asymmetric; cosines: probe/probe, clean/probe", flush=True)
    for seed in range(options.seeds):
        for direction in ("sum", "clean"):
            reached, angles = train(task, direction, seed, options.epochs)
            first, last = angles[0], angles[-1]
            angles_shown = f"first {first[0]:.2f} {first[1]:.2f}, last {last[0]:.2f} {last[1]:.2f}"
            print(f"seed {seed}  direction {direction:6} accuracy {reached:6.2f} %   {angles_shown}", flush=True)


if __name__ == "__main__":
    main()
