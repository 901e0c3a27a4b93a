"""Learning curves of the page, as chart.html draws them: lines in the units of the data, text at percentages."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from warlab.common.wording import several
from warlab.ids import NoiseId
from warlab.reporting import style
from warlab.reporting.names import BASELINE, Labels, display_name, split_subscript
from warlab.reporting.read.curves import Curve, learning_curves
from warlab.reporting.read.results import Scenario, complete_cells, group_by_setting, kind_of_data

LINE = 6.5  # height of a name at the end of a line, in percent of the plot's height


@dataclass(frozen=True)
class Line(Curve):
    """A curve with the printed name, the colour and the SVG dashes of its method."""

    name: str
    colour: str
    dashes: str

    def points(self, values: Iterable[float]) -> str:
        """Return points as SVG writes them, whose y axis points down."""
        return " ".join(f"{epoch},{-value:.6g}" for epoch, value in zip(self.epochs, values, strict=True))

    @property
    def band(self) -> str:
        """Return the outline of the area between the lowest and the highest seed."""
        return f"{self.points(self.high)} {' '.join(self.points(self.low).split()[::-1])}"


@dataclass(frozen=True)
class Panel:
    setting: Scenario
    title: str
    stand_in: bool
    lines: list[Line]

    @cached_property
    def bright(self) -> list[Line]:
        """Return the lines in colour."""
        by_method = {line.method: line for line in self.lines}
        return [by_method[method] for method in style.prominent(by_method)]

    @cached_property
    def grey(self) -> list[Line]:
        return [line for line in self.lines if line not in self.bright]

    @cached_property
    def last(self) -> int:
        """Return the last epoch; the first one is 1."""
        return max(2, *(line.epochs[-1] for line in self.lines))

    @cached_property
    def limits(self) -> tuple[int, int]:
        """Return multiples of five around all values that are drawn."""
        values = [value for line in self.lines for value in (*line.low, *line.high)]
        low = math.floor(min(values) / 5)
        return 5 * low, 5 * max(math.ceil(max(values) / 5), low + 1)

    def top(self, value: float) -> float:
        """Return where a value is, in percent of the height."""
        low, high = self.limits
        return round(100 * (high - value) / (high - low), 2)

    def ends(self) -> list[tuple[float, tuple[str, str, str], str]]:
        """Return height, name (with its subscript) and colour of what is written at the ends of the lines."""
        ends = [(self.top(line.mean[-1]), line.name, line.colour) for line in self.bright]
        if self.grey:
            middle = sorted(self.top(line.mean[-1]) for line in self.grey)[len(self.grey) // 2]
            ends.append((middle, several(len(self.grey), "other"), "var(--quiet)"))
        heights = style.spread([height for height, *_ in ends], LINE)
        return [(y, split_subscript(text), colour) for y, (_, text, colour) in zip(heights, ends, strict=True)]


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
