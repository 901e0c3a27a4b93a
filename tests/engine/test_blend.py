"""Maps of whole tiles from overlapping patches: no seams, single patches, and memory that no tile size changes."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from warlab.engine.tiles import BAND, Window, blend
from warlab.errors import WarlabError


def whole(image: Tensor, model: Any, window: Window) -> Tensor:
    """The map (C, H, W) that a model (B, C, p, p) → (B, K, p, p) gives by blended patches."""
    side = window.patch

    def predict(top: int, lefts: list[int]) -> Tensor:
        return model(torch.stack([image[:, top : top + side, left : left + side] for left in lefts]))[None]

    result = torch.full((model(image[None, :, :side, :side]).shape[1], *image.shape[1:]), torch.nan)
    for rows, columns, piece in blend(predict, *image.shape[1:], window):
        assert result[:, rows, columns].isnan().all()  # every pixel is handed out once
        result[:, rows, columns] = piece[0]
    return result


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 40), st.integers(8, 90), st.integers(0, 7), st.floats(0.3, 3.0))
def test_a_linear_model_of_single_pixels_is_not_changed(height: int, width: int, overlap: int, sigma: float) -> None:
    torch.manual_seed(height * width)
    image, weight = torch.randn(3, height, width), torch.randn(4, 3, 1, 1)
    model = lambda x: torch.nn.functional.conv2d(x, weight)  # noqa: E731
    found = whole(image, model, Window(8, overlap, sigma))
    torch.testing.assert_close(found, model(image[None])[0], rtol=1e-4, atol=1e-5)


def test_where_one_patch_is_alone_its_prediction_stands() -> None:
    """A model that uses the whole patch: its prediction depends on the place of the patch."""
    image = torch.randn(1, 32, 56)
    model = lambda x: torch.cat([x - x.mean((1, 2, 3), keepdim=True), x.flip(3)], 1)  # noqa: E731
    window = Window(32, 8)
    found = whole(image, model, window)
    assert window.places(56) == [0, 24]
    left, right = model(image[None, :, :, :32])[0], model(image[None, :, :, 24:])[0]
    torch.testing.assert_close(found[:, :, :24], left[:, :, :24])
    torch.testing.assert_close(found[:, :, 32:], right[:, :, 8:])
    shape = window.weights(torch.device("cpu"))
    mixed = (left[:, :, 24:] * shape[:, 24:] + right[:, :, :8] * shape[:, :8]) / (shape[:, 24:] + shape[:, :8])
    torch.testing.assert_close(found[:, :, 24:32], mixed)


def test_without_overlap_a_tile_is_its_patches() -> None:
    image = torch.randn(1, 16, 24)
    model = lambda x: x.flip(2)  # noqa: E731
    found = whole(image, model, Window(8, 0))
    for top in (0, 8):
        for left in (0, 8, 16):
            part = image[:, top : top + 8, left : left + 8]
            torch.testing.assert_close(found[:, top : top + 8, left : left + 8], part.flip(1))


def test_the_window_is_a_gaussian_in_half_patches() -> None:
    weights = Window(5, 2, 1.0).weights(torch.device("cpu"))
    assert (
        weights[2, 2] == 1
        and weights[0, 2] == pytest.approx(np.exp(-0.5))
        and weights[0, 0] == pytest.approx(np.exp(-1))
    )
    assert weights[1, 2] == pytest.approx(np.exp(-0.125))


class Largest(TorchDispatchMode):
    """The size of the largest tensor that any operation returns."""

    numel = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        owned = isinstance(result, Tensor) and result.untyped_storage().nbytes() == result.nbytes
        self.numel = max(self.numel, result.numel() if owned else 0)
        return result


def largest(height: int, width: int) -> int:
    def predict(top: int, lefts: list[int]) -> Tensor:
        return torch.ones(1, len(lefts), 6, 8, 8)

    with Largest() as mode:
        for _ in blend(predict, height, width, Window(8, 2)):
            pass
    return mode.numel


def test_memory_does_not_grow_with_the_tile() -> None:
    band = 8 * BAND
    assert largest(band, band) == largest(3 * band, band) == largest(band, 3 * band)


@pytest.mark.parametrize("given", [(16, 16, 1.0), (16, -1, 1.0), (16, 4, 0.0)])
def test_impossible_windows_are_one_sentence(given: tuple[int, int, float]) -> None:
    with pytest.raises(WarlabError, match="give an overlap below the patch"):
        Window(*given)


def test_a_tile_smaller_than_a_patch_is_one_sentence() -> None:
    with pytest.raises(WarlabError, match="tile of 15 pixels is smaller than a patch of 16"):
        Window(16, 4).places(15)
