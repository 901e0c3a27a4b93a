"""Phrases that messages share."""

import difflib
from collections.abc import Iterable
from typing import Any


def suggest(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the closest known name, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, 1)
    return f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(names) or 'none'}."


def several(number: float, noun: str) -> str:
    """Return a number with its noun: "1 setting", "3 settings"."""
    return f"{number:g} {noun}{'s' * (number != 1)}"


def short(value: Any) -> str:
    """Return the repr of a value, cut to 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
