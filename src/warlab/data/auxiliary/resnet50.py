"""The ImageNet weights of ResNet-50 (torchvision's IMAGENET1K_V1), from which training on Clothing1M begins."""

from warlab.data.auxiliary._weights import torchvision_weights

RESOURCE = torchvision_weights(
    "resnet50",
    "ResNet-50",
    "resnet50-0676ba61.pth",
    102_530_333,
    "0676ba61b6795bbe1773cffd859882e5e297624d384b6993f7c9e683e722fb8a",
    otherwise="name a file that you have by overrides: {nets: {resnet50: {weights: path}}}, or begin with random "
    "weights by {nets: {resnet50: {weights: none}}}",
)
