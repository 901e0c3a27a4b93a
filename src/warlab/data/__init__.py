"""Datasets and other resources by name: a file of `sets/` has a DATASET, a file of `auxiliary/` a RESOURCE."""

from pathlib import Path

from warlab.common.files import read_json
from warlab.data.base import Dataset, Resource
from warlab.registry import Registry

DATASETS = Registry("warlab.data.sets", "dataset")
RESOURCES = Registry("warlab.data.auxiliary", "resource")
RECEIPT = "receipt.json"
names = DATASETS.names


def get(name: str) -> Dataset:
    dataset: Dataset = DATASETS.load(name).DATASET
    return dataset


def resource(name: str) -> Resource:
    """Return a dataset, human labels for the images of one, or the weights of a pre-trained network."""
    if name in RESOURCES:
        auxiliary: Resource = RESOURCES.load(name).RESOURCE
        return auxiliary
    return get(name)


def module(name: str) -> str:
    return (RESOURCES if name in RESOURCES else DATASETS).module(name)


def weights_file(path: Path) -> Path:
    """Return the file of weights that a receipt stands for, in the form that was fetched; return other paths."""
    if path.name != RECEIPT:
        return path
    receipt, root = read_json(path), path.parent
    network = resource(receipt["dataset"])
    network.check(root, receipt["source"])
    real = receipt["source"] == "real"
    forms = [network.complete_form(root) or network.sources] if real else [*network.forms, network.sources]
    files = [root / form[0].file for form in forms]
    return next(filter(Path.is_file, files), files[-1])
