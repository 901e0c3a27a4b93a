"""ISPRS Vaihingen, 2D semantic labelling: 33 tiles of an aerial mosaic at 9 cm (Rottensteiner et al., 2012).

Read as the owners ship it, tile 12 being

    top/top_mosaic_09cm_area12.tif                    near infrared, red, green (8 bit)
    dsm/dsm_09cm_matching_area12.tif                  surface in metres (float)
    ndsm/dsm_09cm_matching_area12_normalized.jpg      height above ground (Gerke, 2014; 8 bit, or metres as .tif)
    gts_for_participants/top_mosaic_09cm_area12.tif   classes as colours, boundaries included (also ground_truth/)

The paper does not say how channels are scaled. Here heights become bytes: the DSM in steps of 0.2 m above the first
percentile of its tile, an nDSM in metres in steps of 0.1 m.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from warlab.common.files import write_atomic, write_text
from warlab.common.seeds import derive_seed
from warlab.data import in_place
from warlab.data.base import Classes, Pixels
from warlab.data.formats.flat_tiles import Tile
from warlab.data.tile_dataset import TileDataset
from warlab.errors import WarlabError

_NAMES = ("impervious surfaces", "building", "low vegetation", "tree", "car", "clutter")
COLOURS = ((255, 255, 255), (0, 0, 255), (0, 255, 255), (0, 255, 0), (255, 255, 0), (255, 0, 0))
# The 16 tiles whose ground truth was public first, in the usual split; the paper lists no tiles but tests on tile 12.
_SPLITS = {
    "train": (1, 3, 5, 7, 13, 17, 21, 23, 26, 32, 37),
    "validation": (11, 15, 28, 30, 34),
    "test": (12, 2, 4, 6, 8, 10, 14, 16, 20, 22, 24, 27, 29, 31, 33, 35, 38),  # the maps show the first at every scale
}
DSM_STEP, NDSM_STEP = 0.2, 0.1  # metres per grey level
_TRUTH = ("gts_for_participants", "ground_truth", "ISPRS_semantic_labeling_Vaihingen_ground_truth_COMPLETE")
_NDSM = ("ndsm", "nDSM", "NDSM")
_NDSM_NAMES = (
    "dsm_09cm_matching_area{}_normalized.jpg",
    "dsm_09cm_matching_area{}.jpg",
    "dsm_09cm_matching_area{}.tif",
)
# modes of images, and what they are
_COLOUR = ({"RGB"}, "three 8-bit channels")
_GREY = ({"L", "I;16", "I", "F"}, "one channel of heights")


def read_tile(root: Path, name: str) -> Tile:
    """One tile with its five channels."""
    folder = in_place.place(root)
    top = _file(folder, name, "image", ("top",), ("top_mosaic_09cm_area{}.tif",))
    image = _pixels(top, *_COLOUR)
    size = image.shape[:2]
    dsm = _heights(_file(folder, name, "DSM", ("dsm",), ("dsm_09cm_matching_area{}.tif",)), size)
    ndsm = _heights(_file(folder, name, "nDSM", _NDSM, _NDSM_NAMES), size)
    truth = _file(folder, name, "ground truth", _TRUTH, ("top_mosaic_09cm_area{}.tif",))
    above_ground = ndsm if ndsm.dtype == np.uint8 else _bytes(ndsm, NDSM_STEP)
    channels = [*np.moveaxis(image, 2, 0), _bytes(dsm - np.percentile(dsm, 1), DSM_STEP), above_ground]
    world = top.with_suffix(".tfw")
    return Tile(name, np.stack(channels), classes(truth, size), world.read_text() if world.is_file() else "")


def _file(folder: Path, name: str, what: str, folders: tuple[str, ...], names: tuple[str, ...]) -> Path:
    wanted = [folder / place / file.format(name) for place in folders for file in names]
    for path in wanted:
        if path.is_file():
            return path
    raise WarlabError(f"Tile {name} of Vaihingen has no {what}: put {wanted[0].relative_to(folder)} into {folder}.")


def _pixels(path: Path, modes: set[str], what: str, size: tuple[int, ...] | None = None) -> np.ndarray:
    """Return the pixels of an image, which must have one of the modes, described by `what`, and the size."""
    try:
        with Image.open(path) as image:
            pixels, mode = np.asarray(image), image.mode
    except (OSError, ValueError) as error:
        raise WarlabError(f"{path} cannot be read as an image ({error}); get it again from the owners.") from error
    if mode not in modes:
        raise WarlabError(f"{path} has the mode {mode} instead of {what}; get the owners' file.")
    if size is not None and pixels.shape[:2] != size:
        raise WarlabError(
            f"{path} is {pixels.shape[1]} × {pixels.shape[0]} pixels but its image is {size[1]} × {size[0]}; take the "
            "files of one tile from one release."
        )
    return pixels


def _heights(path: Path, size: tuple[int, ...]) -> np.ndarray:
    heights = _pixels(path, *_GREY, size)
    if not np.isfinite(heights).all():
        raise WarlabError(f"{path} has heights that are not finite numbers; fill them and run again.")
    return heights


def _bytes(metres: np.ndarray, step: float) -> np.ndarray:
    return np.rint(np.clip(metres / step, 0, 255)).astype(np.uint8)


def classes(path: Path, size: tuple[int, int]) -> np.ndarray:
    """Return the labels of a map of colours, uint8 (H, W)."""
    image = _pixels(path, *_COLOUR, size)
    same = (image[:, :, None] == np.array(COLOURS, np.uint8)).all(-1)  # (H, W, classes)
    if (wrong := ~same.any(-1)).any():
        colour = ", ".join(map(str, image[wrong][0]))
        raise WarlabError(
            f"{path} has a pixel of colour ({colour}), which belongs to no class; correct the file or get it again."
        )
    return same.argmax(-1).astype(np.uint8)


def stand_in(root: Path, seed: int, low: int = 208, high: int = 248) -> None:
    """Draw tiles in the owners' files."""
    names = [name for split in _SPLITS.values() for name in split]
    sizes = np.random.default_rng(seed).integers(low, high, (len(names), 2)).tolist()  # a reader takes any size
    for name, (height, width) in zip(names, sizes, strict=True):
        _write_tile(root, name, height, width, np.random.default_rng(derive_seed("tile", seed, name)))
    in_place.write_pointer(root, ".")


def _write_tile(root: Path, name: int, height: int, width: int, rng: np.random.Generator) -> None:
    # imported here because SciPy is slow to import, and every plan of the workflow imports this module
    from warlab.data.synthetic.aerial import town
    from warlab.data.synthetic.photograph import irrg, surface

    scene = town(height, width, rng)
    image, (dsm, ndsm) = irrg(scene), surface(scene)
    top = root / "top" / f"top_mosaic_09cm_area{name}.tif"
    _save(top, image, "TIFF")
    _save(root / "dsm" / f"dsm_09cm_matching_area{name}.tif", dsm, "TIFF")
    _save(root / _NDSM[0] / _NDSM_NAMES[0].format(name), _bytes(ndsm, NDSM_STEP), "JPEG", quality=95)
    _save(root / _TRUTH[0] / top.name, np.array(COLOURS, np.uint8)[scene.labels], "TIFF")
    write_text(top.with_suffix(".tfw"), f"0.4\n0\n0\n-0.4\n{1000 * name}.2\n999.8\n")


def _save(path: Path, pixels: np.ndarray, form: str, **options: int) -> None:
    write_atomic(path, lambda file: Image.fromarray(pixels).save(file, form, **options))


DATASET = TileDataset(
    name="vaihingen",
    title="ISPRS Vaihingen",
    classes=Classes(_NAMES, colours=COLOURS),
    # The shape is approximate: the tiles differ.
    pixels=Pixels((5, 2500, 2000), mean=(0.47, 0.32, 0.32, 0.15, 0.10), std=(0.20, 0.13, 0.13, 0.15, 0.15)),
    images=(len(_SPLITS["train"]), len(_SPLITS["test"])),
    licence="ISPRS benchmark: research use, registration with the owners",
    homepage="https://www.isprs.org/education/benchmarks/UrbanSemLab/2d-sem-label-vaihingen.aspx",
    stand_in=stand_in,
    read_tile=read_tile,
    splits={split: [str(name) for name in names] for split, names in _SPLITS.items()},
    scored={1: "f1_buildings", 4: "f1_cars", 0: "f1_impervious_surfaces", 2: "f1_low_vegetation", 3: "f1_trees"},
)
