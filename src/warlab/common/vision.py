"""Import torchvision: `from warlab.common.vision import torchvision`, and timm, which imports it.

torchvision's wheel for CUDA fails with a CPU build of torch ("operator torchvision::nms does not exist"), because
its compiled operators do not load, but its Python code needs them. Declaring the two missing ones first is enough for
models and transforms. Where torchvision can be imported, nothing is declared.
"""

import sys
from importlib import import_module
from types import ModuleType

import torch

MISSING = ("nms", "qnms")
SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_libraries: list[torch.library.Library] = []  # an operator exists as long as the library that declared it


def load() -> ModuleType:
    try:
        return import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]  # left over from the failed import
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in MISSING:
        library.define(f"{name}{SIGNATURE}")
    _libraries.append(library)
    return import_module("torchvision")


torchvision = load()


def load_timm() -> ModuleType:
    return import_module("timm")
