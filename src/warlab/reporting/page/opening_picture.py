"""The one picture of the first screen: accuracy over the epochs as an inline SVG that follows light and dark mode."""

from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from warlab.reporting.drawing import spread
from warlab.reporting.page.curves import Line
from warlab.reporting.tables.labels import parts

WIDTH, HEIGHT = 600, 348
LEFT, RIGHT, TOP, BOTTOM = 40, 92, 12, 36
LINE = 15  # height of a name
GREY = "var(--grey)"
INK = "color-mix(in srgb, {} 70%, currentColor)"  # darker by day, lighter by night
Place = Callable[[float, float], tuple[float, float]]  # epoch, value → pixels


def picture(lines: Sequence[Line], bright: Sequence[str]) -> Markup:
    """Those of the methods in `bright` in their colours, with their names at their ends."""
    grey = [line for line in lines if line.method not in bright]
    above = [line for method in bright for line in lines if line.method == method]
    last = max(2, *(max(line.epochs) for line in lines))
    low, high = _limits(lines)

    def place(epoch: float, value: float) -> tuple[float, float]:
        x = LEFT + (epoch - 1) / (last - 1) * (WIDTH - LEFT - RIGHT)
        y = TOP + (high - max(value, low)) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    drawn = [_axes(place, low, high, last), *(_line(line, place, GREY, 1.0) for line in grey)]
    drawn += [_band(line, place) for line in above if line.seeds > 1]
    drawn += [_line(line, place, line.colour, 2.4) for line in above]
    drawn.append(_names(above, grey, place))
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(drawn)}</svg>')


def _limits(lines: Sequence[Line]) -> tuple[float, float]:
    """Whole fives around the values; the worst twentieth is cut, else the first epochs would flatten the rest."""
    values = sorted(value for line in lines for value in line.mean)
    low, high = values[len(values) // 20], values[-1]
    return max(0.0, (low - 1) // 5 * 5), min(100.0, -((-high - 1) // 5) * 5)


def _axes(place: Place, low: float, high: float, last: int) -> str:
    step = 20 if high - low > 50 else 10 if high - low > 25 else 5
    parts_ = []
    for value in range(int(low), int(high) + 1, step):
        (left, y), (right, _) = place(1, value), place(last, value)
        parts_.append(f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" stroke="var(--line)"/>')
        parts_.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end" class="tick">{value}</text>')
    every = max(1, -(-last // 8))
    for epoch in range(every, last + 1, every):
        x, y = place(epoch, low)
        parts_.append(f'<text x="{x}" y="{y + 15}" text-anchor="middle" class="tick">{epoch}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts_.append(f'<text x="{middle}" y="{HEIGHT - 3}" text-anchor="middle" class="tick">epoch of training</text>')
    return "".join(parts_)


def _points(line: Line, place: Place, values: Sequence[float]) -> list[str]:
    return ["{},{}".format(*place(epoch, value)) for epoch, value in zip(line.epochs, values, strict=True)]


def _line(line: Line, place: Place, colour: str, width: float) -> str:
    points = " ".join(_points(line, place, line.mean))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _band(line: Line, place: Place) -> str:
    points = " ".join([*_points(line, place, line.high), *reversed(_points(line, place, line.low))])
    return f'<polygon points="{points}" fill="{line.colour}" opacity="0.18"/>'


def _names(above: Sequence[Line], grey: Sequence[Line], place: Place) -> str:
    ends = [(_end(line, place), _name(line.name), line.colour) for line in above]
    if grey:
        heights = sorted(_end(line, place) for line in grey)
        words = f"{len(grey)} others" if len(grey) > 1 else "1 other"
        ends.append((heights[len(heights) // 2], Markup(words), "var(--quiet)"))
    moved = spread([end[0] for end in ends], LINE)
    x = WIDTH - RIGHT + 7
    return "".join(
        f'<text x="{x}" y="{y + 4:.1f}" class="end" style="fill: {INK.format(colour)}">{name}</text>'
        for (_, name, colour), y in zip(ends, moved, strict=True)
    )


def _end(line: Line, place: Place) -> float:
    return float(place(line.epochs[-1], line.mean[-1])[1])


def _name(text: str) -> Markup:
    head, subscript, rest = parts(text)
    if not subscript:
        return escape(head)
    return Markup('{}<tspan dy="3" font-size="75%">{}</tspan><tspan dy="-3">{}</tspan>').format(head, subscript, rest)
