"""ResNet-18, torchvision's network (He et al., 2016): the paper's features for the cost `embed`."""

from torch import Tensor

from warlab.common.vision import torchvision

TRAINED = False  # a ground cost reads its features; no study trains it
MEAN = (0.485, 0.456, 0.406)  # of x / 255, those of torchvision's ImageNet weights
STD = (0.229, 0.224, 0.225)


class Net(torchvision.models.ResNet):  # type: ignore[name-defined,misc]
    """(B, 3, H, W) → logits (B, classes); made for 224 × 224."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__(torchvision.models.resnet.BasicBlock, [2, 2, 2, 2], num_classes=classes)
        if channels != 3:
            raise TypeError(f"it takes colour images, not {channels} channels")

    def features(self, x: Tensor) -> Tensor:
        """Return the globally averaged last feature map, (B, 512)."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return x.mean((2, 3))
