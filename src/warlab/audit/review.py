"""review.html: one page, in one file, on which a person decides about each suspect. It makes no request.

The pictures are in the page. Its policy allows its own script and style, by their checksums, and pictures as data, and
nothing else; names of files and classes reach it as JSON only. decisions.py reads what review.js exports.
"""

import base64
import hashlib
import html
import io
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warlab.audit.report import AuditResult
from warlab.common.files import digest, write_text
from warlab.common.progress import Progress
from warlab.common.wording import printable
from warlab.errors import WarlabError

if TYPE_CHECKING:
    from PIL.Image import Image

ASSETS = ("audit/review.html", "audit/review.css", "audit/review.js")  # part of the digest
PAGE = "review.html"
FEWEST = 50  # suspects on a page, if there are so many images
MOST = 5000  # suspects on a page
BYTES = 30_000_000  # of all pictures
BYTES_PER_PIXEL = 0.18  # of a photograph as WebP
SIDES = (128, 384)  # pixels
POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
SMALL = 96  # images up to this side are stored without loss


@dataclass(frozen=True)
class Suspects:
    """What a person is shown, one entry per suspect, the most suspicious first. `labels` and `suggested` are indices of
    `classes`; `likely` marks those that are likely wrong."""

    files: Sequence[str]
    labels: Sequence[int] | np.ndarray
    suggested: Sequence[int] | np.ndarray
    scores: Sequence[float] | np.ndarray
    classes: Sequence[str]
    likely: Sequence[bool] | np.ndarray | None = None

    def __post_init__(self) -> None:
        lengths = {len(column) for column in (self.files, self.labels, self.suggested, self.scores)}
        if len(lengths) > 1 or (self.likely is not None and len(self.likely) not in lengths):
            raise WarlabError(
                f"Suspects need one file, label, suggestion and score each, not {sorted(lengths)} of them."
            )
        if len(set(map(printable, self.files))) < len(self.files):
            raise WarlabError("Two suspects have the same file name; name each image, for example by its number.")
        if len(set(map(printable, self.classes))) < len(self.classes):
            raise WarlabError("Two classes have the same name; give each its own, by which it is decided about.")

    @classmethod
    def of(cls, result: AuditResult) -> "Suspects":
        """Return the likely wrong labels and those that the upper estimate includes, FEWEST at least."""
        shown = result.likely_wrong | (np.arange(len(result.files)) < max(result.at_most, FEWEST))
        (index,) = np.nonzero(shown)
        return cls(
            files=[result.files[k] for k in index],
            labels=result.labels[index],
            suggested=result.suggested[index],
            scores=result.score[index],
            classes=result.classes,
            likely=result.likely_wrong[index],
        )

    def first(self, most: int) -> "Suspects":
        columns = {
            name: column[:most] for name, column in vars(self).items() if name != "classes" and column is not None
        }
        return Suspects(classes=self.classes, **columns)


def write_review(
    path: Path, suspects: Suspects, picture: Callable[[int], Any], title: str, summary: str = "", command: str = ""
) -> None:
    """Write the page. `picture(k)` returns the image of suspect k: a Pillow image, an array, or None if there is none.
    `summary` is a sentence below the title, `command` says what to do with the decisions."""
    total, suspects = len(suspects.files), suspects.first(MOST)
    if total > MOST:
        summary = f"{summary} The page has the first {MOST} of {total} suspects.".strip()
    pictures = list(_thumbnails(picture, len(suspects.files)))
    write_text(path, render(suspects, pictures, title, summary, command))


def review_folder(path: Path, result: AuditResult, command: str) -> None:
    """Write the page of an audited folder, with thumbnails of its images."""
    from warlab.data.formats.image_file import opened, upright

    suspects = Suspects.of(result)

    def picture(number: int) -> "Image | None":
        file = result.folder / suspects.files[number]
        try:
            with opened(file) as image:
                image.draft("RGB", (SIDES[1], SIDES[1]))  # decode a JPEG at about the size that is needed
                return upright(image, file).convert("RGB")
        except WarlabError:  # it was there when it was judged
            return None

    n = len(result.files)
    summary = (
        f"Up to about {result.at_most} of {n} labels look wrong; {int(result.likely_wrong.sum())} are likely wrong."
    )
    write_review(path, suspects, picture, result.listing or result.folder.resolve().name, summary, command)


def render(suspects: Suspects, pictures: Sequence[bytes | None], title: str, summary: str, command: str) -> str:
    """Return the page as text; `pictures` are WebP files."""
    classes = list(map(printable, suspects.classes))
    script, style = (Path(__file__).with_name(f"review.{kind}").read_text() for kind in ("js", "css"))
    data: dict[str, Any] = {"rows": _rows(suspects, pictures), "classes": classes, "command": command}
    identity = json.dumps([classes, [row[:3] for row in data["rows"]]])
    data["key"] = f"warlab-review-{digest(identity.encode())[:24]}"
    parts = {
        "policy": f"{POLICY}; script-src '{_checksum(script)}'; style-src '{_checksum(style)}'",
        "title": html.escape(printable(title)),
        "summary": html.escape(printable(summary)),
        "command": html.escape(printable(command)),
        "style": style,
        "script": script,
        "data": json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
    }
    first, *rest = Path(__file__).with_name("review.html").read_text().split("{{")
    ends = (part.split("}}", 1) for part in rest)  # names in braces in a value are left alone
    return first + "".join(parts[name] + text for name, text in ends)


def _rows(suspects: Suspects, pictures: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
    """Return what review.js reads: file, label, suggested, score, likely, picture."""
    likely = suspects.likely if suspects.likely is not None else [False] * len(suspects.files)
    numbers = zip(suspects.labels, suspects.suggested, suspects.scores, likely, strict=True)
    encoded = ["" if one is None else base64.b64encode(one).decode() for one in pictures]
    return [
        (printable(file), int(label), int(other), float(score), int(mark), picture)
        for file, (label, other, score, mark), picture in zip(suspects.files, numbers, encoded, strict=True)
    ]


def _checksum(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _thumbnails(picture: Callable[[int], Any], n: int) -> Iterator[bytes | None]:
    """Yield the pictures, so large that all of them are about BYTES."""
    side = int(np.clip(np.sqrt(BYTES / max(n, 1) / BYTES_PER_PIXEL), *SIDES))
    progress = Progress("picture {} of {}", n)
    with ThreadPoolExecutor() as pool:  # Pillow decodes outside of the lock
        for done, one in enumerate(pool.map(lambda k: thumbnail(picture(k), side), range(n)), 1):
            progress(done)
            yield one


def thumbnail(image: Any, side: int) -> bytes | None:
    """Return an image as WebP, at most `side` pixels wide and high."""
    if image is None:
        return None
    from PIL import Image

    small = (image if isinstance(image, Image.Image) else from_array(image)).convert("RGB")
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", lossless=max(small.size) <= SMALL, quality=75)
    return buffer.getvalue()


def from_array(values: Any) -> "Image":
    """Return an array or tensor as an image: bytes, or numbers of which the least is black and the greatest is white;
    height × width, or with one, three or more channels first or last."""
    from PIL import Image

    array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    if array.ndim == 3 and array.shape[0] < min(array.shape[1:]):
        array = array.transpose(1, 2, 0)
    if array.ndim == 3:
        array = array[..., :3] if array.shape[2] >= 3 else array[..., 0]
    if array.ndim != 2 + (array.shape[2:] == (3,)) or not array.size:
        raise WarlabError(f"An image is height × width numbers, or three such channels, not {np.shape(values)}.")
    if array.dtype != np.uint8:
        array = array.astype(np.float64)
        least, most = np.nanmin(array), np.nanmax(array)
        array = np.nan_to_num((array - least) / max(most - least, 1e-12) * 255).astype(np.uint8)
    return Image.fromarray(np.ascontiguousarray(array))
