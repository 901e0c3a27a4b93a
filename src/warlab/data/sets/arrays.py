"""The user's own images in an npz file with train_x, train_y and optionally test_x and test_y."""

from pathlib import Path

import numpy as np

from warlab.data import in_place, user_data
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError


def read(root: Path, size: int | None) -> user_data.UserData:
    """Images are uint8 (N, height, width) or (N, height, width, channels) or (N, channels, height, width)."""
    if size is not None:
        raise WarlabError("Images of arrays keep their size; leave out `size`, or take `pool`.")
    return user_data.read_npz(in_place.place(root), _channels_first)


def _channels_first(images: np.ndarray) -> np.ndarray:
    """The channels are the shorter one of the first and the last axis of an image."""
    if images.ndim == 2:
        raise WarlabError(
            f"Images have the shape (N, height, width), with channels one number more, not {images.shape}; rows of "
            "numbers are for the dataset vectors."
        )
    if images.ndim == 3:
        return images[:, None]
    if images.ndim != 4 or images.shape[1] < images.shape[3]:
        return images
    if images.shape[1] == images.shape[3]:
        raise WarlabError(
            f"Images of shape {images.shape[1:]} do not show which axis has the channels; give fewer channels than "
            "pixels in a row."
        )
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))


def stand_in(root: Path, seed: int, n: int = 240) -> None:
    """Draw images of three classes and name them."""
    rng = np.random.default_rng(seed)
    labels = shuffled_labels(n, 3, rng)
    user_data.write_stand_in(root, draw(labels, "aab", "arrays", rng, 32), labels)


DATASET = user_data.UserSamples(name="arrays", title="Own arrays", read=read, stand_in=stand_in)
