"""Measure R, the regulariser of WAR, AR and TV, on trained networks: what of it is the perturbation, what the dropout?

    python docs/evidence/mechanism/curve.py results/networks_demo results/networks_sixteenth results/networks_full

For every run in these folders, R is the mean over the first 1000 training images in the order of the first epoch, with
the network in training mode; batch norm takes the statistics of batches of 125 images. Each number comes with its
standard error over the batches. Without dropout and with epsilon 0, R is OT(p, p): what the entropy of WAR's transport
leaves. Writes curve.csv and curve.png.
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from warlab import ARLoss, TVLoss, WARLoss, word_cost
from warlab.artefacts.run_result import RunResult
from warlab.engine.build import RunFiles, build_parts
from warlab.ot.costs import PUBLISHED, make_cost
from warlab.ot.costs.base import CostInputs
from warlab.war.adversarial import AdversarialLoss

HERE = Path(__file__).parent
EPSILONS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 8.0)
IMAGES, BATCH = 1000, 125


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", type=Path, nargs="+")
    parser.add_argument("--add", action="store_true", help="keep the rows that curve.csv has of other studies")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = [row for study in arguments.studies for row in measure_study(study)]
    table = pd.DataFrame(rows)
    if arguments.add:
        known = pd.read_csv(HERE / "curve.csv")
        table = pd.concat([known[~known["network"].isin(table["network"])], table])
    table.to_csv(HERE / "curve.csv", index=False, float_format="%.6g")
    draw(table)


def measure_study(study: Path) -> Iterator[dict[str, Any]]:
    results = sorted(study.glob("runs/*/*/*/*/seed*/result.json"))
    if not results:
        raise SystemExit(f"There is no finished run in {study}; see docs/evidence/mechanism/plan.md for the command.")
    for path in results:
        yield from measure_run(study.name, path)


def measure_run(study: str, path: Path) -> Iterator[dict[str, Any]]:
    """Yield one row for each loss, kind of dropout, direction and epsilon."""
    result = RunResult.load(path)
    run = result.run
    inputs = RunFiles.select({role: str(path.parent / file) for role, file in result.files.items()}).read()
    samples, _, networks = build_parts(run, inputs)
    model = networks(0)[0]
    model.load_state_dict(torch.load(path.with_name("weights.pt"))[0])
    order = torch.cat(samples.data.epoch(0))[:IMAGES]
    batches = [samples.data.batch(index).x for index in order.split(BATCH)]
    norm = float(torch.cat([batch.flatten(1).norm(dim=1) for batch in batches]).median())
    cost = class_cost(run.dataset, inputs.data.about)
    for dropout in ("off", "shared", "independent"):
        for direction in ("sum", "random"):
            for epsilon in EPSILONS:
                options = {"epsilon": epsilon, "dropout": dropout, "direction": direction, "batchnorm_update": False}
                for loss in (WARLoss(cost, **options), ARLoss(**options), TVLoss(**options)):
                    mean, error = measure(loss, model, batches)
                    yield {
                        "network": study.removeprefix("networks_"),
                        "dataset": run.dataset,
                        "loss": type(loss).__name__.removesuffix("Loss"),
                        "dropout": dropout,
                        "direction": "adversarial" if direction == "sum" else direction,
                        "epsilon": epsilon,
                        "share_of_norm": epsilon / norm,
                        "R": mean,
                        "standard_error": error,
                    }


def class_cost(dataset: str, about: Any) -> Tensor:
    """Return the cost of WAR w2v: the published one for CIFAR-10."""
    if dataset == "cifar10":
        inputs = CostInputs(about.class_names, about.words, dataset=dataset, data=about.data)
        return torch.from_numpy(make_cost("w2v", inputs, {"vectors": PUBLISHED}).matrix).float()
    return torch.as_tensor(word_cost(about.words)).float()


def measure(loss: AdversarialLoss, model: nn.Module, batches: list[Tensor]) -> tuple[float, float]:
    """Return the mean of R and its standard error over the batches; all losses see the same random numbers."""
    model.train()
    torch.manual_seed(0)
    with torch.no_grad():
        outputs = [model(x) for x in batches]
    values = [float(loss(model, x, logits).detach()) for x, logits in zip(batches, outputs, strict=True)]
    return float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values))


def draw(table: pd.DataFrame) -> None:
    """Draw what R measures: one row of panels for each network, one panel for each loss."""
    networks = list(dict.fromkeys(zip(table["network"], table["dataset"], strict=True)))
    losses = list(dict.fromkeys(table["loss"]))
    figure, axes = plt.subplots(
        len(networks), len(losses), figsize=(3.4 * len(losses), 2.6 * len(networks)), squeeze=False, sharex="row"
    )
    colours = {"off": "#0072B2", "shared": "#E69F00", "independent": "#009E73"}
    for row, (network, dataset) in zip(axes, networks, strict=True):
        for ax, loss in zip(row, losses, strict=True):
            part = table[(table["network"] == network) & (table["dataset"] == dataset) & (table["loss"] == loss)]
            for (dropout, direction), curve in part[part["epsilon"] > 0].groupby(["dropout", "direction"], sort=False):
                style = "-" if direction == "adversarial" else ":"
                ax.plot(100 * curve["share_of_norm"], curve["R"], style, color=colours[dropout], lw=1.4)
            paper = 100 * part.loc[part["epsilon"] == 0.005, "share_of_norm"].iloc[0]
            ax.axvline(paper, color="0.6", lw=0.8)
            ax.set(xscale="log", yscale="log", title=f"{loss}, {dataset.replace('_', ' ')}, {network} size")
            ax.title.set_size(8)
            ax.tick_params(labelsize=7)
        row[0].set_ylabel("R", fontsize=8)
    for ax in axes[-1]:
        ax.set_xlabel("epsilon, % of the median norm of an image", fontsize=8)
    handles = [plt.Line2D([], [], color=colour, label=f"dropout {name}") for name, colour in colours.items()]
    handles += [
        plt.Line2D([], [], color="0.3", ls=style, label=name) for style, name in (("-", "adversarial"), (":", "random"))
    ]
    handles += [plt.Line2D([], [], color="0.6", lw=0.8, label="the paper's epsilon, 0.005")]
    figure.legend(handles=handles, ncols=6, fontsize=7, loc="upper center", frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(HERE / "curve.png", dpi=110)


if __name__ == "__main__":
    main()
