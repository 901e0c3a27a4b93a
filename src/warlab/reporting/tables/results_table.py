"""Tables: the tidy one for machines, the paper's layout for people."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from warlab.errors import WarlabError
from warlab.reporting.read.results import CELL, published_noise, read_csv
from warlab.reporting.setting import ACCURACY, SETTING, Setting
from warlab.reporting.tables.grid import (
    Cell,
    Grid,
    Orientation,
    Spread,
    explained,
    grid,
    setting_name,
    small_print,
    with_deviation,
)
from warlab.reporting.tables.labels import Labels, latex, latex_method, markdown, markdown_method, markdown_table, name
from warlab.reporting.tables.ranks import rank_rows

MOST_COLUMNS = 8  # methods in one row of a LaTeX table
KEY = (*CELL, "metric")
TIDY = (*KEY, "mean", "std_epochs", "std_runs", "seeds", "published", "difference", "data")


def tidy(
    summary: pd.DataFrame, cells: Iterable[Mapping[str, str]], published: pd.DataFrame, ranks: Sequence[str] = ()
) -> pd.DataFrame:
    """A row for every declared cell, in the order of declaration; empty where nothing was run or published.

    `cells` has dataset, noise, net, method and, where it is not test_accuracy, metric. Numbers are percent;
    difference = ours − published. `ranks` adds rows with the average ranks over these groups of settings.
    """
    table = _declared(cells).merge(summary, on=list(KEY), how="left", validate="one_to_one")
    run = table["mean"].notna()
    table["seeds"] = table["seeds"].where(run).astype("Int64")
    table["data"] = table["data"].fillna("").where(run, "")
    table["published"] = _published_values(table, published)
    rows = rank_rows(table, ranks)
    if len(rows):
        rows["published"] = _published_values(rows, published).where(_ranked_in_paper(table, rows))
        shown = rows.groupby("noise")[["mean", "published"]].transform("any").any(axis=1)  # else nothing but dashes
        table = pd.concat([table, rows[shown]], ignore_index=True).astype({"seeds": "Int64"})
    table["difference"] = table["mean"] - table["published"]
    return table[list(TIDY)]


def read_tidy(path: Path) -> pd.DataFrame:
    """A table that was written as csv, with the types that `tidy` gave it."""
    return read_csv(path, TIDY, text=(*KEY, "data")).astype({"seeds": "Int64"})


def to_markdown(
    table: pd.DataFrame, orientation: Orientation, labels: Labels, caption: str = "", spread: Spread = "std_epochs"
) -> str:
    """The paper's layout of a tidy table as a GitHub Markdown table, with its caption and legend below."""
    layout = grid(table, spread)
    header, *body = _markdown_rows(layout, orientation, labels)
    return "\n".join([markdown_table(header, body), "", markdown(explained(caption, layout)), ""])


def to_latex(
    table: pd.DataFrame,
    orientation: Orientation,
    labels: Labels,
    caption: str = "",
    label: str = "",
    spread: Spread = "std_epochs",
) -> str:
    r"""The same as a LaTeX table environment; needs booktabs and graphicx, no multirow, no siunitx.

    It is shrunk to the width of the line only where it is wider. `label` is for \ref.
    """
    layout = grid(table, spread)
    parts = _parts(layout) if _known(orientation) == "methods_as_columns" else [layout]
    bodies = [_tabular(*_LATEX_LAYOUTS[orientation](part, labels)) for part in parts]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs,graphicx}",
            r"\begin{table}[tbp]",
            r"\centering",
            rf"\caption{{{latex(explained(caption, layout))}}}",
            *([rf"\label{{{label}}}"] if label else []),
            r"\medskip",
            r"\setlength{\tabcolsep}{4.5pt}",
            "\n\\par\\bigskip\n".join(bodies),
            r"\end{table}",
            "",
        ]
    )


def _parts(layout: Grid) -> list[Grid]:
    """A table of many methods in several pieces below each other: in one it could not be read on a page."""
    pieces = -(-len(layout.methods) // MOST_COLUMNS)
    size = -(-len(layout.methods) // max(1, pieces))
    starts = range(0, len(layout.methods), max(1, size))
    return [replace(layout, methods=layout.methods[start : start + size]) for start in starts]


def _tabular(columns: str, body: list[str]) -> str:
    return "\n".join(
        [
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
        ]
    )


def with_quoted(title: str, quoted: Sequence[str], labels: Labels) -> str:
    """The title, and which of the paper's numbers it quotes from others."""
    named = ", ".join(name(labels, "method", method).removesuffix(" (quoted)") for method in quoted)
    quote = "Quoted by the paper from other publications, run neither there nor here"
    return f"{title}. {quote}: {named}" if named else title


def _declared(cells: Iterable[Mapping[str, str]]) -> pd.DataFrame:
    declared = pd.DataFrame([dict(cell) for cell in cells])
    absent = [kind for kind in CELL if kind not in declared]
    if absent:
        raise WarlabError(f"A table needs the {absent[0]} of each of its cells; complete the experiment's entry.")
    if "metric" not in declared:
        declared["metric"] = ACCURACY
    return declared[list(KEY)].drop_duplicates(ignore_index=True)


def _published_values(table: pd.DataFrame, published: pd.DataFrame) -> pd.Series:
    first = published.drop_duplicates(list(KEY)).set_index(list(KEY))["mean"].astype(float)
    keys = table.assign(noise=table["noise"].map(published_noise))[list(KEY)].itertuples(index=False, name=None)
    return pd.Series([first.get(key, np.nan) for key in keys], dtype=float)


def _ranked_in_paper(table: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """Whether the paper has a number in every setting that a row ranks: its ranks say nothing of other data."""
    known = table.groupby([*SETTING, "metric"])["published"].any().reset_index()
    groups = {"all": known, "noisy": known[known["noise"] != "clean"]}
    return rows["noise"].map({group: bool(part["published"].all()) for group, part in groups.items()})


def _known(orientation: Orientation) -> Orientation:
    if orientation not in _LATEX_LAYOUTS:
        raise WarlabError(f"Unknown orientation {orientation!r} of a table; use one of {', '.join(_LATEX_LAYOUTS)}.")
    return orientation


# Markdown


def _markdown_rows(layout: Grid, orientation: Orientation, labels: Labels) -> list[list[str]]:
    methods = {method: markdown_method(labels, method) for method in layout.methods}
    named = _named_settings(layout, labels, markdown)
    if _known(orientation) == "methods_as_columns":
        header = ["dataset", "score" if layout.scores else "noise", *methods.values()]
        return [header] + [
            [dataset, noise, *(_markdown_cell(layout.cell(setting, method)) for method in methods)]
            for setting, dataset, noise in named
        ]
    # Markdown has one line of headings: the dataset stands in its first column only.
    header = ["method", *("<br>".join(filter(None, words)) for _, *words in named)]
    return [header] + [
        [shown, *(_markdown_cell(layout.cell(setting, method)) for setting in layout.settings)]
        for method, shown in methods.items()
    ]


def _markdown_cell(cell: Cell) -> str:
    ours = with_deviation(cell, " ± ") if cell.run else "–"
    ours = (f"**{ours}**" if cell.best else ours) + ("†" if cell.stand_in else "")
    paper = small_print(cell)
    return f"{ours}<br><sub>{paper}</sub>" if paper else ours


def _named_settings(layout: Grid, labels: Labels, escape: Callable[[str], str]) -> list[tuple[Setting, str, str]]:
    """Each setting with the printed names of its dataset, once per dataset, and of its noise."""
    return [
        (setting, escape(name(labels, "dataset", dataset)) if i == 0 else "", escape(shown))
        for dataset, settings in layout.by_dataset()
        for i, setting in enumerate(settings)
        for shown in [setting_name(layout, setting, labels)]
    ]


# LaTeX


def _latex_methods_as_columns(layout: Grid, labels: Labels) -> tuple[str, list[str]]:
    header = [latex_method(labels, method) for method in layout.methods]
    lines = [_latex_row(["Dataset", "Score" if layout.scores else "Noise", *header]), r"\midrule"]
    for i, (setting, dataset, noise) in enumerate(_named_settings(layout, labels, latex)):
        if dataset and i:
            lines.append(r"\addlinespace")
        lines += _latex_pair([dataset, noise], [layout.cell(setting, method) for method in layout.methods])
    return "ll" + "c" * len(header), lines


def _latex_methods_as_rows(layout: Grid, labels: Labels) -> tuple[str, list[str]]:
    groups = layout.by_dataset()
    spans = [(latex(name(labels, "dataset", dataset)), len(settings)) for dataset, settings in groups]
    noises = [latex(setting_name(layout, setting, labels)) for setting in layout.settings]
    lines = [
        _latex_row(["", *(rf"\multicolumn{{{width}}}{{c}}{{{shown}}}" for shown, width in spans)]),
        " ".join(rf"\cmidrule(lr){{{start}-{end}}}" for start, end in _column_ranges(spans)),
        _latex_row(["Method", *noises]),
        r"\midrule",
    ]
    for method in layout.methods:
        cells = [layout.cell(setting, method) for setting in layout.settings]
        lines += _latex_pair([latex_method(labels, method)], cells)
    return "l" + "c" * len(noises), lines


_LATEX_LAYOUTS: dict[str, Callable[[Grid, Labels], tuple[str, list[str]]]] = {
    "methods_as_columns": _latex_methods_as_columns,
    "methods_as_rows": _latex_methods_as_rows,
}


def _column_ranges(spans: Sequence[tuple[str, int]]) -> list[tuple[int, int]]:
    ends = np.cumsum([1, *(width for _, width in spans)]).tolist()
    return [(start + 1, end) for start, end in pairwise(ends)]


def _latex_pair(names: list[str], cells: list[Cell]) -> list[str]:
    """A line with our numbers and, where the paper has any, one in small print below it."""
    ours = _latex_row([*names, *map(_latex_cell, cells)])
    papers = [small_print(cell) for cell in cells]
    if not any(papers):
        return [ours]
    small = [rf"{{\scriptsize {latex(paper)}}}" if paper else "" for paper in papers]
    # The star forbids a page break between the two lines.
    return [ours.replace(r" \\", r" \\*"), _latex_row([""] * len(names) + small) + "[2pt]"]


def _latex_cell(cell: Cell) -> str:
    ours = with_deviation(cell, r" $\pm$ ") if cell.run else "--"
    mark = r"\rlap{$^{\dagger}$}" if cell.stand_in else ""  # takes no width: the numbers stay aligned
    return (rf"\textbf{{{ours}}}" if cell.best else ours) + mark


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
