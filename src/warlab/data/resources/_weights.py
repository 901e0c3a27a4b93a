"""Weights of pre-trained networks: fetched like a dataset, and drawn at random for a stand-in."""

from importlib import import_module
from pathlib import Path

from warlab.common.files import read_json, write_atomic
from warlab.data.check import wrong_sources
from warlab.errors import WarlabError

CLASSES = 1000  # of ImageNet
RECEIPT = "receipt.json"


def draw(network: str, file: str, root: Path, seed: int) -> None:
    """A stand-in: weights of the right names and shapes, drawn by the seed."""
    import torch  # only here: reading the weights is the embedding job's business

    torch.manual_seed(seed)
    state = import_module(f"warlab.nets.{network}").Net(3, CLASSES).state_dict()
    write_atomic(root / file, lambda out: torch.save(state, out))


def initial_file(given: Path) -> Path:
    """The file of weights itself, or the one behind the receipt of a fetched network."""
    if given.name != RECEIPT:
        return given
    receipt = read_json(given)
    resource = import_module(f"warlab.data.resources.{receipt['dataset']}").RESOURCE
    if receipt["source"] == "real" and wrong_sources(resource, given.parent):
        raise WarlabError(f"The files in {given.parent} are not those of {resource.title}; fetch them again.")
    file: str = resource.sources[0].file
    return given.parent / file


def read(network: str, root: Path, real: bool) -> bytes:
    """The bytes of the state dict of a network that was fetched into `root`, the right ones if they are `real`."""
    module = import_module(f"warlab.data.resources.{network}")
    if real and wrong_sources(module.RESOURCE, root):
        raise WarlabError(f"The files in {root} are not those of {module.RESOURCE.title}; fetch them again.")
    content: bytes = module.weights(root)
    return content
