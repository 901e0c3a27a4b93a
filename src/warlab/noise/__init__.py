"""Label noise by its id: `asym-40` is the kind `asym` at a rate of 40 percent, `clean` is no noise."""

import re
from collections.abc import Callable

import numpy as np

from warlab.errors import WarlabError
from warlab.noise import transition

_BUILDERS: dict[str, Callable[[float, str, int], np.ndarray]] = {
    "clean": transition.clean,
    "asym": transition.asymmetric,
    "asym_code": transition.asymmetric_code,
    "sym": transition.symmetric,
    "pairflip": transition.pairflip,
}
# One spelling per rate (no 040, no 40.0), because the id is also the name of a folder.
_ID = re.compile(r"([a-z0-9_]+)-((?:0|[1-9][0-9]?)(?:\.[0-9]*[1-9])?)", re.ASCII)


def kinds() -> list[str]:
    return list(_BUILDERS)


def parse(noise_id: str) -> tuple[str, float]:
    """The kind and the nominal rate (0 ≤ rate < 1) of a noise id."""
    if noise_id == "clean":
        return "clean", 0.0
    match = _ID.fullmatch(noise_id)
    if match is None or match[1] not in _BUILDERS or match[1] == "clean":
        noisy = [kind for kind in kinds() if kind != "clean"]
        raise WarlabError(
            f"There is no noise {noise_id!r}; write clean, or one of {', '.join(noisy)} with a hyphen "
            "and percent from 0 to below 100, such as asym-40."
        )
    return match[1], float(match[2]) / 100


def transition_matrix(kind: str, rate: float, dataset_name: str, n_classes: int) -> np.ndarray:
    """The (C, C) row-stochastic matrix: row = clean label, column = noisy label."""
    if kind not in _BUILDERS:
        raise WarlabError(f"There is no kind of noise {kind!r}; choose one of: {', '.join(kinds())}.")
    if not 0 <= rate < 1:
        raise WarlabError(f"The noise rate {rate} is outside [0, 1); 0.4 means 40 percent.")
    if n_classes < 2:
        raise WarlabError(f"Label noise needs at least two classes, not {n_classes}.")
    return _BUILDERS[kind](rate, dataset_name, n_classes)


_WORDS = {
    "asym": "asymmetric",
    "asym_code": "asymmetric (authors' code)",
    "sym": "symmetric",
}


def label(noise_id: str) -> str:
    """What a noise is called in print: "40 % asymmetric"."""
    kind, rate = parse(noise_id)
    return "clean" if kind == "clean" else f"{100 * rate:g} % {_WORDS.get(kind, kind)}"
