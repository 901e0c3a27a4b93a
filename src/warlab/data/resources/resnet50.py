"""The ImageNet weights of ResNet-50 (torchvision's IMAGENET1K_V1), from which training on Clothing1M begins."""

from pathlib import Path

from warlab.common.files import write_atomic
from warlab.data.base import Resource, Source

_FILE = Source(
    "resnet50-0676ba61.pth",
    ("https://download.pytorch.org/models/resnet50-0676ba61.pth",),
    bytes=102_530_333,
    sha256="0676ba61b6795bbe1773cffd859882e5e297624d384b6993f7c9e683e722fb8a",
)


def stand_in(root: Path, seed: int) -> None:
    """Weights of torchvision's names and shapes, drawn by the seed."""
    import torch  # only here: reading the weights is the training job's business

    from warlab.common.vision import torchvision

    torch.manual_seed(seed)
    state = torchvision.models.resnet50().state_dict()
    write_atomic(root / _FILE.file, lambda out: torch.save(state, out))


RESOURCE = Resource(
    name="resnet50",
    title="ResNet-50 with ImageNet weights",
    licence="BSD-3-Clause (torchvision)",
    homepage="https://docs.pytorch.org/vision/stable/models/generated/torchvision.models.resnet50.html",
    stand_in=stand_in,
    sources=(_FILE,),
    otherwise="name a file that you have by overrides: {nets: {resnet50: {weights: path}}}, or begin with random "
    "weights by {nets: {resnet50: {weights: none}}}",
)
