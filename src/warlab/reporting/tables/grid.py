"""The layout of a table as in the paper, from which Markdown, LaTeX and HTML are made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from warlab.ids import ColumnId
from warlab.reporting.formats import DIGITS, number, render, signed
from warlab.reporting.names import Labels, display_name
from warlab.reporting.read.results import RANK, Scenario, is_score

Orientation = Literal["methods_as_rows", "methods_as_columns"]
Spread = Literal["std_epochs", "std_runs"]
Key = tuple[Scenario, str]  # of a cell: its setting and its method
RANK_DIGITS = 1
ASSETS = ("reporting/templates/legend.md",)  # part of the digest


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

    @property
    def has_deviation(self) -> bool:
        return self.run and not math.isnan(self.std)

    def text(self, plus_minus: str) -> str:
        """Return our mean and its standard deviation, which a rank does not have; "" if there is no mean."""
        deviation = plus_minus + number(self.std, self.digits) if self.has_deviation else ""
        return number(self.mean, self.digits) + deviation if self.run else ""

    @property
    def small_print(self) -> str:
        """Return the paper's value, if it has one, and the difference, unless our data are stand-ins."""
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

    def all_cells(self) -> list[Cell]:
        return [self.cell(setting, method) for setting in self.settings for method in self.methods]

    def row(self, setting: Scenario) -> list[Cell]:
        return [self.cell(setting, method) for method in self.methods]

    def column(self, method: str) -> list[Cell]:
        return [self.cell(setting, method) for setting in self.settings]

    @property
    def scores(self) -> bool:
        """Return whether the rows are several scores of the same runs."""
        return len({setting.metric for setting in self.settings if not setting.is_rank}) > 1

    def by_dataset(self) -> list[tuple[str, list[Scenario]]]:
        datasets = dict.fromkeys(setting.dataset for setting in self.settings)
        return [(dataset, [s for s in self.settings if s.dataset == dataset]) for dataset in datasets]


def usual_spread(table: pd.DataFrame) -> Spread:
    """Return which ± a table shows: the paper's, over the epochs of a run; between the runs if there are several and
    nothing of the paper to compare them with."""
    own = table["published"].isna().all() and table["std_runs"].notna().any()
    return "std_runs" if own else "std_epochs"


def grid(table: pd.DataFrame, spread: Spread | None = None) -> Grid:
    """Return settings and methods in the order in which the tidy table first names them."""
    spread = spread or usual_spread(table)
    columns = [*Scenario._fields, "method", "mean", spread, "published", "difference", "data"]
    cells: dict[Key, Cell] = {}
    for *at, method, mean, std, published, difference, data in _noise_in_columns(table)[columns].to_numpy(object):
        setting, is_stand_in = Scenario(*map(str, at)), data == "stand-in"
        digits = RANK_DIGITS if setting.is_rank else DIGITS
        cells[setting, str(method)] = Cell(mean, std, published, difference, is_stand_in, digits=digits)
    settings = list(dict.fromkeys(setting for setting, _ in cells))
    datasets = list(dict.fromkeys(setting.dataset for setting in settings))
    settings.sort(key=lambda setting: datasets.index(setting.dataset))
    for key in [key for setting in settings for key in _best(cells, setting)]:
        cells[key] = replace(cells[key], best=True)
    return Grid(settings, list(dict.fromkeys(method for _, method in cells)), cells, spread)


def setting_name(layout: Grid, setting: Scenario, labels: Labels) -> str:
    """Return the noise, and the network and the metric if the table has several."""
    measured = [s for s in layout.settings if not s.is_rank]
    several = [kind for kind in ("net", "metric") if len({getattr(s, kind) for s in measured}) > 1]
    if setting.is_rank:
        return display_name(labels, "noise", setting.noise)
    noises = {s.noise for s in measured}
    kinds = several if layout.scores and len(noises) == 1 else ["noise", *several]
    return setting.display_name(labels, kinds)


def legend(layout: Grid) -> str:
    """Return the sentences that explain the marks in this table."""
    ranks = [cell for (setting, _), cell in layout.cells.items() if setting.is_rank]
    return " ".join(render("legend.md", layout=layout, ranks=ranks).split())


def add_legend(caption: str, layout: Grid) -> str:
    """Return the caption, with a full stop, and the legend."""
    caption = caption.strip()
    stop = "" if not caption or caption[-1] in ".!?" else "."
    return f"{caption}{stop} {legend(layout)}".strip()


def _noise_in_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Make a run with another noise than the others a column, "cce@clean", if the rows are several scores."""
    if table[table["metric"] != RANK]["metric"].nunique() < 2 or table["noise"].nunique() < 2:
        return table
    noisy = list(dict.fromkeys(noise for noise in table["noise"] if noise != "clean"))
    if len(noisy) != 1:  # several noises are rows, as in every other table
        return table
    other = table["noise"] != noisy[0]
    columns = [str(ColumnId(*row)) for row in table[["method", "noise"]].itertuples(index=False)]
    return table.assign(method=table["method"].where(~other, columns), noise=noisy[0])


def _best(cells: Mapping[Key, Cell], setting: Scenario) -> list[Key]:
    """Return the bold cells of a row of scores: the best as printed, all of them if they are equal. A cell without
    rivals is not bold, and runs on clean labels do not compete with the others."""
    if not (setting.is_rank or is_score(setting.metric)):
        return []
    row = {key: cell for key, cell in cells.items() if key[0] == setting and not ColumnId.parse(key[1]).noise}
    means = {key: round(cell.mean, cell.digits) for key, cell in row.items() if cell.run}
    if len(means) < 2:
        return []
    best = min(means.values()) if setting.is_rank else max(means.values())
    return [key for key, mean in means.items() if mean == best]
