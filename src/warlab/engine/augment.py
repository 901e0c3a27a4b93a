"""Augmentation of training images on the device: `augmentation` among the settings of a training.

    none        the images as they are, as in the paper
    shift_flip  every image is shifted by up to an eighth of its side, with black at the border, and half of the images
                are mirrored: 4 pixels of 32, as usual for CIFAR
    two_views   the same, and a second view of every image, drawn by itself, for methods that compare two (`Batch.view`)

The training loop seeds torch by (seed, epoch, step) before it reads a batch, and all draws are made on the CPU, so a
resumed run and every device see the same views. Estimates between two epochs see the images as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from warlab.engine.device import memory_format
from warlab.methods.base import Batch

SHARE = 8  # an image is shifted by at most its side divided by this


@dataclass(frozen=True)
class Augmentation:
    """`mean` and `std` are those of the normalised images, whose black is -mean / std."""

    kind: str
    mean: Sequence[float]
    std: Sequence[float]

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with the images that a step trains on."""
        if self.kind == "none":
            return batch
        view = self.draw(batch.x) if self.kind == "two_views" else None
        return replace(batch, x=self.draw(batch.x), view=view)

    def draw(self, x: Tensor) -> Tensor:
        """Return images (B, C, H, W), each shifted and half of them mirrored."""
        count, _, height, width = x.shape
        down, right = (_shifts(count, side) for side in (height, width))
        rows = torch.arange(height) + down[:, None]
        columns = torch.arange(width).expand(count, -1)
        columns = torch.where(torch.rand(count, 1) < 0.5, columns.flip(1), columns) + right[:, None]
        inside = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None]
        places = rows.clamp(0, height - 1)[:, :, None] * width + columns.clamp(0, width - 1)[:, None]
        index = places.flatten(1)[:, None].expand(-1, x.shape[1], -1).to(x.device)
        moved = x.flatten(2).gather(2, index).view_as(x)
        black = torch.tensor([-m / s for m, s in zip(self.mean, self.std, strict=True)], device=x.device)
        moved = torch.where(inside[:, None].to(x.device), moved, black.to(x.dtype).view(1, -1, 1, 1))
        return moved.contiguous(memory_format=memory_format(x.device))


def _shifts(count: int, side: int) -> Tensor:
    """Draw one shift per image, between minus and plus an eighth of the side, at least one pixel."""
    most = max(1, side // SHARE)
    return torch.randint(-most, most + 1, (count,))
