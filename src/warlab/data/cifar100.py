"""CIFAR-100: 50 000 + 10 000 colour images of 32×32, a hundred classes in twenty superclasses (Krizhevsky, 2009)."""

from functools import partial
from pathlib import Path

from warlab.data import cifar
from warlab.data.base import Dataset

# As the data set's page lists them: a line per superclass, its five classes in this order.
_LISTING = """
beaver dolphin otter seal whale
aquarium_fish flatfish ray shark trout
orchid poppy rose sunflower tulip
bottle bowl can cup plate
apple mushroom orange pear sweet_pepper
clock keyboard lamp telephone television
bed chair couch table wardrobe
bee beetle butterfly caterpillar cockroach
bear leopard lion tiger wolf
bridge castle house road skyscraper
cloud forest mountain plain sea
camel cattle chimpanzee elephant kangaroo
fox porcupine possum raccoon skunk
crab lobster snail spider worm
baby boy girl man woman
crocodile dinosaur lizard snake turtle
hamster mouse rabbit shrew squirrel
maple_tree oak_tree palm_tree pine_tree willow_tree
bicycle bus motorcycle pickup_truck train
lawn_mower rocket streetcar tank tractor
"""
SUPERCLASSES = tuple(tuple(line.split()) for line in _LISTING.split("\n") if line)
NAMES = tuple(sorted(name for members in SUPERCLASSES for name in members))  # label k is the k-th by the alphabet
# The listing's own words, which the authors' vectors are of, where they are not the name itself.
_WORDS = {
    **{name: f"{name}s" for members in SUPERCLASSES[2:5] for name in members},  # flowers, containers, fruit
    "poppy": "poppies",
    "keyboard": "computer keyboard",
    **{f"{tree}_tree": tree for tree in ("maple", "oak", "palm", "pine", "willow")},
}


def word(name: str) -> str:
    return _WORDS.get(name, name).replace("_", " ")


def superclass_of(name: str) -> int:
    return next(k for k, members in enumerate(SUPERCLASSES) if name in members)


_LAYOUT = cifar.Layout(
    archive="cifar-100-python.tar.gz",
    folder="cifar-100-python",
    train=("train",),
    test=("test",),
    labels="fine_labels",
    checks={
        "train": "16019d7e3df5f24257cddd939b257f8d",
        "test": "f0ef6b0ae62326f3e7ffdfab6717acfc",
        "meta": "7973b15100ade9c7d40fb424638fde48",
    },
)
STAND_IN = (1000, 500)


def stand_in(root: Path, seed: int) -> None:
    """Patterns, alike within a superclass, as official batches."""
    groups = [superclass_of(name) for name in NAMES]
    cifar.write_stand_in(_LAYOUT, root, groups, seed, *STAND_IN, {"meta": {"fine_label_names": list(NAMES)}})


DATASET = Dataset(
    name="cifar100",
    title="CIFAR-100",
    class_names=NAMES,
    words=tuple(map(word, NAMES)),
    mean=(0.5071, 0.4865, 0.4409),  # the paper subtracts the means of the channels and divides by nothing
    std=(1.0, 1.0, 1.0),
    licence="none stated by its authors; cite Krizhevsky (2009)",
    homepage="https://www.cs.toronto.edu/~kriz/cifar.html",
    shape=(3, 32, 32),
    images=(50_000, 10_000),
    load=partial(cifar.load, _LAYOUT),
    stand_in=stand_in,
    sources=_LAYOUT.sources("eb9058c3a382ffc7106e4002c42a8d85", 169_001_437, "https://www.cs.toronto.edu/~kriz/"),
    forms=(_LAYOUT.unpacked(),),
)
