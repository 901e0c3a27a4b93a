"""Learning curves of the report: as data for the drawing in which a reader can look up values, and one as a picture.

The picture is an inline SVG that follows light and dark mode.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup, escape

from warlab.common.wording import several
from warlab.reporting import style
from warlab.reporting.drawing import spread
from warlab.reporting.read.results import Setting, by_setting, complete, kind_of_data
from warlab.reporting.tables.labels import Labels, name, parts

WIDTH, HEIGHT = 600, 348
LEFT, RIGHT, TOP, BOTTOM = 40, 92, 12, 36
LINE = 15  # height of a name
GREY = "var(--grey)"
INK = "color-mix(in srgb, {} 70%, currentColor)"  # darker by day, lighter by night
Place = Callable[[float, float], tuple[float, float]]  # epoch, value → pixels


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
    return {"-": "", "--": "6 3", ":": "2 3"}[dashes]


def picture(lines: Sequence[Line], bright: Sequence[Line]) -> Markup:
    """Those in `bright` above the others, in their colours and with their names at their ends."""
    grey = [line for line in lines if line not in bright]
    last = max(2, *(max(line.epochs) for line in lines))
    low, high = _limits(lines)

    def place(epoch: float, value: float) -> tuple[float, float]:
        x = LEFT + (epoch - 1) / (last - 1) * (WIDTH - LEFT - RIGHT)
        y = TOP + (high - max(value, low)) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    def points(line: Line, values: Sequence[float]) -> list[str]:
        return ["{},{}".format(*place(epoch, value)) for epoch, value in zip(line.epochs, values, strict=True)]

    def polyline(line: Line, colour: str, width: float) -> str:
        drawn = " ".join(points(line, line.mean))
        return f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="{width}"/>'

    def band(line: Line) -> str:
        around = " ".join([*points(line, line.high), *reversed(points(line, line.low))])
        return f'<polygon points="{around}" fill="{line.colour}" opacity="0.18"/>'

    drawn = [*_axes(place, low, high, last), *(polyline(line, GREY, 1.0) for line in grey)]
    drawn += [band(line) for line in bright if line.seeds > 1]
    drawn += [polyline(line, line.colour, 2.4) for line in bright]
    drawn += _names(bright, grey, place)
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(drawn)}</svg>')


def _limits(lines: Sequence[Line]) -> tuple[float, float]:
    """Whole fives around the values; the worst twentieth is cut, else the first epochs would flatten the rest."""
    values = sorted(value for line in lines for value in line.mean)
    low, high = values[len(values) // 20], values[-1]
    return max(0.0, (low - 1) // 5 * 5), min(100.0, -((-high - 1) // 5) * 5)


def _axes(place: Place, low: float, high: float, last: int) -> list[str]:
    step = 20 if high - low > 50 else 10 if high - low > 25 else 5
    drawn = []
    for value in range(int(low), int(high) + 1, step):
        (left, y), (right, _) = place(1, value), place(last, value)
        drawn.append(f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="var(--line)"/>')
        drawn.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end" class="tick">{value}</text>')
    every = max(1, -(-last // 8))
    for epoch in range(every, last + 1, every):
        x, y = place(epoch, low)
        drawn.append(f'<text x="{x}" y="{y + 15}" text-anchor="middle" class="tick">{epoch}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    drawn.append(f'<text x="{middle}" y="{HEIGHT - 3}" text-anchor="middle" class="tick">epoch of training</text>')
    return drawn


def _names(bright: Sequence[Line], grey: Sequence[Line], place: Place) -> list[str]:
    heights = [place(line.epochs[-1], line.mean[-1])[1] for line in (*bright, *grey)]
    ends = [(y, _name(line.name), line.colour) for y, line in zip(heights, bright, strict=False)]
    if grey:
        middle = sorted(heights[len(bright) :])[len(grey) // 2]
        ends.append((middle, Markup(several(len(grey), "other")), "var(--quiet)"))
    moved = spread([end[0] for end in ends], LINE)
    return [
        f'<text x="{WIDTH - RIGHT + 7}" y="{y + 4:.1f}" class="end" style="fill: {INK.format(colour)}">{name}</text>'
        for (_, name, colour), y in zip(ends, moved, strict=True)
    ]


def _name(text: str) -> Markup:
    head, subscript, rest = parts(text)
    if not subscript:
        return escape(head)
    return Markup('{}<tspan dy="3" font-size="75%">{}</tspan><tspan dy="-3">{}</tspan>').format(head, subscript, rest)
