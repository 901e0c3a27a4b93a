"""Printed names of ids, and the special characters of each output format.

`labels` maps kind → id → text, with the kinds "dataset", "noise", "net", "method" and "metric"; an id without a text is
printed as it is. In a method's text what follows capitals and an underscore is a subscript, as in the paper: "WAR_w2v".
"""

import re
from collections.abc import Mapping

from warlab.ids import ColumnId, MethodId

Labels = Mapping[str, Mapping[str, str]]
PROPOSED = "war_w2v"  # the variant in the paper's main table
BASELINE = "cce"  # what methods are compared with

_KNOWN = {
    "dataset": {"all": "Average rank"},
    "noise": {"all": "all settings", "noisy": "noisy settings"},
    "metric": {
        "test_accuracy": "test accuracy",
        "average_rank": "average rank",
        "overall_accuracy": "overall accuracy",
        "f1_average": "F1, average",
        "f1_buildings": "F1 buildings",
        "f1_cars": "F1 cars",
        "f1_impervious_surfaces": "F1 impervious surfaces",
        "f1_low_vegetation": "F1 low vegetation",
        "f1_trees": "F1 trees",
    },
}
_GREEK = {"beta": "β", "eps": "ε", "epsilon": "ε", "lambda": "λ", "lam": "λ"}
_LETTER_NAMES = (
    "alpha beta gamma delta zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_GREEK_LETTERS = dict(zip("αβγδζηθικλμνξπρστυχψωΓΔΘΛΞΠΣΥΦΨΩ", _LETTER_NAMES.split(), strict=True))
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # What pdflatex has no glyph for in the default encoding.
    "ε": r"$\varepsilon$",
    "φ": r"$\varphi$",
    **{letter: f"$\\{name}$" for letter, name in _GREEK_LETTERS.items()},
    "±": r"$\pm$",
    "×": r"$\times$",
    "→": r"$\rightarrow$",
    "−": r"$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "†": r"$\dagger$",
    "\u202f": "\\,",
    "\u00a0": "~",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~])")


def display_name(labels: Labels, kind: str, identifier: str) -> str:
    """Return the printed name of an id. The settings that a method changes follow its name, "WAR_w2v, β = 5", and so
    does the noise of a column: "cce@clean" is "CCE (clean)"."""
    known = {**_KNOWN.get(kind, {}), **labels.get(kind, {})}
    if identifier in known or kind != "method":
        return known.get(identifier, identifier)
    column = ColumnId.parse(identifier)
    if column.noise:
        return f"{display_name(labels, 'method', column.method)} ({display_name(labels, 'noise', column.noise)})"
    method = MethodId.parse(identifier)
    words = [f"{_GREEK.get(key, key)} = {value}" for key, value in method.changed.items()]
    return ", ".join([known.get(method.base, method.base), *words])


def split_subscript(text: str) -> tuple[str, str, str]:
    """Split a method's name into text, subscript and rest: "WAR_w2v, β = 5" → ("WAR", "w2v", ", β = 5")."""
    match = re.fullmatch(r"([A-Z][A-Z0-9]+)_([a-z0-9][A-Za-z0-9.-]*)((?:,| \().*)?", text)
    return (match[1], match[2], match[3] or "") if match else (text, "", "")


def escape_latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def escape_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def latex_method(labels: Labels, identifier: str) -> str:
    head, subscript, rest = map(escape_latex, split_subscript(display_name(labels, "method", identifier)))
    return f"{head}\\textsubscript{{{subscript}}}{rest}" if subscript else head


def markdown_method(labels: Labels, identifier: str) -> str:
    return markdown_name(display_name(labels, "method", identifier))


def markdown_name(printed: str) -> str:
    head, subscript, rest = map(escape_markdown, split_subscript(printed))
    return f"{head}<sub>{subscript}</sub>{rest}" if subscript else head


def plot_text(text: str) -> str:
    """Return any name for matplotlib, in which two dollar signs would enclose a formula."""
    return text.replace("$", r"\$")


def plot_method(labels: Labels, identifier: str) -> str:
    """Return the printed name of a method for matplotlib's mathtext."""
    head, subscript, rest = map(plot_text, split_subscript(display_name(labels, "method", identifier)))
    hyphenated = subscript.replace("-", "\N{HYPHEN}")  # mathtext would print a minus sign
    return f"{head}$_{{\\mathrm{{{hyphenated}}}}}${rest}" if subscript else head
