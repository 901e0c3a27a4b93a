"""Markdown and LaTeX: plain tables of rows, such as layers or hyper-parameters, and the templates of all documents."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from warlab.common.files import write_atomic
from warlab.errors import WarlabError
from warlab.reporting.tables.labels import latex, markdown, markdown_name

ASSETS = ("reporting/templates/*.tex",)  # part of the fingerprint of every job that writes LaTeX
ROOM = 66  # characters in the line of a plain article, in \\scriptsize
LONGEST = 60  # characters of a text that count for the width of its column
Row = Mapping[str, object]  # column → what stands in it


def render(template: str, **values: object) -> str:
    """A file of reporting/templates, filled in. Its marks are <<value>>, <% statement %> and <# comment #>."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        loader=PackageLoader("warlab", "reporting/templates"),
    )
    environment.filters |= {"latex": latex, "markdown": markdown}
    return environment


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> str:
    """A table whose cells are escaped already; the columns in `right` are aligned to the right."""
    rule = ["---:" if column in right else "---" for column in header]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *rows])


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
    return render(
        "longtable.tex",
        columns=_columns(rows, columns),
        caption=caption,
        label=label,
        head=[latex(key.capitalize()) for key in columns],
        rows=[[_latex_cell(row.get(key)) for key in columns] for row in rows],
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
    """Names may be broken after an underscore and before an @."""
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


def hyperparameter_rows(numbers: Mapping[str, Any]) -> list[Row]:
    """hyperparameters.yaml (section → name → key → value, source) as rows; a dataset in `for` has a row of its own."""
    rows: list[Row] = []
    for section in ("training", "nets", "methods", "costs", "noise"):
        for owner, settings in numbers.get(section, {}).items():
            for key, entry in settings.items():
                for dataset, changes in {"": {}, **entry.get("for", {})}.items():
                    shown = {"unit": "", **entry, **changes}
                    row = {"section": section, "of": owner, "setting": key, "dataset": dataset}
                    rows.append(row | {kind: shown[kind] for kind in ("value", "unit", "source")})
    return rows


def typeset(document: str, pdf: Path) -> None:
    """Write the PDF of a LaTeX document. The smallest Debian package that suffices is texlive-latex-recommended."""
    if shutil.which("pdflatex") is None:
        raise WarlabError("There is no pdflatex here: install texlive-latex-recommended; the .tex files stand.")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tables.tex").write_text(document)
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
        for _ in range(2):  # a longtable knows its widths after the first time
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=300)
            if done.returncode:
                complaint = next((line for line in done.stdout.splitlines() if line.startswith("!")), "no message")
                raise WarlabError(f"LaTeX cannot set the tables ({complaint}); look at their .tex files.")
        content = (Path(folder) / "tables.pdf").read_bytes()
    write_atomic(pdf, lambda file: file.write(content))
