"""Learning curves of the report: the data of the interactive plot, and the coordinates of the picture at the top."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from warlab.common.wording import several
from warlab.ids import NoiseId
from warlab.reporting import style
from warlab.reporting.names import BASELINE, PROPOSED, Labels, display_name, split_subscript
from warlab.reporting.read.results import Scenario, complete_cells, group_by_setting, kind_of_data

WIDTH, HEIGHT = 600, 348
LEFT, RIGHT, TOP, BOTTOM = 40, 92, 12, 36  # margins
LINE = 15  # height of a name
WAR = (PROPOSED, "war_embed", "war_01")


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
    setting: Scenario
    title: str
    stand_in: bool
    lines: list[Line]


def curves(runs: pd.DataFrame, labels: Labels) -> list[Panel]:
    """Return a panel per dataset, noise and network, with a line per method."""
    panels = []
    for setting, panel in group_by_setting(complete_cells(runs)):
        stand_in = kind_of_data(panel["data"]) == "stand-in"
        title = setting.display_name(labels) + " (stand-in data)" * stand_in
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
    shown = "currentColor" if colour == style.BLACK else colour  # black could not be seen in dark mode
    epochs = [int(epoch) for epoch in seeds.index]
    called = display_name(labels, "method", method)
    return Line(method, called, shown, _dash_array(dashes), int(seeds.shape[1]), epochs, mean, low, high)


def _dash_array(dashes: style.Dashes) -> str:
    """Return the dashes for SVG, where a line is two pixels wide."""
    if isinstance(dashes, tuple):
        return " ".join(str(2 * length) for length in dashes[1])
    return {"-": "", "--": "6 3", ":": "2 3"}[dashes]


# ---- the picture at the top of the page


def pictured(panels: Sequence[Panel]) -> Panel | None:
    """Return the setting of the picture: with real data, noise, WAR and CCE if possible, and the highest noise rate."""

    def worth(panel: Panel) -> tuple[float, ...]:
        methods, noise = {line.method for line in panel.lines}, panel.setting.noise
        both = (leading(methods) is not None) + (BASELINE in methods)
        return not panel.stand_in, noise != "clean", both, NoiseId.parse(noise).rate, len(methods)

    return max(panels, key=worth, default=None)


def leading(methods: Collection[str]) -> str | None:
    """Return the variant of WAR to show: that of the paper's main table, or else the first one that was run."""
    return next((one for one in (*WAR, *sorted(methods)) if one in methods and one.startswith("war")), None)


def prominent(lines: Sequence[Line]) -> list[Line]:
    """Return the lines to draw in colour: CCE, AR and one WAR. Without two of these, the first and the best line."""
    by_method = {line.method: line for line in lines}
    compared = [by_method[one] for one in (BASELINE, "ar", leading(by_method)) if one in by_method]
    if len(compared) >= 2:
        return compared
    if len(lines) <= 2:
        return list(lines)
    first, best = (compared or lines)[0], max(lines, key=lambda line: line.mean[-1])
    return [first] if best is first else [first, best]


class Axes(NamedTuple):
    """The last epoch and the lowest and highest value; the first epoch is 1."""

    last: int
    low: float
    high: float

    def x(self, epoch: float) -> float:
        return round(LEFT + (epoch - 1) / (self.last - 1) * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        part = (self.high - max(value, self.low)) / (self.high - self.low)
        return round(TOP + part * (HEIGHT - TOP - BOTTOM), 1)

    def points(self, epochs: Iterable[int], values: Iterable[float]) -> str:
        """Return points as SVG writes them."""
        return " ".join(f"{self.x(epoch)},{self.y(value)}" for epoch, value in zip(epochs, values, strict=True))


@dataclass(frozen=True)
class Picture:
    """What picture.html draws, in pixels; points are as SVG writes them."""

    values: list[tuple[float, int]]  # y and value of each horizontal line
    epochs: list[tuple[float, int]]  # x and number of each tick
    grey: list[str]  # points
    bands: list[tuple[str, str]]  # points, colour
    bright: list[tuple[str, str]]  # points, colour
    names: list[tuple[float, tuple[str, str, str], str]]  # y, name with its subscript, colour
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


def picture(lines: Sequence[Line], bright: Sequence[Line]) -> Picture:
    """Draw all lines in grey except those in `bright`, which are above the others and have their colours and names."""
    grey = [line for line in lines if line not in bright]
    axes = Axes(max(2, *(max(line.epochs) for line in lines)), *_limits(lines))
    step = 20 if axes.high - axes.low > 50 else 10 if axes.high - axes.low > 25 else 5
    every = max(1, -(-axes.last // 8))
    ends = [(axes.y(line.mean[-1]), line.name, line.colour) for line in bright]
    if grey:
        middle = sorted(axes.y(line.mean[-1]) for line in grey)[len(grey) // 2]
        ends.append((middle, several(len(grey), "other"), "var(--quiet)"))
    heights = style.spread([end[0] for end in ends], LINE)
    return Picture(
        values=[(axes.y(value), value) for value in range(int(axes.low), int(axes.high) + 1, step)],
        epochs=[(axes.x(epoch), epoch) for epoch in range(every, axes.last + 1, every)],
        grey=[axes.points(line.epochs, line.mean) for line in grey],
        bands=[(_band(axes, line), line.colour) for line in bright if line.seeds > 1],
        bright=[(axes.points(line.epochs, line.mean), line.colour) for line in bright],
        names=[(y, split_subscript(text), colour) for y, (_, text, colour) in zip(heights, ends, strict=True)],
    )


def _band(axes: Axes, line: Line) -> str:
    """Return the outline of the area between the lowest and the highest seed."""
    return axes.points([*line.epochs, *reversed(line.epochs)], [*line.high, *reversed(line.low)])


def _limits(lines: Sequence[Line]) -> tuple[float, float]:
    """Return multiples of five around the values without the lowest 5 %: the first epochs would flatten the rest."""
    values = sorted(value for line in lines for value in line.mean)
    low, high = values[len(values) // 20], values[-1]
    return max(0.0, (low - 1) // 5 * 5), min(100.0, -((-high - 1) // 5) * 5)
