"""Too many images for memory: resized once, stored as JPEG in shards, and read one by one.

A shard consists of two files: the concatenated JPEGs, and the offset of each. A million images of 256 × 256 take about
twenty gigabytes in a hundred shards. The second file is written last: a shard that has it is complete and is not made
again, so that an interrupted run continues with the shard that it was at.
"""

import io
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from warlab.common.files import write_atomic
from warlab.common.progress import Progress
from warlab.errors import WarlabError

PER_SHARD = 10_000
_QUALITY = 95


def pack(files: Sequence[Path], side: int, folder: Path, threads: int = 1) -> None:
    """Resize all images to side × side into the shards of `folder`."""
    shards = [files[start : start + PER_SHARD] for start in range(0, len(files), PER_SHARD)]
    missing = [number for number in range(len(shards)) if not (folder / f"{number:04}.npy").is_file()]
    done = len(files) - sum(len(shards[number]) for number in missing)
    progress = Progress("resized {} of {} images", len(files), done)
    for number in missing:
        with ThreadPoolExecutor(threads) as pool:
            pieces = []
            for piece in pool.map(partial(_resized, side=side), shards[number]):
                pieces.append(piece)
                done += 1
                progress(done)
        _write(folder / f"{number:04}", pieces)


def _write(shard: Path, pieces: list[bytes]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64)
    write_atomic(shard.with_suffix(".jpegs"), lambda file: file.write(b"".join(pieces)))
    write_atomic(shard.with_suffix(".npy"), lambda file: np.save(file, offsets))


def _resized(path: Path, side: int) -> bytes:
    buffer = io.BytesIO()
    try:
        with Image.open(path) as image:
            image.draft("RGB", (side, side))  # decode a JPEG at about the size that is needed
            image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR).save(buffer, "JPEG", quality=_QUALITY)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise WarlabError(f"{path} cannot be read as an image; get it again.") from error
    return buffer.getvalue()


class Pack:
    """The images in a folder of shards, by index; none of them stays in memory."""

    def __init__(self, folder: Path) -> None:
        self.starts = [np.load(path, allow_pickle=False) for path in sorted(folder.glob("*.npy"))]
        if not self.starts:
            raise WarlabError(f"There are no resized images in {folder}; remove the data's json file and run again.")
        self.contents = [(folder / f"{k:04}.jpegs").open("rb") for k in range(len(self.starts))]

    def __len__(self) -> int:
        return sum(len(starts) - 1 for starts in self.starts)

    def __getitem__(self, number: int) -> np.ndarray:
        """uint8 (3, side, side)"""
        shard, position = divmod(number, PER_SHARD)
        begin, end = self.starts[shard][position : position + 2]
        content = os.pread(self.contents[shard].fileno(), int(end - begin), int(begin))  # thread-safe, unlike seek
        with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
            return np.asarray(image).transpose(2, 0, 1)
