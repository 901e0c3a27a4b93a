"""Features of images by a pre-trained network: the vector before its classifier."""

import io
import pickle
from typing import Any

import numpy as np
import torch
from torch.nn.functional import interpolate

from warlab.common.progress import Progress
from warlab.data.auxiliary._weights import CLASSES
from warlab.engine.device import best_device, place
from warlab.engine.images import Images
from warlab.errors import WarlabError, reason
from warlab.nets import NETS

BATCH = 32


def image_features(images: np.ndarray, network: str, weights: bytes, size: int) -> np.ndarray:
    """Return the features (N, d) of uint8 images (N, 1 or 3, H, W) that are resized to `size`, in evaluation mode."""
    device = best_device()
    if images.shape[1] not in (1, 3):
        raise WarlabError(
            f"Pre-trained networks take grey or colour images, not {images.shape[1]} channels: set "
            "overrides: {costs: {embed: {features: pixels}}}."
        )
    images = np.repeat(images, 3, axis=1) if images.shape[1] == 1 else images
    definition = NETS.load(network)
    net: Any = definition.Net(3, CLASSES)
    try:
        net.load_state_dict(torch.load(io.BytesIO(weights), weights_only=True, map_location="cpu"))
    except (RuntimeError, EOFError, TypeError, AttributeError, pickle.UnpicklingError) as error:
        raise WarlabError(f"The weights of {network} cannot be used ({reason(error)}); fetch them again.") from error
    model: Any = place(net, device).eval()
    source = Images(images, definition.MEAN, definition.STD, device)
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
