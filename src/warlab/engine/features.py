"""Features of images by a pre-trained network: the vector before its classifier."""

import hashlib
import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from warlab.common.progress import Progress
from warlab.data.auxiliary._weights import CLASSES
from warlab.engine.device import best_device, place
from warlab.engine.images import Normalise
from warlab.errors import WarlabError, reason
from warlab.nets import NETS

BATCH = 32
PIXELS = 20  # side of the images whose pixels are features: 1200 numbers, about as many as networks have

Features = Callable[[np.ndarray], np.ndarray]  # uint8 (B, 3, H, W) → float32 (B, d)


def image_features(images: np.ndarray, network: str, weights: bytes, size: int) -> np.ndarray:
    """Return the features (N, d) of uint8 images (N, 1 or 3, H, W) that are resized to `size`, in evaluation mode."""
    if images.shape[1] not in (1, 3):
        raise WarlabError(
            f"Pre-trained networks take grey or colour images, not {images.shape[1]} channels: set "
            "overrides: {costs: {embed: {features: pixels}}}."
        )
    compute = features_of(network, weights, size)
    progress = Progress("features of {} of {} images", len(images))
    vectors = []
    for start in range(0, len(images), BATCH):
        batch = images[start : start + BATCH]
        vectors.append(compute(np.repeat(batch, 3, axis=1) if batch.shape[1] == 1 else batch))
        progress(start + len(batch))
    return np.concatenate(vectors)


def features_of(network: str, weights: bytes, size: int) -> Features:
    """Return what computes the features by a network of warlab."""
    definition = NETS.load(network)
    net: Any = definition.Net(3, CLASSES)
    try:
        net.load_state_dict(torch.load(io.BytesIO(weights), weights_only=True, map_location="cpu"))
    except (RuntimeError, EOFError, TypeError, AttributeError, pickle.UnpicklingError) as error:
        raise WarlabError(f"The weights of {network} cannot be used ({reason(error)}); fetch them again.") from error
    return _evaluated(net, net.features, definition.MEAN, definition.STD, size)


def features_of_library(name: str, size: int) -> tuple[Features, str]:
    """Return what computes the features by a pre-trained network such as torchvision/resnet50 or timm/resnet18, and a
    checksum of the network: another version of a library may have other weights."""
    library, _, network = name.partition("/")
    load = {"torchvision": _torchvision, "timm": _timm}.get(library)
    if load is None or not network:
        raise WarlabError(f"There is no network {name!r}; write torchvision/resnet50, timm/resnet18 or the like.")
    try:
        loaded = load(network)
    except ModuleNotFoundError as error:
        raise WarlabError(f"{name} needs {error.name}, which is not installed: pip install {library}.") from error
    except Exception as error:  # unknown names, networks without weights, no connection: each library has its own
        raise WarlabError(f"{name} cannot be loaded with pre-trained weights ({reason(error)}).") from error
    compute = _evaluated(loaded.net, loaded.forward, loaded.mean, loaded.std, size)
    try:
        compute(np.zeros((1, 3, size, size), np.uint8))
    except Exception as error:  # transformers take images of one size only
        raise WarlabError(
            f"{name} does not take images of {size} pixels ({reason(error)}); give --size {loaded.size}, or choose "
            "another network."
        ) from error
    return compute, _checksum(loaded)


@dataclass(frozen=True)
class Loaded:
    """A network of a library, the function from images to features, and the images that it was trained with."""

    net: nn.Module
    forward: Callable[[Tensor], Tensor]
    mean: Sequence[float]
    std: Sequence[float]
    size: int


def _checksum(loaded: Loaded) -> str:
    checksum = hashlib.sha256(repr((loaded.mean, loaded.std)).encode())
    for name, tensor in loaded.net.state_dict().items():
        checksum.update(name.encode() + tensor.cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return checksum.hexdigest()


def _torchvision(network: str) -> Loaded:
    from warlab.common.vision import torchvision

    weights = torchvision.models.get_model_weights(network).DEFAULT
    net = torchvision.models.get_model(network, weights=weights)
    shown = weights.transforms()
    linear = [module for module in net.modules() if isinstance(module, nn.Linear)]
    if not linear:
        raise WarlabError("it has no linear layer, whose inputs would be the features")
    seen: list[Tensor] = []
    linear[-1].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))

    def forward(x: Tensor) -> Tensor:
        net(x)
        return seen.pop()

    return Loaded(net, forward, shown.mean, shown.std, shown.crop_size[0])


def _timm(network: str) -> Loaded:
    from warlab.common.vision import load_timm

    timm = load_timm()
    net: nn.Module = timm.create_model(network, pretrained=True, num_classes=0)
    shown = timm.data.resolve_model_data_config(net)
    return Loaded(net, net, shown["mean"], shown["std"], shown["input_size"][-1])


def _evaluated(
    net: nn.Module, forward: Callable[[Tensor], Tensor], mean: Sequence[float], std: Sequence[float], size: int
) -> Features:
    device = best_device()
    place(net, device).eval()
    normalise = Normalise(mean, std, device)

    def compute(images: np.ndarray) -> np.ndarray:
        x = normalise(torch.from_numpy(images).to(device))
        if x.shape[2:] != (size, size):
            x = interpolate(x, (size, size), mode="bilinear", antialias=True)
        with torch.inference_mode():
            return forward(x).flatten(1).float().cpu().numpy()

    return compute


def pixels(images: np.ndarray) -> np.ndarray:
    """Return the pixels of small versions of the images, for want of a network."""
    x = interpolate(torch.from_numpy(images).float() / 255, (PIXELS, PIXELS), mode="bilinear", antialias=True)
    return x.flatten(1).numpy()
