"""Maps of whole tiles from overlapping patches, blended by a Gaussian window, in memory that no tile's size changes.

    P(pixel) = sum_k w(pixel - patch_k) p_k(pixel) / sum_k w(pixel - patch_k),   w = exp(-(u² + v²) / (2 sigma²))

with u and v from -1 to 1 over a patch. The paper gives sigma = 1 and no unit; one pixel would make no window.
Rows are handed out as soon as no further patch covers them, so that a band of one patch's height is all that is kept.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from warlab.errors import WarlabError

# (top, lefts) of patches in one row → probabilities (M, len(lefts), C, patch, patch) of M networks
Predict = Callable[[int, list[int]], Tensor]
BAND = 8  # patches: how wide a band may be before it is cut, and how many go through the network at once


@dataclass(frozen=True)
class Window:
    """How a tile is cut: side and overlap in pixels, sigma of the weights in half patches."""

    patch: int
    overlap: int
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.patch or not self.sigma > 0:
            raise WarlabError(
                f"Patches of {self.patch} pixels cannot overlap by {self.overlap} with sigma {self.sigma}; "
                "give an overlap below the patch and a sigma above 0."
            )

    def places(self, size: int) -> list[int]:
        """Where patches begin along a side: every (patch - overlap) pixels, the last one at the edge."""
        if size < self.patch:
            raise WarlabError(f"A tile of {size} pixels is smaller than a patch of {self.patch}; set a smaller patch.")
        return [*range(0, size - self.patch, self.patch - self.overlap), size - self.patch]

    def weights(self, device: torch.device) -> Tensor:
        u = torch.linspace(-1, 1, self.patch, device=device)
        edge = torch.exp(-(u**2) / (2 * self.sigma**2))
        return edge[:, None] * edge[None, :]


def blended(predict: Predict, height: int, width: int, window: Window) -> Iterator[tuple[slice, slice, Tensor]]:
    """Pieces of the tile's map: rows, columns, probabilities (M, C, rows, columns)."""
    widest = BAND * window.patch
    for left in range(0, width, widest):
        columns = slice(left, min(width, left + widest))
        for rows, piece in _band(predict, window, window.places(height), window.places(width), columns, height):
            yield rows, columns, piece


def _band(
    predict: Predict, window: Window, tops: list[int], lefts: list[int], columns: slice, height: int
) -> Iterator[tuple[slice, Tensor]]:
    patch = window.patch
    lefts = [left for left in lefts if left < columns.stop and left + patch > columns.start]
    total, weight = None, None
    for top, following in zip(tops, [*tops[1:], height], strict=True):
        for start in range(0, len(lefts), BAND):
            group = lefts[start : start + BAND]
            p = predict(top, group)
            if total is None or weight is None:
                total = p.new_zeros(*p.shape[:1], p.shape[2], patch, columns.stop - columns.start)
                weight, shape = p.new_zeros(total.shape[2:]), window.weights(p.device)
            for number, left in enumerate(group):
                inside, own = _common(left, patch, columns)
                total[..., inside] += p[:, number, :, :, own] * shape[:, own]
                weight[:, inside] += shape[:, own]
        done = following - top if following < height else patch
        assert total is not None and weight is not None
        yield slice(top, top + done), total[:, :, :done] / weight[:done]
        total, weight = _moved(total, done), _moved(weight, done)


def _common(left: int, patch: int, columns: slice) -> tuple[slice, slice]:
    """Where a patch and a band meet: columns of the band, columns of the patch."""
    low, high = max(left, columns.start), min(left + patch, columns.stop)
    return slice(low - columns.start, high - columns.start), slice(low - left, high - left)


def _moved(band: Tensor, rows: int) -> Tensor:
    """The band without its first rows, and as many empty ones below."""
    return torch.cat([band[..., rows:, :], torch.zeros_like(band[..., :rows, :])], -2)
