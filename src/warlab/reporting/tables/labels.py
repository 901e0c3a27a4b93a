"""What an id is called in print, and the special characters of each output format.

`labels` is a plain dict of dicts, kind → id → text, with the kinds "dataset", "noise", "net", "method" and
"metric"; an id without a text is printed as it is. In a method's text what follows capitals and an underscore
is a subscript, as in the paper: "WAR_w2v".
"""

import re
from collections.abc import Mapping

Labels = Mapping[str, Mapping[str, str]]

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
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # What pdflatex has no glyph for in the default encoding.
    "β": r"$\beta$",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
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


def name(labels: Labels, kind: str, identifier: str) -> str:
    """The printed name of an id; overrides of a method follow it: "WAR_w2v, β = 5". So does a noise of its own:
    "cce@clean" is "CCE (clean)"."""
    known = {**_KNOWN.get(kind, {}), **labels.get(kind, {})}
    if identifier in known:
        return known[identifier]
    method, at, noise = identifier.partition("@")
    if at and kind == "method":
        return f"{name(labels, 'method', method)} ({name(labels, 'noise', noise)})"
    base, *overrides = identifier.split("+") if kind == "method" else [identifier]
    settings = [setting.partition("=") for setting in overrides]
    words = [f"{_GREEK.get(key, key)} = {value}" for key, _, value in settings]
    return ", ".join([known.get(base, base), *words])


def parts(text: str) -> tuple[str, str, str]:
    """A method's name as text, subscript, rest: "WAR_w2v, β = 5" → ("WAR", "w2v", ", β = 5")."""
    match = re.fullmatch(r"([A-Z][A-Z0-9]+)_([a-z0-9][A-Za-z0-9.-]*)((?:,| \().*)?", text)
    return (match[1], match[2], match[3] or "") if match else (text, "", "")


def latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def latex_method(text: str) -> str:
    head, subscript, rest = map(latex, parts(text))
    return f"{head}\\textsubscript{{{subscript}}}{rest}" if subscript else head


def markdown_method(text: str) -> str:
    head, subscript, rest = map(markdown, parts(text))
    return f"{head}<sub>{subscript}</sub>{rest}" if subscript else head


def plot_text(text: str) -> str:
    """Any name for matplotlib, in which two dollar signs would enclose a formula."""
    return text.replace("$", r"\$")


def plot_method(text: str) -> str:
    """For matplotlib's mathtext; a dollar sign in a name would open a formula."""
    head, subscript, rest = (part.replace("$", r"\$") for part in parts(text))
    hyphenated = subscript.replace("-", "\N{HYPHEN}")  # mathtext would print a minus sign
    return f"{head}$_{{\\mathrm{{{hyphenated}}}}}${rest}" if subscript else head
