"""Tables of results: tidy for programs, in the paper's layout for people."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from warlab.errors import WarlabError
from warlab.reporting.formats import markdown_table, render
from warlab.reporting.names import Labels, display_name, escape_latex, escape_markdown, latex_method, markdown_method
from warlab.reporting.read.csv_rows import read_csv
from warlab.reporting.read.results import ACCURACY, CELL, RANK, SETTING, Scenario, kind_of_data, published_noise
from warlab.reporting.stats import average_ranks
from warlab.reporting.tables.grid import (
    RANK_DIGITS,
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

Escape = Callable[[str], str]  # of a text that may have special characters
ASSETS = ("reporting/templates/results.tex",)  # part of the digest
MOST_COLUMNS = 8  # methods in one row of a LaTeX table
KEY = (*CELL, "metric")
TIDY = (*KEY, "mean", "std_epochs", "std_runs", "seeds", "published", "difference", "data")


def tidy(
    summary: pd.DataFrame,
    cells: Sequence[Sequence[str]],
    published: pd.DataFrame,
    ranks: Sequence[str] = (),
    metrics: Sequence[str] = (ACCURACY,),
) -> pd.DataFrame:
    """A row for every metric of every declared cell (dataset, noise, net, method), in the order of declaration, with
    empty numbers if nothing was run or published.

    Numbers are percent; difference = ours − published. `ranks` adds rows with the average ranks over these groups of
    settings.
    """
    declared = pd.DataFrame({"metric": metrics}).merge(pd.DataFrame(cells, columns=list(CELL)), how="cross")
    table = declared.drop_duplicates().merge(summary, on=list(KEY), how="left", validate="one_to_one")
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
    """A tidy table from its CSV file, with the types that `tidy` gave it."""
    return read_csv(path, TIDY, text=(*KEY, "data")).astype({"seeds": "Int64"})


def to_markdown(
    table: pd.DataFrame, orientation: Orientation, labels: Labels, caption: str = "", spread: Spread = "std_epochs"
) -> str:
    """The paper's layout of a tidy table as a GitHub Markdown table, with its caption and legend below."""
    layout = grid(table, spread)
    rows = _body(layout, orientation, labels, escape_markdown, markdown_method)
    body = [[*names, *map(_markdown_cell, cells)] for names, cells in rows]
    header = _markdown_header(layout, orientation, labels)
    return "\n".join([markdown_table(header, body), "", escape_markdown(explained(caption, layout)), ""])


def to_latex(
    table: pd.DataFrame,
    orientation: Orientation,
    labels: Labels,
    caption: str = "",
    label: str = "",
    spread: Spread = "std_epochs",
) -> str:
    r"""The same as a LaTeX table environment; needs booktabs and graphicx, no multirow, no siunitx.

    It is shrunk to the width of the line if it is wider. `label` is for \ref.
    """
    layout = grid(table, spread)
    parts = _parts(layout) if orientation == "methods_as_columns" else [layout]
    bodies = [_tabular(part, orientation, labels) for part in parts]
    return render("results.tex", caption=explained(caption, layout), label=label, parts=bodies)


def with_quoted(title: str, quoted: Sequence[str], labels: Labels) -> str:
    """The title, and the methods whose numbers the paper quotes from other publications."""
    named = ", ".join(display_name(labels, "method", method).removesuffix(" (quoted)") for method in quoted)
    quote = "Quoted by the paper from other publications, run neither there nor here"
    return f"{title}. {quote}: {named}" if named else title


def _published_values(table: pd.DataFrame, published: pd.DataFrame) -> pd.Series:
    first = published.drop_duplicates(list(KEY)).set_index(list(KEY))["mean"].astype(float)
    keys = table.assign(noise=table["noise"].map(published_noise))[list(KEY)].itertuples(index=False, name=None)
    return pd.Series([first.get(key, np.nan) for key in keys], dtype=float)


def _ranked_in_paper(table: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """Whether the paper has a number in every setting that a row ranks; else its ranks are over other settings."""
    known = table.groupby([*SETTING, "metric"])["published"].any().reset_index()
    groups = {"all": known, "noisy": known[known["noise"] != "clean"]}
    return rows["noise"].map({group: bool(part["published"].all()) for group, part in groups.items()})


# Average ranks


def ranks(table: pd.DataFrame) -> pd.Series:
    """The average rank of each method over all settings of a tidy table, by its numbers as printed: 1 is the highest.

    Equal numbers share their mean rank; the paper gives the better rank to the first of them. If a cell is missing,
    there are no ranks, because an average over the remaining cells would compare different settings.
    """
    printed = table.assign(mean=table["mean"].astype(float).round(2))
    methods = list(dict.fromkeys(table["method"]))
    # no pivot_table(dropna=False): it would add the settings that a full product of the others had
    numbers = printed.set_index([*SETTING, "metric", "method"])["mean"].unstack("method").reindex(columns=methods)
    complete = len(numbers) > 0 and not numbers.isna().any(axis=None)
    return pd.Series(average_ranks(numbers.to_numpy()).round(RANK_DIGITS) if complete else np.nan, index=methods)


def rank_rows(table: pd.DataFrame, groups: Iterable[str]) -> pd.DataFrame:
    """Tidy rows of the dataset "all" whose noise is the group: all settings, or the noisy ones.

    Without clean settings both groups are the same and only the noisy one is shown.
    """
    noisy = table[table["noise"] != "clean"]
    parts = {"all": table if len(noisy) < len(table) else table.head(0), "noisy": noisy}
    frames = [_rank_rows(parts[group], group) for group in groups if len(parts[group])]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _rank_rows(part: pd.DataFrame, group: str) -> pd.DataFrame:
    nets = set(part["net"])
    average = ranks(part)
    rows = pd.DataFrame({"method": average.index, "mean": average.to_numpy(float)})
    run = rows["mean"].notna().all()
    return rows.assign(
        dataset="all",
        noise=group,
        net=nets.pop() if len(nets) == 1 else "all",
        metric=RANK,
        seeds=part["seeds"].min() if run else None,
        data=kind_of_data(part["data"]) if run else "",
    )


# The paper's layout


def _body(
    layout: Grid, orientation: Orientation, labels: Labels, escape: Escape, method_name: Callable[[Labels, str], str]
) -> list[tuple[list[str], list[Cell]]]:
    """The rows below the heading: printed names at the left, then the cells."""
    if orientation == "methods_as_columns":
        return [
            ([dataset, noise], [layout.cell(setting, method) for method in layout.methods])
            for setting, dataset, noise in _named_settings(layout, labels, escape)
        ]
    if orientation == "methods_as_rows":
        return [
            ([method_name(labels, method)], [layout.cell(setting, method) for setting in layout.settings])
            for method in layout.methods
        ]
    raise WarlabError(f"Unknown orientation {orientation!r} of a table; use one of {', '.join(get_args(Orientation))}.")


def _named_settings(layout: Grid, labels: Labels, escape: Escape) -> list[tuple[Scenario, str, str]]:
    """Each setting with the printed names of its dataset, once per dataset, and of its noise."""
    return [
        (setting, escape(display_name(labels, "dataset", dataset)) if i == 0 else "", escape(shown))
        for dataset, settings in layout.by_dataset()
        for i, setting in enumerate(settings)
        for shown in [setting_name(layout, setting, labels)]
    ]


# Markdown


def _markdown_header(layout: Grid, orientation: Orientation, labels: Labels) -> list[str]:
    if orientation == "methods_as_columns":
        methods = [markdown_method(labels, method) for method in layout.methods]
        return ["dataset", "score" if layout.scores else "noise", *methods]
    # Markdown has one line of headings: the dataset stands in its first column only.
    named = _named_settings(layout, labels, escape_markdown)
    return ["method", *("<br>".join(filter(None, words)) for _, *words in named)]


def _markdown_cell(cell: Cell) -> str:
    ours = with_deviation(cell, " ± ") if cell.run else "–"
    ours = (f"**{ours}**" if cell.best else ours) + ("†" if cell.stand_in else "")
    paper = small_print(cell)
    return f"{ours}<br><sub>{paper}</sub>" if paper else ours


# LaTeX


def _parts(layout: Grid) -> list[Grid]:
    """A table of many methods in several pieces below each other, since one piece would be too wide to read."""
    count = len(layout.methods)
    size = math.ceil(count / math.ceil(count / MOST_COLUMNS)) if count else 1
    return [replace(layout, methods=layout.methods[start : start + size]) for start in range(0, count, size)]


def _tabular(layout: Grid, orientation: Orientation, labels: Labels) -> dict[str, object]:
    """One piece for the template; a row has its names, our numbers, and the paper's numbers if there are any."""
    left, numbers = ("ll", layout.methods) if orientation == "methods_as_columns" else ("l", layout.settings)
    return {
        "alignment": left + "c" * len(numbers),
        "head": _latex_header(layout, orientation, labels),
        "rows": [
            (names, [*map(_latex_cell, cells)], _latex_small_print(cells))
            for names, cells in _body(layout, orientation, labels, escape_latex, latex_method)
        ],
    }


def _latex_header(layout: Grid, orientation: Orientation, labels: Labels) -> list[str]:
    if orientation == "methods_as_columns":
        methods = [latex_method(labels, method) for method in layout.methods]
        return [_latex_row(["Dataset", "Score" if layout.scores else "Noise", *methods])]
    spans = [
        (escape_latex(display_name(labels, "dataset", dataset)), len(settings))
        for dataset, settings in layout.by_dataset()
    ]
    ends = np.cumsum([1, *(width for _, width in spans)]).tolist()
    return [
        _latex_row(["", *(rf"\multicolumn{{{width}}}{{c}}{{{shown}}}" for shown, width in spans)]),
        " ".join(rf"\cmidrule(lr){{{start + 1}-{end}}}" for start, end in pairwise(ends)),
        _latex_row(["Method", *(escape_latex(setting_name(layout, setting, labels)) for setting in layout.settings)]),
    ]


def _latex_small_print(cells: list[Cell]) -> list[str]:
    papers = [small_print(cell) for cell in cells]
    return [rf"{{\scriptsize {escape_latex(paper)}}}" if paper else "" for paper in papers] if any(papers) else []


def _latex_cell(cell: Cell) -> str:
    ours = with_deviation(cell, r" $\pm$ ") if cell.run else "--"
    mark = r"\rlap{$^{\dagger}$}" if cell.stand_in else ""  # takes no width: the numbers stay aligned
    return (rf"\textbf{{{ours}}}" if cell.best else ours) + mark


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
