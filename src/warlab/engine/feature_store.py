"""Features of image files that stay on disk, so that an audit that was killed continues where it stopped.

`<key>.f16` has a row of float16 numbers for each different content of a file, in the order in which they were computed;
`<key>.sha256` has the first half of the SHA-256 of each. Batches are appended, the digests last, and a row without a
digest is computed again. A resumed audit forms the same batches, and so computes the same bits.
"""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from warlab.common.files import write_text
from warlab.common.progress import Progress
from warlab.common.wording import for_terminal
from warlab.data.formats.image_file import read_square
from warlab.engine.features import BATCH, Features
from warlab.errors import WarlabError

DIGEST = 16  # bytes
AHEAD = 8 * BATCH  # files that are decoded ahead


@dataclass(frozen=True)
class Decoded:
    """A file: the digest of its content, and its image unless the features are known; or why it cannot be read."""

    digest: bytes = b""
    image: np.ndarray | None = None
    problem: str = ""


@dataclass
class FeatureStore:
    """The features of one network in a folder; `size` is that of the images that the network is given."""

    folder: Path
    key: str
    size: int
    known: dict[bytes, int] = field(default_factory=dict)  # digest → row

    def fill(self, files: Sequence[Path], compute: Features, threads: int = 1) -> tuple[np.ndarray, dict[int, str]]:
        """Compute the features that are missing. Return the row (N,) of each file, and why some have none (-1)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.known = self._read_digests()
        digests: list[bytes] = []
        problems: dict[int, str] = {}
        waiting: dict[bytes, np.ndarray] = {}
        progress = Progress("features of {} of {} images", len(files), min(len(self.known), len(files)))
        with ThreadPoolExecutor(threads) as pool:
            for start in range(0, len(files), AHEAD):
                for decoded in pool.map(self._decode, files[start : start + AHEAD]):
                    if decoded.problem:
                        problems[len(digests)] = decoded.problem
                    elif decoded.image is not None and decoded.digest not in self.known:
                        waiting[decoded.digest] = decoded.image
                    digests.append(decoded.digest)
                    if len(waiting) == BATCH:
                        self._append(waiting, compute)
                        progress(len(digests))
        if waiting:
            self._append(waiting, compute)
        progress(len(files))
        return np.array([self.known.get(digest, -1) for digest in digests], np.int64), problems

    def rows(self) -> np.ndarray:
        """Return the features (M, d), mapped from disk."""
        if not self.known:
            return np.zeros((0, 1), np.float16)
        width = self._path("f16").stat().st_size // 2 // len(self.known)
        return np.memmap(self._path("f16"), np.float16, "r", shape=(len(self.known), width))

    def _path(self, ending: str) -> Path:
        return self.folder / f"{self.key}.{ending}"

    def _decode(self, path: Path) -> Decoded:
        try:
            content = path.read_bytes()
            digest = hashlib.sha256(content).digest()[:DIGEST]
            return Decoded(digest, None if digest in self.known else read_square(path, self.size, content))
        except OSError as error:
            return Decoded(problem=error.strerror or "it cannot be read")
        except WarlabError as error:
            return Decoded(problem=str(error).removeprefix(f"{for_terminal(path)} "))

    def _read_digests(self) -> dict[bytes, int]:
        """Return the rows by digest, and cut off what was not written completely."""
        for ending in ("sha256", "f16"):
            self._path(ending).touch()
        content = self._path("sha256").read_bytes()
        count, whole = len(content) // DIGEST, self._path("f16").stat().st_size
        row = 2 * self._read_width()
        count = min(count, whole // row) if row else 0
        os.truncate(self._path("sha256"), count * DIGEST)
        os.truncate(self._path("f16"), count * row)
        return {content[k * DIGEST : (k + 1) * DIGEST]: k for k in range(count)}

    def _read_width(self) -> int:
        """Return how many numbers a row has, or 0 if that is not known: then all rows are computed again."""
        try:
            return int(self._path("width").read_text())
        except (OSError, ValueError):
            return 0

    def _append(self, waiting: dict[bytes, np.ndarray], compute: Features) -> None:
        values = compute(np.stack(list(waiting.values()))).astype(np.float16)
        if not np.isfinite(values).all():
            raise WarlabError("The features of some images are no finite float16 numbers; choose another --network.")
        if not self.known:
            write_text(self._path("width"), str(values.shape[1]))
        elif values.shape[1] != self._read_width():
            raise WarlabError(
                f"The features in {self.folder} do not belong to this network or are damaged; delete that folder."
            )
        for ending, content in (("f16", values.tobytes()), ("sha256", b"".join(waiting))):
            with self._path(ending).open("ab") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for digest in waiting:
            self.known[digest] = len(self.known)
        waiting.clear()
