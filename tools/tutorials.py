"""Run the tutorials of docs/tutorials and write each as a Markdown page with its outputs.

    python tools/tutorials.py docs/tutorials

A tutorial is a Python file in percent format: `# %%` begins a cell of code, `# %% [markdown]` one of text in comments.
The cells of a file run in one namespace. The output and the figures of a cell follow it.
"""

import argparse
import contextlib
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MARK = re.compile(r"^# %%(?P<kind> \[markdown\])?[^\n]*\n", re.MULTILINE)
DPI = 110


@dataclass(frozen=True)
class Cell:
    is_text: bool
    source: str


def cells(text: str) -> Iterator[Cell]:
    marks = list(_MARK.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        yield Cell(mark["kind"] is not None, text[mark.end() : end].strip("\n"))


def page(path: Path, out: Path) -> str:
    """The tutorial as Markdown; its figures are written into `out`."""
    names: dict[str, Any] = {"__name__": "__main__"}
    parts = [_text(cell) if cell.is_text else _ran(cell, names, path, out) for cell in cells(path.read_text())]
    return "\n\n".join([*parts, f"[This page as a Python file]({path.name}), written by `make docs`."]) + "\n"


def _text(cell: Cell) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in cell.source.splitlines())


def _ran(cell: Cell, names: dict[str, Any], path: Path, out: Path) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(cell.source, str(path), "exec"), names)
    shown = [f"```python\n{cell.source}\n```"]
    if printed.getvalue():
        shown.append(f"```text\n{printed.getvalue().rstrip()}\n```")
    return "\n\n".join([*shown, *_figures(path.stem, out)])


def _figures(stem: str, out: Path) -> Iterator[str]:
    """Save and close all open figures."""
    import matplotlib.pyplot as plt

    for number in plt.get_fignums():
        name = f"{stem}_{len(list(out.glob(f'{stem}_*.png'))) + 1}.png"
        plt.figure(number).savefig(out / name, dpi=DPI)
        plt.close(number)
        yield f"![Figure of the cell above]({name})"


def build(path: Path, out: Path) -> Path:
    """Write the page of one tutorial into `out`."""
    for old in out.glob(f"{path.stem}_*.png"):
        old.unlink()
    target = out / f"{path.stem}.md"
    target.write_text(page(path, out))
    return target


def main() -> None:
    os.environ.setdefault("MPLBACKEND", "agg")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for path in sorted(parser.parse_args().folder.glob("*.py")):
        print(f"Running {path.name} ...", flush=True)
        build(path, path.parent)


if __name__ == "__main__":
    main()
