"""Are the raw files of a dataset the right ones? Asked before anything in them is believed."""

import gzip
import hashlib
import zlib
from importlib import import_module, resources
from importlib.resources.abc import Traversable
from pathlib import Path

from warlab.common.files import file_digest, read_json
from warlab.data.base import Resource, Source
from warlab.errors import WarlabError

RECEIPT = "receipt.json"
_CHUNK = 1 << 20


def asset_folder(dataset: Resource) -> Traversable:
    """Where the embedded part of a dataset lies inside the installed package."""
    return resources.files("warlab") / "assets" / dataset.name


def wrong_sources(dataset: Resource, root: Path) -> list[Source]:
    """The official files that are missing in `root` or are not the official ones; none if another form is whole."""
    if any(is_whole(form, root) for form in dataset.forms):
        return []
    return [source for source in dataset.sources if problem_of(root / source.file, source)]


def check_real(resource: Resource, root: Path) -> None:
    """Refuse other files than the official ones."""
    if wrong_sources(resource, root):
        raise WarlabError(f"The files in {root} are not those of {resource.title}; fetch them again.")


def initial_file(given: Path) -> Path:
    """A file of weights itself, or the one behind the receipt of a fetched network."""
    if given.name != RECEIPT:
        return given
    receipt = read_json(given)
    resource: Resource = import_module(f"warlab.data.resources.{receipt['dataset']}").RESOURCE
    if receipt["source"] == "real":
        check_real(resource, given.parent)
    return given.parent / resource.sources[0].file


def is_whole(form: tuple[Source, ...], root: Path) -> bool:
    return all(problem_of(root / source.file, source) is None for source in form)


def wrong_embedded(dataset: Resource, root: Path) -> list[str]:
    """The embedded files that are missing in `root` or differ from what was committed."""
    return [source.file for source in dataset.embedded if problem_of(root / source.file, source)]


def problem_of(path: Path, source: Source) -> str | None:
    """What is wrong with a file, or None if it is the official one or a repacked copy of it."""
    if not path.is_file():
        return f"it has no {source.file}"
    algorithm = "md5" if len(source.checksum) == 32 else "sha256"
    right = not source.checksum or file_digest(path, algorithm) == source.checksum
    if right or (source.content_md5 and _content_md5(path, source.content_bytes) == source.content_md5):
        return None
    return f"the checksum of its {source.file} is not the official one"


def _content_md5(path: Path, most: int) -> str | None:
    """MD5 of what a gzip file holds; None if it is damaged or holds more than `most` bytes."""
    checksum = hashlib.md5()
    size = 0
    try:
        with gzip.open(path, "rb") as file:
            while piece := file.read(_CHUNK):
                checksum.update(piece)
                size += len(piece)
                if size > most:
                    return None
    except (OSError, EOFError, zlib.error):
        return None
    return checksum.hexdigest()
