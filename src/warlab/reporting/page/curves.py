"""Learning curves as data for the report's own drawing, which one can ask for values."""

from typing import Any

import pandas as pd

from warlab.reporting import style
from warlab.reporting.read.results import complete
from warlab.reporting.tables.labels import Labels, name

PANEL = ["dataset", "noise", "net"]


def curves(runs: pd.DataFrame, labels: Labels) -> list[dict[str, Any]]:
    """A panel per dataset, noise and network; a line per method with mean, lowest and highest of its seeds."""
    panels = []
    for key, panel in complete(runs).groupby(PANEL, sort=False):
        title = ", ".join(name(labels, kind, str(value)) for kind, value in zip(PANEL, key, strict=True))
        stand_in = " (stand-in data)" if "stand-in" in set(panel["data"]) else ""
        lines = [_line(str(method), group, labels) for method, group in panel.groupby("method", sort=False)]
        place = {"setting": [str(value) for value in key], "stand_in": bool(stand_in)}
        panels.append({"title": title + stand_in, **place, "lines": lines})
    return panels


def _line(method: str, group: pd.DataFrame, labels: Labels) -> dict[str, Any]:
    seeds = group.pivot_table(index="epoch", columns="seed", values="test_accuracy")
    colour, dashes = style.line(method)
    numbers = {"mean": seeds.mean(axis=1), "low": seeds.min(axis=1), "high": seeds.max(axis=1)}
    return {
        "method": method,
        "name": name(labels, "method", method),
        "colour": "currentColor" if colour == style.BLACK else colour,  # black would vanish in dark mode
        "dashes": _dash_array(dashes),
        "epochs": [int(epoch) for epoch in seeds.index],
        "seeds": int(seeds.shape[1]),
        **{key: [round(float(value), 2) for value in values] for key, values in numbers.items()},
    }


def _dash_array(dashes: style.Dashes) -> str:
    """For SVG, at the two pixels that a line is wide."""
    if isinstance(dashes, tuple):
        return " ".join(str(2 * length) for length in dashes[1])
    return {"-": "", "--": "6 3", ":": "2 3", "-.": "6 3 2 3"}[dashes]
