"""Data that stay where the user has them."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from warlab.common.files import digest, file_digest, read_json, write_json
from warlab.data.base import Dataset, Resource
from warlab.errors import WarlabError

POINTER = "place.json"
CLASSES = "classes.txt"
# Some of them only newer or extended versions of Pillow can read: an image must not be passed over in silence.
IMAGES = {".avif", ".bmp", ".gif", ".heic", ".heif", ".jp2", ".jpeg", ".jpg", ".jxl", ".png", ".tif", ".tiff", ".webp"}


@dataclass(frozen=True, kw_only=True)
class InPlace(Dataset):
    """A dataset that is not copied; `needs` are the files that its owners give out on request."""

    needs: tuple[str, ...] = ()

    def point(self, root: Path, local: Path | None) -> str:
        """Store where the data are."""
        if self.needs and (local is None or not local.exists()):
            raise self._gated(local)
        if local is None:
            setting = f"local_data: {{{self.name}: path}}"
            raise WarlabError(f"No folder is set for {self.title}; write {setting} in the settings.")
        if not local.exists():
            raise WarlabError(f"There is no {local}, which local_data names for {self.name}; correct the path.")
        if missing := [name for name in self.needs if not (local / name).exists()]:
            raise WarlabError(
                f"{local} has no {missing[0]}, which the owners' folder of {self.title} has; complete it."
            )
        write_pointer(root, str(local.resolve()))
        return str(local)

    def _gated(self, local: Path | None) -> WarlabError:
        absent = f" ({local}, which local_data names, is not there)" if local else ""
        return WarlabError(
            f"{self.title} is only available from its owners on request{absent}: ask for it at {self.homepage}, put "
            f"{', '.join(self.needs)} into one folder and write local_data: {{{self.name}: folder}} in the settings, "
            f"or leave {self.name} out of the scale."
        )

    def watched(self, local: Path) -> Iterable[Path]:
        """Return the files whose changes are noticed: all of the user's that are read, but of a million images only the
        owners' lists."""
        if self.needs:
            return [local / name for name in self.needs]
        if local.is_file():
            return [local, local.parent / CLASSES]
        return [path for path in list_files(local) if path.suffix.lower() in IMAGES or path == local / CLASSES]


def list_files(folder: Path, parents: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield the files in a folder and its subfolders in the order of their paths. Links are followed, as users store
    images in other places; hidden files and folders are left out. `parents` are the folders that contain this one."""
    parents = (*parents, folder.resolve())
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if not path.is_dir():
            yield path
        elif path.resolve() in parents:
            raise WarlabError(f"{path} leads back to a folder that contains it; remove the link.")
        else:
            yield from list_files(path, parents)


def write_pointer(root: Path, place: str) -> None:
    """Store that the data of `root` are at `place`, which may be relative to it."""
    write_json(root / POINTER, {"place": place})


def place(root: Path) -> Path:
    return root / read_json(root / POINTER)["place"]


def points_to(root: Path, local: Path) -> bool:
    """Return whether the data of `root` were last read at `local`."""
    return (root / POINTER).is_file() and place(root) == local.resolve()


def update_pointer(resource: Resource, source: str, root: Path, local: str | None) -> None:
    """Store where the user's files are now: they may have been moved since they were fetched."""
    if isinstance(resource, InPlace) and source == "real" and local:
        resource.point(root, Path(local))


def content_digest(resource: Resource, local: Path, checksum: Callable[[Path], str] = file_digest) -> str | None:
    """Return a checksum of the names and contents of the user's files, wherever they are and however old they are.

    None if there are no files, or if they are copied and checked when they are fetched.
    """
    if not local.exists() or not isinstance(resource, InPlace):
        return None
    folder = local.parent if local.is_file() else local
    files = sorted(path for path in resource.watched(local) if path.is_file())
    names = ["" if path == local else Path(os.path.relpath(path, folder)).as_posix() for path in files]
    contents = [[name, checksum(path)] for name, path in zip(names, files, strict=True)]
    return digest(json.dumps(contents).encode()) if contents else None
