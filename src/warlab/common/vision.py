"""`from warlab.common.vision import torchvision`: the one place that imports it.

torchvision's wheel for CUDA fails with a CPU build of torch ("operator torchvision::nms does not exist"), because
its compiled operators do not load while its Python code registers more on top of them. Declaring the two missing
ones first is enough for models and transforms. Where torchvision imports by itself, nothing is declared.
"""

import sys
from importlib import import_module
from types import ModuleType

import torch

MISSING = ("nms", "qnms")
SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_libraries: list[torch.library.Library] = []  # an operator lives as long as the library that declared it


def load() -> ModuleType:
    try:
        return import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]  # what the failed import left half made
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in MISSING:
        library.define(f"{name}{SIGNATURE}")
    _libraries.append(library)
    return import_module("torchvision")


torchvision = load()
