"""Learning curves as data for the report's own drawings, in which a reader can look up values."""

from dataclasses import dataclass

import pandas as pd

from warlab.reporting import style
from warlab.reporting.read.results import complete
from warlab.reporting.setting import Setting, by_setting, kind_of_data
from warlab.reporting.tables.labels import Labels, name


@dataclass(frozen=True)
class Line:
    """One method: mean, lowest and highest of its seeds after each epoch."""

    method: str
    name: str
    colour: str
    dashes: str
    seeds: int
    epochs: list[int]
    mean: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Panel:
    setting: Setting
    title: str
    stand_in: bool
    lines: list[Line]


def curves(runs: pd.DataFrame, labels: Labels) -> list[Panel]:
    """A panel per dataset, noise and network; a line per method."""
    panels = []
    for setting, panel in by_setting(complete(runs)):
        stand_in = kind_of_data(panel["data"]) == "stand-in"
        title = setting.called(labels) + " (stand-in data)" * stand_in
        lines = [_line(str(method), group, labels) for method, group in panel.groupby("method", sort=False)]
        panels.append(Panel(setting, title, stand_in, lines))
    return panels


def _line(method: str, group: pd.DataFrame, labels: Labels) -> Line:
    seeds = group.pivot_table(index="epoch", columns="seed", values="test_accuracy")
    colour, dashes = style.line(method)
    mean, low, high = (
        [round(float(value), 2) for value in numbers]
        for numbers in (seeds.mean(axis=1), seeds.min(axis=1), seeds.max(axis=1))
    )
    shown = "currentColor" if colour == style.BLACK else colour  # black would vanish in dark mode
    epochs = [int(epoch) for epoch in seeds.index]
    called = name(labels, "method", method)
    return Line(method, called, shown, _dash_array(dashes), int(seeds.shape[1]), epochs, mean, low, high)


def _dash_array(dashes: style.Dashes) -> str:
    """For SVG, at the two pixels that a line is wide."""
    if isinstance(dashes, tuple):
        return " ".join(str(2 * length) for length in dashes[1])
    return {"-": "", "--": "6 3", ":": "2 3", "-.": "6 3 2 3"}[dashes]
