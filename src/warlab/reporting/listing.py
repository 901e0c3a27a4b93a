"""Plain tables of rows, such as layers or hyper-parameters, as Markdown and as LaTeX that may go over pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from warlab.reporting.labels import latex, markdown

Rows = Sequence[Mapping[str, Any]]


def to_markdown(rows: Rows, columns: Sequence[str], caption: str) -> str:
    lines = [columns, ["---"] * len(columns), *([text(row.get(key)) for key in columns] for row in rows)]
    table = [
        "| " + " | ".join(markdown(cell) if n != 1 else cell for cell in line) + " |" for n, line in enumerate(lines)
    ]
    return "\n".join([*table, "", markdown(caption), ""])


def to_latex(rows: Rows, columns: Sequence[str], caption: str, label: str) -> str:
    """A longtable with its heading on every page; needs booktabs and longtable, which every LaTeX has."""
    numeric = [all(isinstance(row.get(key), int | float) for row in rows) for key in columns]
    widths = "".join("r" if number else _width(rows, key) for key, number in zip(columns, numeric, strict=True))
    head = " & ".join(latex(key.capitalize()) for key in columns) + r" \\"
    return "\n".join(
        [
            r"% needs \usepackage{booktabs,longtable}",
            r"{\footnotesize\setlength{\LTcapwidth}{0.9\linewidth}",
            rf"\begin{{longtable}}{{{widths}}}",
            rf"\caption{{{latex(caption)}}}\label{{{label}}}\\",
            r"\toprule",
            head,
            r"\midrule",
            r"\endfirsthead",
            r"\toprule",
            head,
            r"\midrule",
            r"\endhead",
            *(" & ".join(_latex_cell(row.get(key)) for key in columns) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{longtable}}",
            "",
        ]
    )


def _width(rows: Rows, key: str) -> str:
    """A column of long texts is broken into lines."""
    longest = max((len(text(row.get(key))) for row in rows), default=0)
    return "p{7cm}" if longest > 48 else "l"


def _latex_cell(value: Any) -> str:
    shown = latex(text(value))
    return rf"\raggedright {shown}\arraybackslash" if len(shown) > 60 else shown


def text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(text, value))
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}".replace(",", "\u202f")
    return f"{value:g}" if isinstance(value, float) else str(value)
