"""Noise that reads more than labels, through the workflow: what it needs is fetched, and training sees its images."""

from pathlib import Path

import pytest
import yaml

from tests.helpers.checkout import link_repository, output_of
from warlab.common.files import read_arrays, read_json

SCALE = {
    "description": "noise that reads files",
    "seeds": 1,
    "datasets": {
        "cifar10": {"source": "stand_in", "train": 100, "test": 50, "pool": 2},
        "svhn": {"source": "stand_in", "train": 80, "test": 20, "pool": 2},
    },
    "training": {"cifar10": {"epochs": 1, "batch_size": 25}},
    "nets": {"cnn6": {"width": 0.125}},
    "costs": {"embed": {"features": "efficientnet_lite0", "size": 32}},
    "experiments": {
        "main_benchmark": {
            "datasets": ["cifar10"],
            "noises": ["openset_svhn-40", "human_worse"],
            "nets": ["cnn6"],
            "methods": ["war_embed"],
        }
    },
}
RUN = "results/noise/runs/cifar10/openset_svhn-40/cnn6/war_embed/seed0/result.json"
HUMAN = "results/noise/noise/cifar10/human_worse/seed0.npz"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("noise")
    link_repository(place)
    (place / "noise.yaml").write_text(yaml.safe_dump(SCALE))
    output_of(f"snakemake --cores 2 --config scale=noise.yaml -- {RUN} {HUMAN}", place)
    return place


def test_open_set_noise_brings_its_images_to_the_run_and_to_its_cost(folder: Path) -> None:
    manifest = read_json(folder / "results/noise/noise/cifar10/openset_svhn-40/seed0.json")
    assert manifest["open_set"]["source"] == "svhn" and manifest["open_set"]["images_per_class"] == [4] * 10
    result = read_json(folder / RUN)
    assert result["data"] == "stand-in" and {"images", "noise", "data"} <= set(result["inputs"])
    cost = folder / "results/noise/costs/cifar10/embed@openset_svhn-40@seed0/cost.csv"
    assert cost.stat().st_size > 0


def test_features_are_made_once_of_the_images_of_both_datasets(folder: Path) -> None:
    results = folder / "results" / "noise"
    for name, n in (("cifar10", 100), ("svhn", 80)):
        features = results / "features" / name / "efficientnet_lite0-32.npz"
        assert read_arrays(features)["features"].shape == (n, 1280)
    made = read_json(results / "costs/cifar10/embed@openset_svhn-40@seed0/cost.json")["features"]
    assert made["images"] == [3, 32, 32] and made["weights"]["data"] == "stand-in"  # not pooled as for training


def test_human_labels_are_fetched_for_the_noise_that_reads_them(folder: Path) -> None:
    assert read_json(folder / "data/cifar_n/stand_in/receipt.json")["data"] == "stand-in"
    labels = read_arrays(folder / HUMAN)["labels"]
    clean = read_arrays(folder / "results/noise/data/cifar10.npz")["train_y"]
    assert 0.1 < (labels != clean).mean() < 0.5
