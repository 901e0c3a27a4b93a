"""Plain tables of rows, such as layers or hyper-parameters, as Markdown and as LaTeX that may go over pages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from warlab.reporting.tables.labels import latex, markdown, markdown_name, markdown_table

Row = Mapping[str, object]  # column → what stands in it
WIDEST = "500pt"  # of a table in LaTeX; a narrower page has it as wide as its line
ROOM = 66  # characters in the line of a plain article, in \\scriptsize
LONGEST = 60  # characters of a text that count for the width of its column


def hyperparameter_rows(numbers: Mapping[str, Any]) -> list[Row]:
    """hyperparameters.yaml (section → name → key → value, source) as rows; a dataset in `for` has its own."""
    rows: list[Row] = []
    for section in ("training", "nets", "methods", "costs", "noise"):
        for owner, settings in numbers.get(section, {}).items():
            for key, entry in settings.items():
                for dataset, own in {"": {}, **entry.get("for", {})}.items():
                    told = {"unit": "", **entry, **own}
                    row = {"section": section, "of": owner, "setting": key, "dataset": dataset}
                    rows.append(row | {kind: told[kind] for kind in ("value", "unit", "source")})
    return rows


def to_markdown(rows: Sequence[Row], columns: Sequence[str], caption: str) -> str:
    body = [[_markdown_cell(key, row.get(key)) for key in columns] for row in rows]
    return "\n".join([markdown_table([*map(markdown, columns)], body), "", markdown(caption), ""])


def _markdown_cell(column: str, value: object) -> str:
    """A method, or the ratio of two, has subscripts."""
    if column == "method":
        return " / ".join(markdown_name(one) for one in text(value).split(" / "))
    return markdown(text(value))


def to_latex(rows: Sequence[Row], columns: Sequence[str], caption: str, label: str) -> str:
    """A longtable with its heading on every page, never wider than the line; its packages come with every LaTeX.

    \\LTcapwidth, the width of the caption, is the width of the whole table, too.
    """
    head = " & ".join(latex(key.capitalize()) for key in columns) + r" \\"
    return "\n".join(
        [
            r"% needs \usepackage{array,booktabs,longtable}",
            r"{\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\setlength{{\LTcapwidth}}{{\ifdim\linewidth<{WIDEST} \linewidth\else {WIDEST}\fi}}",
            rf"\begin{{longtable}}{{{''.join(_columns(rows, columns))}}}",
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


def _columns(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Columns that share the width: each has room for its longest word, the rest goes to those with long texts."""
    texts = {key: [key.capitalize(), *(text(row.get(key)) for row in rows)] for key in columns}
    words = {key: max(len(word) for one in texts[key] for word in re.split(r"[ _@\u202f]", one)) + 2 for key in columns}
    longer = {key: min(LONGEST, max(map(len, texts[key]))) - min(LONGEST, words[key]) for key in columns}
    spare = max(0, ROOM - sum(words.values())) / max(1, sum(longer.values()))
    shares = {key: words[key] + spare * longer[key] for key in columns}
    numeric = {key: all(isinstance(row.get(key), int | float) for row in rows) for key in columns}
    return [_column(shares[key] / sum(shares.values()), numeric[key]) for key in columns]


def _column(share: float, right: bool) -> str:
    flush = r"\raggedleft" if right else r"\raggedright"
    return rf">{{{flush}\arraybackslash}}p{{\dimexpr {share:.4f}\LTcapwidth-2\tabcolsep\relax}}"


def _latex_cell(value: object) -> str:
    """Names may be broken behind an underscore and before an @."""
    shown = latex(text(value)).replace(r"\_", r"\_\allowbreak{}")
    return shown.replace("@", r"\allowbreak{}@")


def text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(text, value))
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}".replace(",", "\u202f")
    return f"{value:g}" if isinstance(value, float) else str(value)
