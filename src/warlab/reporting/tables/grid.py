"""The layout of a table as in the paper, from which Markdown, LaTeX and HTML are made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from warlab.ids import ColumnId
from warlab.reporting.formats import DIGITS, number, signed
from warlab.reporting.names import Labels, display_name
from warlab.reporting.read.results import RANK, Scenario

Orientation = Literal["methods_as_rows", "methods_as_columns"]
Spread = Literal["std_epochs", "std_runs"]
Key = tuple[Scenario, str]  # of a cell: its setting and its method
RANK_DIGITS = 1

BEST_RULE = "Bold: the highest mean (as printed) among the methods of the same dataset and noise."
RANKS = "Average rank among the methods of this table: 1 is the best, equal means share their rank, the lowest is bold."
PAPERS_RANKS = "The paper's ranks are among its twelve methods, over nine settings of three datasets."
SPREAD = {
    "std_epochs": "±: standard deviation over the last epochs of a run, averaged over the runs, as most likely in the "
    "paper.",
    "std_runs": "±: standard deviation between the means of the runs; none where there is one run.",
}
SMALL_PRINT = "Small print: the paper's value and, in brackets, ours minus the paper's."
GAP = "–: not run at this scale, or not with all of its seeds."
STAND_IN = "†: computed on procedural stand-in data, not on the real dataset; not comparable with the paper."


@dataclass(frozen=True)
class Cell:
    mean: float = math.nan
    std: float = math.nan
    published: float = math.nan
    difference: float = math.nan
    stand_in: bool = False
    best: bool = False
    digits: int = DIGITS

    @property
    def run(self) -> bool:
        return not math.isnan(self.mean)

    def text(self, plus_minus: str) -> str:
        """Return our mean and its standard deviation, which a rank does not have; "" if there is no mean."""
        deviation = "" if math.isnan(self.std) else plus_minus + number(self.std, self.digits)
        return number(self.mean, self.digits) + deviation if self.run else ""

    @property
    def small_print(self) -> str:
        """The paper's value, if it has one, and the difference, unless our data are stand-ins."""
        if math.isnan(self.published):
            return ""
        compared = not math.isnan(self.difference) and not self.stand_in
        return number(self.published, self.digits) + f" ({signed(self.difference, self.digits)})" * compared


@dataclass(frozen=True)
class Grid:
    settings: list[Scenario]
    methods: list[str]
    cells: dict[Key, Cell]
    spread: Spread = "std_epochs"

    def cell(self, setting: Scenario, method: str) -> Cell:
        return self.cells.get((setting, method), Cell())

    def row(self, setting: Scenario) -> list[Cell]:
        return [self.cell(setting, method) for method in self.methods]

    def column(self, method: str) -> list[Cell]:
        return [self.cell(setting, method) for setting in self.settings]

    @property
    def scores(self) -> bool:
        """Whether the rows are several scores of the same runs."""
        return len({setting.metric for setting in self.settings if not setting.is_rank}) > 1

    def by_dataset(self) -> list[tuple[str, list[Scenario]]]:
        datasets = dict.fromkeys(setting.dataset for setting in self.settings)
        return [(dataset, [s for s in self.settings if s.dataset == dataset]) for dataset in datasets]


def grid(table: pd.DataFrame, spread: Spread = "std_epochs") -> Grid:
    """Settings and methods in the order in which the tidy table first names them."""
    rows = _noise_in_columns(table).itertuples(index=False)
    cells = {
        (Scenario(*map(str, (row.dataset, row.noise, row.net, row.metric))), str(row.method)): _cell(row, spread)
        for row in rows
    }
    settings = list(dict.fromkeys(setting for setting, _ in cells))
    datasets = list(dict.fromkeys(setting.dataset for setting in settings))
    settings.sort(key=lambda setting: datasets.index(setting.dataset))
    for key in [key for setting in settings for key in _best(cells, setting)]:
        cells[key] = replace(cells[key], best=True)
    return Grid(settings, list(dict.fromkeys(method for _, method in cells)), cells, spread)


def setting_name(layout: Grid, setting: Scenario, labels: Labels) -> str:
    """The noise, and the network and the metric if the table has several."""
    measured = [s for s in layout.settings if not s.is_rank]
    several = [kind for kind in ("net", "metric") if len({getattr(s, kind) for s in measured}) > 1]
    if setting.is_rank:
        return display_name(labels, "noise", setting.noise)
    noises = {s.noise for s in measured}
    kinds = several if layout.scores and len(noises) == 1 else ["noise", *several]
    return setting.display_name(labels, kinds)


def legend(layout: Grid) -> list[str]:
    """The sentences that explain the marks in this table."""
    declared = [layout.cell(setting, method) for setting in layout.settings for method in layout.methods]
    ranked = [cell for (setting, _), cell in layout.cells.items() if setting.is_rank]
    marks = {
        BEST_RULE: any(cell.best for cell in declared),
        SPREAD[layout.spread]: any(cell.run and not math.isnan(cell.std) for cell in declared),
        SMALL_PRINT: any(not math.isnan(cell.published) for cell in declared),
        RANKS: bool(ranked),
        PAPERS_RANKS: any(not math.isnan(cell.published) for cell in ranked),
        GAP: any(not cell.run for cell in declared),
        STAND_IN: any(cell.stand_in for cell in declared),
    }
    return [sentence for sentence, used in marks.items() if used]


def explained(caption: str, layout: Grid) -> str:
    """The caption, with a full stop, and the legend."""
    caption = caption.strip()
    stop = "" if not caption or caption[-1] in ".!?" else "."
    return " ".join(sentence for sentence in (caption + stop, *legend(layout)) if sentence)


def _noise_in_columns(table: pd.DataFrame) -> pd.DataFrame:
    """If the rows are several scores, a run with another noise than the others becomes a column: "cce@clean"."""
    if table[table["metric"] != RANK]["metric"].nunique() < 2 or table["noise"].nunique() < 2:
        return table
    noisy = list(dict.fromkeys(noise for noise in table["noise"] if noise != "clean"))
    if len(noisy) != 1:  # several noises are rows, as in every other table
        return table
    other = table["noise"] != noisy[0]
    columns = [str(ColumnId(*row)) for row in table[["method", "noise"]].itertuples(index=False)]
    return table.assign(method=table["method"].where(~other, columns), noise=noisy[0])


def _cell(row: Any, spread: Spread) -> Cell:
    mean, std, published, difference = map(float, (row.mean, getattr(row, spread), row.published, row.difference))
    digits = RANK_DIGITS if row.metric == RANK else DIGITS
    return Cell(mean, std, published, difference, stand_in=row.data == "stand-in", digits=digits)


def _best(cells: Mapping[Key, Cell], setting: Scenario) -> list[Key]:
    """The bold cells of a row: the best as printed, all of them if they are equal. A cell without rivals is not bold,
    and runs on clean labels do not compete with the others."""
    row = {key: cell for key, cell in cells.items() if key[0] == setting and not ColumnId.parse(key[1]).noise}
    means = {key: round(cell.mean, cell.digits) for key, cell in row.items() if cell.run}
    if len(means) < 2:
        return []
    best = min(means.values()) if setting.is_rank else max(means.values())
    return [key for key, mean in means.items() if mean == best]
