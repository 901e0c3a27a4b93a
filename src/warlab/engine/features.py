"""Features of images by a pre-trained network: the vector before its classifier."""

import io
import pickle
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import interpolate

from warlab.common.progress import Progress
from warlab.data.auxiliary._weights import CLASSES
from warlab.engine.device import best_device, place
from warlab.engine.images import Images
from warlab.errors import WarlabError, reason

BATCH = 32


def image_features(images: np.ndarray, network: str, weights: bytes, size: int) -> np.ndarray:
    """The features (N, d) of uint8 images (N, 1 or 3, H, W) that are resized to `size`, in evaluation mode."""
    device = best_device()
    definition = import_module(f"warlab.nets.{network}")
    model: Any = place(_loaded(definition, weights, network), device).eval()
    source = Images(_coloured(images), definition.MEAN, definition.STD, device)
    progress = Progress("features of {} of {} images", len(images))
    vectors = []
    for index in torch.arange(len(images), device=device).split(BATCH):
        x = source[index]
        if x.shape[2:] != (size, size):
            x = interpolate(x, (size, size), mode="bilinear", antialias=True)
        with torch.inference_mode():
            vectors.append(model.features(x).cpu())
        progress(int(index[-1]) + 1)
    return torch.cat(vectors).numpy()


def _loaded(definition: Any, weights: bytes, network: str) -> Any:
    net: nn.Module = definition.Net(3, CLASSES)
    try:
        net.load_state_dict(torch.load(io.BytesIO(weights), weights_only=True, map_location="cpu"))
    except (RuntimeError, EOFError, TypeError, AttributeError, pickle.UnpicklingError) as error:
        raise WarlabError(f"The weights of {network} cannot be used ({reason(error)}); fetch them again.") from error
    return net


def _coloured(images: np.ndarray) -> np.ndarray:
    """Repeat grey images three times, since the networks take colour images."""
    if images.shape[1] not in (1, 3):
        raise WarlabError(
            f"Pre-trained networks take grey or colour images, not {images.shape[1]} channels: take "
            "overrides: {costs: {embed: {features: pixels}}}."
        )
    return np.repeat(images, 3, axis=1) if images.shape[1] == 1 else images
