"""Old data files are pickles, and a pickle is a program: these few names are all that it may call.

Whoever reads one checks its checksum first, and stores the arrays in another format.
"""

import io
import pickle
from typing import Any

import numpy as np

from warlab.errors import WarlabError


def _empty_array(kind: type, shape: object, code: object) -> np.ndarray:
    """What numpy's pickles begin with; shape and content follow as plain data, and numpy compares their sizes."""
    return np.empty((0,), np.int8)


def _encode(text: str, encoding: str = "latin1") -> bytes:
    """How protocol 2 writes bytes."""
    return text.encode("latin1")


_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): _encode,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _ALLOWED[module, name]


def loads(content: bytes, name: str) -> Any:
    """Arrays in dicts, lists and tuples; strings of Python 2 are read as latin1."""
    try:
        return _Reader(io.BytesIO(content), encoding="latin1").load()
    except Exception as error:  # damaged pickles raise anything
        raise WarlabError(f"{name} is refused as a pickle of arrays ({error}); fetch it again.") from error


def dumps(value: Any) -> bytes:
    """As the official files are written, in the protocol that Python 2 could read."""
    return pickle.dumps(value, protocol=2)
