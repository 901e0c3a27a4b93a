"""Label noise by its id: `asym-40` is the kind `asym` at a rate of 40 percent, `clean` is no noise.

Three sorts: labels drawn from a transition matrix; labels given (by people, or by a file of the user's);
images replaced by those of another data set, under labels that stay (open-set noise). A fourth is for maps:
whole objects that get another class.
"""

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
_FILE = re.compile(r"file(_[a-z0-9_]+)?", re.ASCII)
# open-set noise → the data set whose images take the place of others
OPEN_SET = {"openset_svhn": "svhn", "openset_imagenet32": "imagenet32"}
REAL = "real"  # the labels as they came with the data
OBJECTS = "objects"  # noise of maps: a share of all objects gets another class
# human noise → data set, the name of its labels in CIFAR-N, and the share of labels that differ from the clean ones
HUMAN = {
    "human_aggregate": ("cifar10", "aggre_label", 0.0901),
    "human_random1": ("cifar10", "random_label1", 0.1723),
    "human_random2": ("cifar10", "random_label2", 0.1812),
    "human_random3": ("cifar10", "random_label3", 0.1764),
    "human_worse": ("cifar10", "worse_label", 0.4021),
    "human": ("cifar100", "noisy_label", 0.4020),
}


def kinds() -> list[str]:
    return [*_BUILDERS, *OPEN_SET, OBJECTS, REAL, *HUMAN, "file"]


def parse(noise_id: str) -> tuple[str, float]:
    """The kind and the nominal rate (0 ≤ rate < 1) of a noise id; that of a file is known when it is read."""
    if noise_id == "clean":
        return "clean", 0.0
    if noise_id in HUMAN:
        return noise_id, HUMAN[noise_id][2]
    if _FILE.fullmatch(noise_id):
        return "file", 0.0
    if noise_id == REAL:
        return REAL, 0.0
    match = _ID.fullmatch(noise_id)
    rated = [kind for kind in (*_BUILDERS, *OPEN_SET, OBJECTS) if kind != "clean"]
    if match is None or match[1] not in rated:
        raise WarlabError(
            f"There is no noise {noise_id!r}; write clean, or one of {', '.join(rated)} with a hyphen "
            f"and percent from 0 to below 100, such as asym-40, or one of {', '.join(HUMAN)}, file, file_<name>."
        )
    return match[1], float(match[2]) / 100


def needs(noise_id: str) -> dict[str, str]:
    """What a noise reads besides the data: `human` labels, `images` of a data set, or a `given` file of its id."""
    kind, _ = parse(noise_id)
    if kind in OPEN_SET:
        return {"images": OPEN_SET[kind]}
    if kind in HUMAN:
        return {"human": "cifar_n"}
    return {"given": noise_id} if kind == "file" else {}


def module(noise_id: str) -> str:
    """The module that makes a noise: a function `make` per sort of noise."""
    if (kind := parse(noise_id)[0]) in (OBJECTS, REAL):
        return f"warlab.noise.{kind}"
    role = next(iter(needs(noise_id)), "")
    return "warlab.noise." + {"images": "openset", "human": "human", "given": "given"}.get(role, "drawn")


def transition_matrix(kind: str, rate: float, dataset_name: str, n_classes: int) -> np.ndarray:
    """The (C, C) row-stochastic matrix: row = clean label, column = noisy label."""
    if kind not in _BUILDERS:
        raise WarlabError(f"There is no kind of noise {kind!r}; choose one of: {', '.join(_BUILDERS)}.")
    if not 0 <= rate < 1:
        raise WarlabError(f"The noise rate {rate} is outside [0, 1); 0.4 means 40 percent.")
    if n_classes < 2:
        raise WarlabError(f"Label noise needs at least two classes, not {n_classes}.")
    return _BUILDERS[kind](rate, dataset_name, n_classes)


_WORDS = {
    "asym": "asymmetric",
    "asym_code": "asymmetric (authors' code)",
    "sym": "symmetric",
    "objects": "of all objects",
    "openset_svhn": "SVHN images (open set)",
    "openset_imagenet32": "ImageNet32 images (open set)",
}


def label(noise_id: str) -> str:
    """What a noise is called in print: "40 % asymmetric"."""
    kind, rate = parse(noise_id)
    if kind in HUMAN:
        return " ".join(["human labels", *(f"({word})" for word in noise_id.split("_")[1:])])
    if kind == "file":
        return " ".join(["own noise", *(f"({word})" for word in noise_id.split("_", 1)[1:])])
    if kind == REAL:
        return "labels as they came"
    return "clean" if kind == "clean" else f"{100 * rate:g} % {_WORDS.get(kind, kind)}"
