"""Phrases that messages share."""

import difflib
import os
from collections.abc import Iterable
from typing import Any

CONTROL = {number: f"\\x{number:02x}" for number in (*range(32), *range(127, 160))}
MOST = 100  # names in a message


def suggest(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the closest known name, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, 1)
    shown = ", ".join([*names[:MOST], "…"] if len(names) > MOST else names)
    return f"did you mean {close[0]!r}?" if close else f"choose from {shown or 'none'}."


def several(number: float, noun: str) -> str:
    """Return a number with its noun: "1 setting", "3 settings"."""
    return f"{number:g} {noun}{'s' * (number != 1)}"


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def printable(text: str | os.PathLike[str]) -> str:
    """Return text or a path without the bytes that are not UTF-8, which names of files may have; they become \\xe9."""
    return os.fsdecode(text).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def for_terminal(text: str | os.PathLike[str]) -> str:
    """Return printable text in which control characters are escaped: in the name of a file they would reach the
    terminal as commands."""
    return printable(text).translate(CONTROL)
