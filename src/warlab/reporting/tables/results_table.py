"""Tables of results: tidy for programs, in the paper's layout for people."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from warlab.errors import WarlabError
from warlab.reporting.formats import render
from warlab.reporting.names import Labels, display_name, latex_method, markdown_method
from warlab.reporting.read.csv_rows import read_csv
from warlab.reporting.read.results import ACCURACY, CELL, RANK, SETTING, is_score, kind_of_data, published_noise
from warlab.reporting.stats import average_ranks
from warlab.reporting.tables.grid import RANK_DIGITS, Orientation, Spread, add_legend, grid, setting_name

ASSETS = ("reporting/templates/results.md", "reporting/templates/results.tex")  # part of the digest
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
    """Return a row for every metric of every declared cell (dataset, noise, net, method), in the order of declaration,
    with empty numbers if nothing was run or published.

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
        has_number = rows.groupby("noise")[["mean", "published"]].transform("any").any(axis=1)
        table = pd.concat([table, rows[has_number]], ignore_index=True).astype({"seeds": "Int64"})
    table["difference"] = table["mean"] - table["published"]
    return table[list(TIDY)]


def read_tidy(path: Path) -> pd.DataFrame:
    """Read a tidy table from its CSV file, with the types that `tidy` gave it."""
    return read_csv(path, TIDY, text=(*KEY, "data")).astype({"seeds": "Int64"})


def write_table(
    template: str,
    method_name: Callable[[Labels, str], str],
    most_columns: float,
    table: pd.DataFrame,
    orientation: Orientation,
    labels: Labels,
    caption: str = "",
    label: str = "",
    spread: Spread | None = None,
) -> str:
    r"""Return the paper's layout of a tidy table in Markdown or LaTeX, with its caption and legend.

    In LaTeX it needs booktabs and graphicx, is shrunk to the width of the line if it is wider, and one of many methods
    is in several pieces below each other. `label` is for \ref.
    """
    if orientation not in get_args(Orientation):
        words = ", ".join(get_args(Orientation))
        raise WarlabError(f"Unknown orientation {orientation!r} of a table; use one of {words}.")
    layout, by_column = grid(table, spread), orientation == "methods_as_columns"
    pieces = max(1, math.ceil(len(layout.methods) / most_columns)) if by_column else 1
    size = math.ceil(len(layout.methods) / pieces)
    return render(
        template,
        parts=[replace(layout, methods=layout.methods[k * size : (k + 1) * size]) for k in range(pieces)],
        caption=add_legend(caption, layout),
        label=label,
        methods_as_columns=by_column,
        name=partial(method_name, labels),
        dataset_name=partial(display_name, labels, "dataset"),
        setting_name=partial(setting_name, labels=labels),
    )


to_markdown = partial(write_table, "results.md", markdown_method, math.inf)
to_latex = partial(write_table, "results.tex", latex_method, MOST_COLUMNS)


def add_quoted(title: str, quoted: Sequence[str], labels: Labels) -> str:
    """Return the title, and the methods whose numbers the paper quotes from other publications."""
    names = ", ".join(display_name(labels, "method", method).removesuffix(" (quoted)") for method in quoted)
    quote = "Quoted by the paper from other publications, run neither there nor here"
    return f"{title}. {quote}: {names}" if names else title


def _published_values(table: pd.DataFrame, published: pd.DataFrame) -> pd.Series:
    first = published.drop_duplicates(list(KEY)).set_index(list(KEY))["mean"].astype(float)
    keys = table.assign(noise=table["noise"].map(published_noise))[list(KEY)].itertuples(index=False, name=None)
    return pd.Series([first.get(key, np.nan) for key in keys], dtype=float)


def _ranked_in_paper(table: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """Return whether the paper has a number in every setting that a row ranks; else it ranks over other settings."""
    known = table.groupby([*SETTING, "metric"])["published"].any().reset_index()
    groups = {"all": known, "noisy": known[known["noise"] != "clean"]}
    return rows["noise"].map({group: bool(part["published"].all()) for group, part in groups.items()})


# Average ranks


def ranks(table: pd.DataFrame) -> pd.Series:
    """Return the average rank of each method over all settings of a tidy table, by its scores as printed: 1 is the
    highest.

    Equal numbers share their mean rank; the paper gives the better rank to the first of them. If a cell is missing,
    there are no ranks, because an average over the remaining cells would compare different settings.
    """
    printed = table[table["metric"].map(is_score)].assign(mean=lambda scores: scores["mean"].astype(float).round(2))
    methods = list(dict.fromkeys(table["method"]))
    # no pivot_table(dropna=False): it would add the settings that a full product of the others had
    numbers = printed.set_index([*SETTING, "metric", "method"])["mean"].unstack("method").reindex(columns=methods)
    complete = len(numbers) > 0 and not numbers.isna().any(axis=None)
    return pd.Series(average_ranks(numbers.to_numpy()).round(RANK_DIGITS) if complete else np.nan, index=methods)


def rank_rows(table: pd.DataFrame, groups: Iterable[str]) -> pd.DataFrame:
    """Return tidy rows of the dataset "all" whose noise is the group: all settings, or the noisy ones.

    Without clean settings both groups are the same and only the noisy one is shown.
    """
    noisy, frames = table[table["noise"] != "clean"], []
    parts = {"all": table if len(noisy) < len(table) else table.head(0), "noisy": noisy}
    for group, part in [(group, parts[group]) for group in groups if len(parts[group])]:
        average, nets = ranks(part), set(part["net"])
        run = bool(average.notna().all())
        rows = pd.DataFrame({"method": average.index, "mean": average.to_numpy(float)})
        net, data = nets.pop() if len(nets) == 1 else "all", kind_of_data(part["data"]) if run else ""
        about = {"dataset": "all", "noise": group, "net": net, "metric": RANK, "data": data}
        frames.append(rows.assign(**about, seeds=part["seeds"].min() if run else None))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
