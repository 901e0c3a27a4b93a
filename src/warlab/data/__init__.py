"""Datasets and other resources by name: a file of `sets/` has a DATASET, a file of `resources/` a RESOURCE."""

from warlab.data.base import Dataset, Resource
from warlab.registry import Registry

DATASETS = Registry("warlab.data.sets", "dataset")
RESOURCES = Registry("warlab.data.resources", "resource")
names = DATASETS.names


def get(name: str) -> Dataset:
    """The dataset of that name."""
    dataset: Dataset = DATASETS.load(name).DATASET
    return dataset


def resource(name: str) -> Resource:
    """A dataset, or what else can be fetched: human labels that a noise reads, weights of pre-trained networks."""
    if name in RESOURCES.names():
        found: Resource = RESOURCES.load(name).RESOURCE
        return found
    return get(name)


def module(name: str) -> str:
    """The module of a dataset or resource."""
    return (RESOURCES if name in RESOURCES.names() else DATASETS).module(name)
