"""Plain tables of rows, such as layers or hyperparameters, in Markdown and LaTeX, and the PDF of all tables."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warlab.common.files import write_atomic
from warlab.errors import WarlabError
from warlab.reporting.formats import Row, markdown_table, render, value_text
from warlab.reporting.names import escape_latex, escape_markdown, markdown_name

ASSETS = ("reporting/templates/longtable.tex", "reporting/templates/document.tex")  # part of the digest
LINE_WIDTH = 66  # characters in the line of a plain article, in \\scriptsize
LONGEST = 60  # characters of a text that count for the width of its column


def to_markdown(rows: Sequence[Row], columns: Sequence[str], caption: str) -> str:
    body = [[_markdown_cell(key, row.get(key)) for key in columns] for row in rows]
    return "\n".join([markdown_table([*map(escape_markdown, columns)], body), "", escape_markdown(caption), ""])


def _markdown_cell(column: str, value: object) -> str:
    """Return a value as Markdown; a method, or the ratio of two, has subscripts."""
    if column == "method":
        return " / ".join(markdown_name(one) for one in value_text(value).split(" / "))
    return escape_markdown(value_text(value))


def to_latex(rows: Sequence[Row], columns: Sequence[str], caption: str, label: str) -> str:
    """Return a longtable with its heading on every page, never wider than the line; its packages come with every LaTeX.

    \\LTcapwidth, the width of the caption, is also the width of the whole table.
    """
    return render(
        "longtable.tex",
        columns=_columns(rows, columns),
        caption=caption,
        label=label,
        head=[escape_latex(key.capitalize()) for key in columns],
        rows=[[_latex_cell(row.get(key)) for key in columns] for row in rows],
    )


def _columns(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Return columns that share the width: each fits its longest word, the rest goes to those with long texts."""
    texts = {key: [key.capitalize(), *(value_text(row.get(key)) for row in rows)] for key in columns}
    split = re.compile(r"[ _@/+=\u202f]|\.(?=[a-z])").split
    words = {key: max(len(word) for one in texts[key] for word in split(one)) + 2 for key in columns}
    longer = {key: min(LONGEST, max(map(len, texts[key]))) - min(LONGEST, words[key]) for key in columns}
    spare = max(0, LINE_WIDTH - sum(words.values())) / max(1, sum(longer.values()))
    shares = {key: words[key] + spare * longer[key] for key in columns}
    numeric = {key: all(isinstance(row.get(key), int | float) for row in rows) for key in columns}
    side = {key: "left" if numeric[key] else "right" for key in columns}  # the ragged side
    return [
        rf">{{\ragged{side[key]}\arraybackslash}}"
        rf"p{{\dimexpr {shares[key] / sum(shares.values()):.4f}\LTcapwidth-2\tabcolsep\relax}}"
        for key in columns
    ]


def _latex_cell(value: object) -> str:
    """Return a value as LaTeX; names may be broken after any sign in them, and before an @."""
    text = escape_latex(value_text(value)).replace("@", r"\allowbreak{}@")
    return re.sub(r"(\\_|[/+=]|\.(?=[a-z]))", r"\1\\allowbreak{}", text)


def typeset(document: str, pdf: Path) -> None:
    """Write the PDF of a LaTeX document. The smallest Debian package that suffices is texlive-latex-recommended."""
    if shutil.which("pdflatex") is None:
        raise WarlabError("pdflatex not found: install texlive-latex-recommended to make tables.pdf.")
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
