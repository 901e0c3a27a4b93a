"""Formulas of docstrings in the documentation: `.. math::` becomes MathML, which browsers draw without scripts.

An extension of griffe, which reads the docstrings for mkdocstrings; runs in .venv-docs.
"""

import re
import textwrap
from typing import Any

import griffe  # type: ignore[import-not-found]
from latex2mathml.converter import convert  # type: ignore[import-not-found]

_BLOCK = re.compile(r"^(?P<indent> *)\.\. math::(?P<first>[^\n]*)\n(?P<rest>(?:(?P=indent) +\S[^\n]*\n|[ ]*\n)*)", re.M)


def with_mathml(text: str) -> str:
    """The text with every math directive replaced by one line of MathML."""
    return _BLOCK.sub(_replacement, text + "\n")


def _replacement(match: re.Match[str]) -> str:
    formula = " ".join((match["first"] + "\n" + textwrap.dedent(match["rest"])).split())
    return f'\n{match["indent"]}<div class="formula">{convert(formula, display="block")}</div>\n\n'


class Formulas(griffe.Extension):  # type: ignore[misc]
    """Called by griffe for every class, function and module that it has read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and ".. math::" in obj.docstring.value:
            obj.docstring.value = with_mathml(obj.docstring.value)
