"""All tables in one PDF, by a real LaTeX; its smallest useful Debian package is texlive-latex-recommended."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warlab.common.files import write_atomic
from warlab.errors import WarlabError
from warlab.reporting.tables.labels import latex

_HEAD = r"""\documentclass[10pt]{article}
\usepackage[a4paper,landscape,margin=1.5cm]{geometry}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs,graphicx,longtable,array}
\pdfinfoomitdate=1 \pdftrailerid{} \pdfsuppressptexinfo=15
% tables stand from the top of the page down, as many as fit
\setcounter{topnumber}{9}\setcounter{totalnumber}{9}
\renewcommand{\topfraction}{0.99}\renewcommand{\textfraction}{0}\renewcommand{\floatpagefraction}{0.5}
\makeatletter\setlength{\@fptop}{0pt}\setlength{\@fpsep}{1cm}\setlength{\@fpbot}{0pt plus 1fil}\makeatother
"""


def document(tables: Sequence[str], title: str) -> str:
    """A LaTeX document of all tables in their order; one that runs over pages begins on a new one."""
    body = "\n".join(f"\\clearpage\n{table}" if "longtable" in table else table for table in tables)
    heading = f"\\pagestyle{{myheadings}}\\markright{{{latex(title)}}}"
    return f"{_HEAD}{heading}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"


def typeset(text: str, pdf: Path) -> None:
    """Write the PDF of a document; what LaTeX complains of is told in one sentence."""
    if shutil.which("pdflatex") is None:
        raise WarlabError("There is no pdflatex here: install texlive-latex-recommended; the .tex files stand.")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tables.tex").write_text(text)
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
        for _ in range(2):  # a longtable knows its widths after the first time
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=300)
            if done.returncode:
                complaint = next((line for line in done.stdout.splitlines() if line.startswith("!")), "no message")
                raise WarlabError(f"LaTeX cannot set the tables ({complaint}); look at their .tex files.")
        content = (Path(folder) / "tables.pdf").read_bytes()
    write_atomic(pdf, lambda file: file.write(content))
