"""The hundred classes of CIFAR-100 and their superclasses, for the labels, the noise and the word costs."""

# In the order of the dataset's web page: a line for each superclass with its five classes.
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
NAMES = tuple(sorted(name for members in SUPERCLASSES for name in members))  # labels are in alphabetical order
# The words on that page, for which the authors' vectors are, if they differ from the names.
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
