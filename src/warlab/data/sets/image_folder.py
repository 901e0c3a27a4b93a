"""The user's own images, a folder per class: `cat/1.png`, `dog/1.png`, …; or `train/cat/…` and `test/cat/…`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from warlab.data import in_place, user_data
from warlab.data.base import Classes
from warlab.data.images_in_memory import Arrays
from warlab.data.synthetic.patterns import draw, shuffled_labels
from warlab.errors import WarlabError

_ENDINGS = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff"}
_SIZE = 32
_DEEP = {"I;16", "I;16B", "I;16L", "I;16N"}  # 16 bits, 0 to 65535
_GREY = {"1", "L", "LA", *_DEEP}
_BOUNDLESS = {"I", "F"}  # 32 bits: the value of white is unknown


def read(root: Path, size: int | None) -> user_data.UserData:
    """Return all images, cropped and resized to `size` × `size` pixels; grey only if all are grey."""
    folder = in_place.place(root)
    split = (folder / "train").is_dir() and (folder / "test").is_dir()
    classes = user_data.listed_classes(folder) or _folders(folder / "train" if split else folder)
    grey = all(_is_grey(path) for path in _images(folder))
    read_part = partial(_read_part, names=classes.names, size=size or _SIZE, grey=grey)
    if split:
        x, y, files = read_part(folder / "train")
        arrays = Arrays(x, y, *read_part(folder / "test")[:2])
    else:
        x, y, files = read_part(folder)
        arrays, kept = user_data.hold_out(x, y)
        files = [files[number] for number in kept]
    return user_data.UserData(arrays, classes, [path.relative_to(folder).as_posix() for path in files])


def _folders(folder: Path) -> Classes:
    """Return classes with the names of the folders."""
    names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if len(names) < 2:
        raise WarlabError(f"{folder} has {len(names)} folders of images; it needs one for each class, at least two.")
    return Classes(tuple(names))


def _images(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in _ENDINGS)


def _read_part(
    folder: Path, names: Sequence[str], size: int, grey: bool
) -> tuple[np.ndarray, np.ndarray, Sequence[Path]]:
    """Return images, labels and files."""
    files = [(path, label) for label, name in enumerate(names) for path in _images(folder / name)]
    counts = np.bincount([label for _, label in files], minlength=len(names))
    if (counts < 2).any():
        raise WarlabError(
            f"{folder / names[int(counts.argmin())]} has {counts.min()} images ({', '.join(sorted(_ENDINGS))}); "
            "a class needs at least two."
        )
    images = np.stack([_decoded(path, size, grey) for path, _ in files])
    return images, np.array([label for _, label in files], np.int64), [path for path, _ in files]


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    try:
        with Image.open(path) as image:
            yield image
    except WarlabError:
        raise
    except Exception as error:  # damaged files raise anything
        raise WarlabError(f"{path} cannot be read as an image; repair or remove it.") from error


def _is_grey(path: Path) -> bool:
    with _opened(path) as image:
        return image.mode in _GREY


def _decoded(path: Path, size: int, grey: bool) -> np.ndarray:
    """(channels, size, size)"""
    with _opened(path) as image:
        if image.mode in _BOUNDLESS:
            raise WarlabError(
                f"{path} has 32-bit pixels, whose white is unknown; save it with 8 or 16 bits per channel."
            )
        shown = _in_bytes(image).convert("L" if grey else "RGB")
        square = ImageOps.fit(shown, (size, size), Image.Resampling.BILINEAR)
        return np.atleast_3d(np.asarray(square)).transpose(2, 0, 1)


def _in_bytes(image: Image.Image) -> Image.Image:
    """Scale 65535 to 255; Pillow would clip all values above 255."""
    if image.mode not in _DEEP:
        return image
    return Image.fromarray(np.rint(np.asarray(image, np.float64) / 257).astype(np.uint8))


def stand_in(root: Path, seed: int, n: int = 240) -> None:
    """Draw images of three classes as PNG files."""
    rng = np.random.default_rng(seed)
    names = ("cat", "dog", "ship")
    labels = shuffled_labels(n, len(names), rng)
    for i, (label, image) in enumerate(zip(labels, draw(labels, "aab", "image_folder", rng, _SIZE), strict=True)):
        folder = root / "images" / names[label]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.transpose(1, 2, 0)).save(folder / f"{i:04}.png")
    in_place.write_pointer(root, "images")


DATASET = user_data.UserImages(name="image_folder", title="Own images", read=read, stand_in=stand_in)
