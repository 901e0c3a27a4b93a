"""Learning curves of the page: the data of the interactive plot, and the coordinates of the picture at the top."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from warlab.common.wording import several
from warlab.ids import NoiseId
from warlab.reporting import style
from warlab.reporting.names import BASELINE, Labels, display_name, split_subscript
from warlab.reporting.read.curves import Curve, learning_curves
from warlab.reporting.read.results import Scenario, complete_cells, group_by_setting, kind_of_data

LINE = 15  # height of a name, in pixels


@dataclass(frozen=True)
class Line(Curve):
    """A curve with the printed name, the colour and the SVG dashes of its method."""

    name: str
    colour: str
    dashes: str


@dataclass(frozen=True)
class Panel:
    setting: Scenario
    title: str
    stand_in: bool
    lines: list[Line]

    @property
    def bright(self) -> list[Line]:
        """Return the lines in colour."""
        by_method = {line.method: line for line in self.lines}
        return [by_method[method] for method in style.prominent(by_method)]


def make_panels(runs: pd.DataFrame, labels: Labels) -> list[Panel]:
    """Return a panel per dataset, noise and network, with a line per method."""
    panels, looks = [], style.looks(runs["method"])
    for setting, rows in group_by_setting(complete_cells(runs)):
        stand_in = kind_of_data(rows["data"]) == "stand-in"
        title = setting.display_name(labels) + " (stand-in data)" * stand_in
        panels.append(Panel(setting, title, stand_in, [_line(curve, labels, looks) for curve in learning_curves(rows)]))
    return panels


def _line(curve: Curve, labels: Labels, looks: Mapping[str, style.Look]) -> Line:
    colour, dashes = looks[curve.method]
    if isinstance(dashes, tuple):
        svg_dashes = " ".join(str(2 * length) for length in dashes[1])  # a line is two pixels wide
    else:
        svg_dashes = {"-": "", "--": "6 3", ":": "2 3"}[dashes]
    visible = "currentColor" if colour == style.BLACK else colour  # black could not be seen in dark mode
    return Line(**vars(curve), name=display_name(labels, "method", curve.method), colour=visible, dashes=svg_dashes)


def choose_panel(panels: Sequence[Panel]) -> Panel | None:
    """Return the panel of the picture: with real data, noise, WAR and CCE if possible, and the highest noise rate."""

    def rank(panel: Panel) -> tuple[float, ...]:
        methods, noise = [line.method for line in panel.lines], panel.setting.noise
        both = bool(style.leading_variant(methods)) + (BASELINE in methods)
        return not panel.stand_in, noise != "clean", both, NoiseId.parse(noise).rate, len(methods)

    return max(panels, key=rank, default=None)


@dataclass(frozen=True)
class Picture:
    """What picture.html draws: all lines, and where an epoch and a value are, in pixels."""

    bright: list[Line]
    grey: list[Line]
    last: int  # epoch; the first one is 1
    low: int
    high: int
    width = 600
    height = 348
    left = 40
    right = 508
    top = 12
    bottom = 312

    def x(self, epoch: float) -> float:
        return round(self.left + (epoch - 1) / (self.last - 1) * (self.right - self.left), 1)

    def y(self, value: float) -> float:
        return round(self.top + (self.high - value) / (self.high - self.low) * (self.bottom - self.top), 1)

    def points(self, epochs: Iterable[int], values: Iterable[float]) -> str:
        """Return points as SVG writes them."""
        return " ".join(f"{self.x(epoch)},{self.y(value)}" for epoch, value in zip(epochs, values, strict=True))

    def band(self, line: Line) -> str:
        """Return the outline of the area between the lowest and the highest seed."""
        return self.points([*line.epochs, *reversed(line.epochs)], [*line.high, *reversed(line.low)])

    def value_ticks(self) -> range:
        height = self.high - self.low
        return range(self.low, self.high + 1, 20 if height > 50 else 10 if height > 25 else 5)

    def epoch_ticks(self) -> range:
        every = max(1, -(-self.last // 8))
        return range(every, self.last + 1, every)

    def names(self) -> list[tuple[float, tuple[str, str, str], str]]:
        """Return height, name (with its subscript) and colour of what is written at the ends of the lines."""
        ends = [(self.y(line.mean[-1]), line.name, line.colour) for line in self.bright]
        if self.grey:
            middle = sorted(self.y(line.mean[-1]) for line in self.grey)[len(self.grey) // 2]
            ends.append((middle, several(len(self.grey), "other"), "var(--quiet)"))
        heights = style.spread([height for height, *_ in ends], LINE)
        return [(y, split_subscript(text), colour) for y, (_, text, colour) in zip(heights, ends, strict=True)]


def draw_picture(panel: Panel) -> Picture:
    """Return the picture of a panel; its axis is multiples of five around all values that are drawn."""
    bright = panel.bright
    grey = [line for line in panel.lines if line not in bright]
    low, high = style.value_range(panel.lines)
    last = max(2, *(line.epochs[-1] for line in panel.lines))
    return Picture(bright, grey, last, math.floor(low / 5) * 5, max(math.ceil(high / 5), math.floor(low / 5) + 1) * 5)
