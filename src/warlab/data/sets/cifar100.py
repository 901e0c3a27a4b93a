"""CIFAR-100: 50 000 + 10 000 colour images of 32×32, a hundred classes in twenty superclasses (Krizhevsky, 2009)."""

from collections.abc import Iterable, Sequence
from functools import partial

from warlab.data.base import Classes, Flips
from warlab.data.formats import cifar
from warlab.data.images_in_memory import ImagesInMemory
from warlab.data.sets._cifar100_names import NAMES, SUPERCLASSES, superclass_of, word

_LAYOUT = cifar.Layout(
    archive="cifar-100-python.tar.gz",
    folder="cifar-100-python",
    labels="fine_labels",
    train={"train": "16019d7e3df5f24257cddd939b257f8d"},
    test={"test": "f0ef6b0ae62326f3e7ffdfab6717acfc"},
    names={"meta": "7973b15100ade9c7d40fb424638fde48"},
)


def _cycles(groups: Iterable[Sequence[str]]) -> Flips:
    """Every class becomes the next one of its group, the last becomes the first."""
    return {group[i]: {group[(i + 1) % len(group)]: 1.0} for group in groups for i in range(len(group))}


DATASET = ImagesInMemory(
    name="cifar100",
    title="CIFAR-100",
    classes=Classes(
        NAMES,
        words=tuple(map(word, NAMES)),
        flips={
            # The paper speaks of superclasses; within one, the order is that of the dataset's own list.
            "asym": _cycles(SUPERCLASSES),
            # The authors' code takes five consecutive labels, which are alphabetical: apple, aquarium_fish, baby, …
            "asym_code": _cycles([NAMES[first : first + 5] for first in range(0, 100, 5)]),
        },
    ),
    pixels=cifar.pixels(mean=(0.5071, 0.4865, 0.4409)),
    images=cifar.IMAGES,
    licence=cifar.LICENCE,
    homepage=cifar.HOMEPAGE,
    load=partial(cifar.load, _LAYOUT),
    stand_in=partial(cifar.write_stand_in, _LAYOUT, NAMES, [superclass_of(name) for name in NAMES]),
    sources=_LAYOUT.sources("eb9058c3a382ffc7106e4002c42a8d85", 169_001_437),
    forms=(_LAYOUT.unpacked(),),
)
