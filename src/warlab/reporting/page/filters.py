"""Filters and tests of the report's templates."""

import base64
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup, escape

from warlab.common import progress
from warlab.errors import WarlabError
from warlab.reporting.tables import labels as names
from warlab.reporting.tables.labels import Labels


def short(value: object) -> str:
    """A number as a person would write it; everything else as it is."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, Mapping):
        return "; ".join(f"{key} → {short(list(targets)) or 'stays'}" for key, targets in value.items())
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3g}".replace("e-0", "e-").replace("-", "−")
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def duration(seconds: float) -> str:
    if math.isnan(seconds):
        return "–"
    return progress.duration(seconds) if round(seconds) >= 60 else f"{seconds:.1f} s"


def pretty(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str)


def data_uri(png: Path) -> str:
    """The picture itself; as SVG where there is one that is smaller, which is sharp at any size."""
    content, kind, svg = _png(png), "png", Path(png).with_suffix(".svg")
    if svg.is_file() and svg.stat().st_size < len(content):
        content, kind = svg.read_bytes(), "svg+xml"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def pixel_width(png: Path) -> int:
    return int.from_bytes(_png(png)[16:20])  # in the header chunk that every PNG begins with


def method(labels: Labels, identifier: str) -> Markup:
    """The printed name of a method, with its subscript."""
    return _subscripted(names.name(labels, "method", identifier))


def with_methods(labels: Labels, text: str) -> Markup:
    """A sentence in which the names of methods get their subscripts."""
    shown = {str(escape(label)): _subscripted(label) for label in labels.get("method", {}).values()}
    longest_first = sorted(shown, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(label)}(?!\w)" for label in longest_first)
    plain = str(escape(text))
    return Markup(re.sub(pattern, lambda match: str(shown[match[0]]), plain) if pattern else plain)


def _subscripted(label: str) -> Markup:
    head, subscript, rest = names.parts(label)
    return Markup("{}<sub>{}</sub>{}").format(head, subscript, rest) if subscript else escape(head)


def _png(path: Path) -> bytes:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise WarlabError(f"The figure {path} cannot be read ({error.strerror}); draw it first.") from error
    if not content.startswith(b"\x89PNG"):
        raise WarlabError(f"{path} is not a PNG file; delete it and draw the figure again.")
    return content
