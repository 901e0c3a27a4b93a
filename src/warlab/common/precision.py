"""The precision of float32 on a GPU: whether TF32, with its ten bits of mantissa, may replace it.

torch has two interfaces, `allow_tf32` and `fp32_precision`, and reading the first after writing the second is an error.
This module uses the second, which works whichever one was used before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

TRUE = "ieee"
_CUDNN: Any = torch.backends.cudnn  # type checkers do not see its `conv`
_PARTS: dict[str, Any] = {"matmul": torch.backends.cuda.matmul, "conv": _CUDNN.conv, "rnn": _CUDNN.rnn}


def float32_precision() -> dict[str, str]:
    """Return "ieee", "tf32" or "none" for each part; "none" is the default, which is true float32."""
    return {name: part.fp32_precision for name, part in _PARTS.items()}


def tf32_allowed() -> bool:
    return any(precision not in (TRUE, "none") for precision in float32_precision().values())


def model_precision(x: torch.Tensor) -> torch.dtype:
    """Return the precision in which a network computes on these inputs: that of autocast, where it is on."""
    device = x.device.type
    autocast = x.dtype != torch.float64 and torch.is_autocast_enabled(device)
    return torch.get_autocast_dtype(device) if autocast else x.dtype


def spacing(x: torch.Tensor) -> float:
    """Return the relative spacing of the numbers of this precision: 2^-7 for bfloat16, 2^-10 for float16 and TF32."""
    dtype = model_precision(x)
    return 2.0**-10 if dtype == torch.float32 and x.is_cuda and tf32_allowed() else torch.finfo(dtype).eps


def use_tf32(allowed: bool) -> None:
    """Allow or forbid TF32 in this process: faster on GPUs, less exact. `true_float32` forbids it all the same."""
    if not allowed:  # in both interfaces
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    _write(dict.fromkeys(_PARTS, "tf32" if allowed else TRUE))


@contextmanager
def true_float32() -> Iterator[None]:
    """Switch off TF32 and autocast: a perturbation of length 0.005 does not survive ten bits of mantissa."""
    before = float32_precision()
    _write(dict.fromkeys(_PARTS, TRUE))
    try:
        with torch.autocast("cuda", enabled=False), torch.autocast("cpu", enabled=False):
            yield
    finally:
        _write(before)


def _write(precision: dict[str, str]) -> None:
    for name, value in precision.items():
        _PARTS[name].fp32_precision = value
