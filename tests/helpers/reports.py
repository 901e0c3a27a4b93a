"""Material for the tests of reporting: runs, tables, manifests, costs and figures' inputs, made by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tests.helpers import tiles as drawn
from tests.helpers.artefacts import described
from warlab.artefacts.ground_cost import Check, GroundCost, Provenance, Verification
from warlab.artefacts.labelled_data import DataDescription, NoiseManifest, NoisyLabels, PreparedData
from warlab.ids import RunId
from warlab.noise import make_noise
from warlab.reporting.figures.base import Inputs, make
from warlab.reporting.read import results
from warlab.reporting.read.artefacts import PredictedMap
from warlab.reporting.tables import results_table

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "config" / "published.csv"
LABELS = {
    "method": {"cce": "CCE", "ar": "AR", "war_01": "WAR_0-1", "war_w2v": "WAR_w2v", "odd": "50 % & <b>_#"},
    "dataset": {"fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"},
    "noise": {"clean": "clean", "asym-20": "asymmetric 20 %", "asym-40": "asymmetric 40 %"},
}
NAMES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Ankle boot"]


def make_run(root: Path, accuracies: list[float], method: str = "cce", seed: int = 0, data: str = "real") -> Path:
    folder = root / "fashion_mnist" / "asym-40" / "cnn9" / method / f"seed{seed}"
    folder.mkdir(parents=True)
    epochs = range(1, len(accuracies) + 1)
    pd.DataFrame({"epoch": epochs, "test_accuracy": accuracies}).to_csv(folder / "metrics.csv", index=False)
    (folder / "result.json").write_text(json.dumps({"data": data}))
    return folder


def runs_table(values: dict[tuple[str, int], list[float]], data: str = "real") -> pd.DataFrame:
    rows = [
        {
            "dataset": "fashion_mnist",
            "noise": "asym-40",
            "net": "cnn9",
            "method": method,
            "seed": seed,
            "data": data,
        }
        | {"epoch": epoch, "test_accuracy": value}
        for (method, seed), series in values.items()
        for epoch, value in enumerate(series, 1)
    ]
    return pd.DataFrame(rows)


def cell(dataset: str, noise: str, method: str) -> dict[str, str]:
    return {"dataset": dataset, "noise": noise, "net": "cnn9", "method": method}


def tidy_table(means: dict[tuple[str, str, str], float | None], data: str = "real") -> pd.DataFrame:
    """A tidy table with these means (None: declared and not run), 0.1 as std, without published values."""
    numbers = {"metric": "test_accuracy", "std_epochs": 0.1, "std_runs": np.nan, "seeds": 1, "data": data}
    rows = [cell(*key) | numbers | {"mean": mean} for key, mean in means.items() if mean is not None]
    summary = pd.DataFrame(rows, columns=list(results.SUMMARY))
    return results_table.tidy(summary, [cell(*key) for key in means], results.read_published(PUBLISHED).head(0))


def noisy_labels(data: str = "real", **changes: Any) -> NoisyLabels:
    """Five labels of Fashion-MNIST changed; `changes` are of the manifest."""
    noisy = np.repeat(np.arange(5), 8)
    noisy[:3] = 3
    noisy[32:34] = 2
    transition = (0.6 * np.eye(5) + 0.4 * np.roll(np.eye(5), 1, 1)).tolist()
    manifest = NoiseManifest(
        dataset="fashion_mnist",
        noise="asym-40",
        kind="asym",
        rate=0.4,
        seed=0,
        rng_seed=0,
        realised_rate=5 / 40,
        transition=transition,
        realised_transition=transition,
        class_names=NAMES,
        labels_sha256="ab" * 32,
        clean_sha256="",
        data=data,
    )
    return NoisyLabels(replace(manifest, **changes), noisy)


def ground_cost(key: str = "w2v") -> GroundCost:
    matrix = np.exp(-np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4)
    np.fill_diagonal(matrix, 0)
    about = Provenance(cost=key, settings={}, source="", class_names=NAMES, dataset="fashion_mnist", key=key)
    return GroundCost(matrix, about)


def verification() -> Verification:
    required = Check("symmetry", 0.0, 1e-12, "both ways alike")
    informs = Check("as printed", 16.0, 0.0, "violations", required=False)
    return Verification(0.05, 20, 100, "0.9", [required, informs])


def description(data: str = "real") -> DataDescription:
    source = "embedded subset of Fashion-MNIST" if data == "real" else "procedural stand-in for Fashion-MNIST"
    about = {"dataset": "fashion_mnist", "data": data, "source": source, "licence": "MIT"}
    return described(NAMES, **about, n_train=40, n_test=10, shape=[1, 8, 8])


def figure_inputs(data: str = "real") -> Inputs:
    series = {(m, s): [50 + s + e for e in range(6)] for m in ("cce", "war_w2v") for s in range(2)}
    images = np.zeros((40, 1, 8, 8), np.uint8)
    arrays = {"train_x": images, "train_y": np.repeat(np.arange(5), 8)}
    tiles, of_tiles = vars(drawn.arrays()), DataDescription(**drawn.description(data))
    runs = runs_table(series, data).assign(seconds=2.0)
    runs = runs.assign(purity=np.where(runs["method"] == "cce", np.nan, 70.0), memorised=4.0 * runs["epoch"])
    return Inputs(
        runs=pd.concat([runs, _beta_runs(data)], ignore_index=True),
        published=results.read_published(PUBLISHED),
        activations=_activations(data),
        noise=[noisy_labels(data), object_noise(data)],
        costs=[ground_cost()],
        data={"fashion_mnist": PreparedData(description(data), arrays)},
        tiles={"vaihingen": PreparedData(of_tiles, tiles)},
        maps=[run_map(noise, tiles["test_y"]) for noise in ("objects-33", "clean")],
        sources={about.dataset: about.source for about in (description(data), of_tiles)},
        labels=LABELS,
    )


def object_noise(data: str) -> NoisyLabels:
    noise = make_noise(drawn.wanted(), vars(drawn.arrays()), {})
    return replace(noise, manifest=replace(noise.manifest, data=data))


def run_map(noise: str, truth: np.ndarray) -> PredictedMap:
    """A map with an error in every seventh pixel."""
    predicted = np.where(np.arange(len(truth)) % 7, truth, 0).astype(np.uint8)
    return PredictedMap(RunId("vaihingen", noise, "unet", "cce", 0), predicted)


def _beta_runs(data: str) -> pd.DataFrame:
    runs = runs_table({("war_w2v+beta=1", 0): [60.0, 61.0], ("war_w2v+beta=10", 0): [70.0, 71.0]}, data)
    return runs.assign(dataset="cifar10", seconds=1.0)


def _activations(data: str) -> dict[str, np.ndarray]:
    labels = np.repeat(np.arange(5), 8)
    features = np.random.default_rng(0).normal(0, 1, (40, 4)) + 5 * np.eye(5)[labels, :4]
    run = np.array("fashion_mnist/asym-40/cnn9/cce/seed0")
    return {"features": features, "labels": labels, "class_names": np.array(NAMES), "run": run, "data": np.array(data)}


def draw(name: str, inputs: Inputs) -> Figure:
    return make(name, inputs)[0]


def caption(name: str, inputs: Inputs) -> str:
    return make(name, inputs)[1]


def texts(figure: Any) -> str:
    from matplotlib.text import Text

    return "\n".join(artist.get_text() for artist in figure.findobj(Text))


def no_published() -> pd.DataFrame:
    return results.read_published(PUBLISHED).head(0)


def published_table() -> pd.DataFrame:
    summary = results.summarise(runs_table({("war_w2v", 0): [80.0, 81.0], ("cce", 0): [75.0, 75.5]}))
    cells = [cell("fashion_mnist", "asym-40", m) for m in ("cce", "war_w2v", "war_embed", "tv")]
    return results_table.tidy(summary, cells, results.read_published(PUBLISHED, "ar_war_variants"))


def runs_of_the_paper() -> pd.DataFrame:
    """The published accuracies as if they were runs: three seeds of one epoch each, every other metric as a column."""
    published = results.read_published(PUBLISHED)
    measured = published[~published["metric"].isin(["average_rank", "overhead_percent", "seconds_per_epoch"])]
    wide = measured.pivot_table(index=list(results.CELL), columns="metric", values="mean", aggfunc="first", sort=False)
    once = wide.reset_index().assign(data="real", epoch=1)
    return pd.concat([once.assign(seed=seed) for seed in range(3)], ignore_index=True).astype({"epoch": "Int64"})
