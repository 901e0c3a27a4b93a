"""Phrases that messages share."""

import difflib
from collections.abc import Iterable
from typing import Any


def suggest(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the closest known one, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, 1)
    return f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(names) or 'none'}."


def several(number: float, noun: str) -> str:
    """ "1 setting", "3 settings" """
    return f"{number:g} {noun}{'s' * (number != 1)}"


def short(value: Any) -> str:
    """A value as Python writes it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
