"""The idx format of the MNIST family: a big-endian header (type, number of axes, their lengths), then the content.

Files are compressed with gzip. Only unsigned bytes are read; no file of the family has another type.
"""

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from warlab.common.files import write_atomic
from warlab.errors import WarlabError

_UNSIGNED_BYTE = 0x08
_CHUNK = 1 << 20
_MOST_BYTES = 1 << 32  # far more than any file of the family; refuses files made to exhaust the memory


def read(path: Path) -> np.ndarray:
    """Return the uint8 array in an idx file."""
    try:
        with gzip.open(path) as file:
            magic = file.read(4)
            if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] != _UNSIGNED_BYTE or not 1 <= magic[3] <= 4:
                raise ValueError(f"it starts with {magic.hex() or 'nothing'} instead of 0000080n")
            lengths = file.read(4 * magic[3])
            if len(lengths) < 4 * magic[3]:
                raise ValueError("it ends inside its header")
            shape = struct.unpack(f">{magic[3]}I", lengths)
            content = _read_content(file, math.prod(shape))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise WarlabError(f"{path} is not a complete idx file ({error}); delete it and fetch it again.") from error
    return np.frombuffer(content, np.uint8).reshape(shape)


def _read_content(file: gzip.GzipFile, expected: int) -> bytearray:
    """Read to the end, in pieces: memory grows with the real content, not with the size in the header."""
    if expected > _MOST_BYTES:
        raise ValueError(f"its header promises {expected} bytes")
    content = bytearray()
    while len(content) <= expected and (piece := file.read(_CHUNK)):
        content += piece
    if len(content) != expected:
        actual = "more" if len(content) > expected else str(len(content))
        raise ValueError(f"its header promises {expected} bytes of content, there are {actual}")
    return content


def write(path: Path, array: np.ndarray) -> None:
    """Write uint8 values. The bytes depend on the array alone: the gzip header has no time and no name."""
    header = struct.pack(f">4B{array.ndim}I", 0, 0, _UNSIGNED_BYTE, array.ndim, *array.shape)

    def compress(file: IO[bytes]) -> None:
        # With gzip.compress, the operating-system byte of the header depends on the Python version.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0) as compressed:
            compressed.write(header + np.ascontiguousarray(array).tobytes())

    write_atomic(path, compress)
