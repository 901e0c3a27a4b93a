"""The table of times: seconds per epoch, and the ratios, which alone can be compared between machines."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from warlab import data
from warlab.reporting.tables import listing
from warlab.reporting.tables.grid import number
from warlab.reporting.tables.labels import Labels, markdown, markdown_method, name
from warlab.reporting.tables.results_table import TIDY

SECONDS, RATIO = "seconds_per_epoch", "ratio"
METHODS = ("cce", "ar", "war_01", "war_code")
RATIOS = (("war_01", "ar"), ("ar", "cce"), ("war_01", "cce"), ("war_code", "cce"), ("war_code", "ar"))


def timing_table(measured: Iterable[Mapping[str, Any]], published: pd.DataFrame) -> pd.DataFrame:
    """The tidy columns of every table: a row per dataset and method with its seconds, then the ratios (method: a/b)."""
    rows = [row for entry in measured for row in _rows(entry, published)]
    table = pd.DataFrame(rows, columns=list(TIDY))
    return table.assign(difference=table["mean"] - table["published"], seeds=1)


def _rows(entry: Mapping[str, Any], published: pd.DataFrame) -> list[dict[str, Any]]:
    key = {kind: entry[kind] for kind in ("dataset", "noise", "net")} | {"data": "random images"}
    ours = {method: entry["seconds"][method]["epoch"] for method in METHODS if method in entry["seconds"]}
    paper = _published(entry["dataset"], published)
    seconds = [
        key | {"method": method, "metric": SECONDS, "mean": value, "published": paper.get(method, np.nan)}
        for method, value in ours.items()
    ]
    ratios = [
        key | {"method": f"{a}/{b}", "metric": RATIO, "mean": ours[a] / ours[b], "published": _ratio(paper, a, b)}
        for a, b in RATIOS
        if a in ours and b in ours
    ]
    return seconds + ratios


def _published(dataset: str, published: pd.DataFrame) -> dict[str, float]:
    """The paper times one WAR per dataset and its own code; the cost decides nothing about the time."""
    own = published[(published["dataset"] == dataset) & (published["metric"] == SECONDS)]
    seconds = dict(zip(own["method"], own["mean"].astype(float), strict=True))
    war = [value for method, value in seconds.items() if method.startswith("war")]
    return seconds | ({"war_01": war[0], "war_code": war[0]} if war else {})


def _ratio(seconds: Mapping[str, float], a: str, b: str) -> float:
    return seconds[a] / seconds[b] if a in seconds and b in seconds else np.nan


def is_reduced(entry: Mapping[str, Any]) -> bool:
    """Whether a scale shrank the network or the images: then transport weighs more than in the paper."""
    spec = entry["spec"]
    return spec["net"]["settings"].get("width", 1) < 1 or tuple(spec["shape"]) != data.get(entry["dataset"]).shape


def timing_latex(table: pd.DataFrame, labels: Labels, title: str, machine: str, reduced: bool) -> str:
    rows = [
        {
            "dataset": name(labels, "dataset", str(row["dataset"])),
            "method": " / ".join(name(labels, "method", part) for part in str(row["method"]).split("/")),
            **{kind: _value(row, key) for kind, key in zip(("ours", "paper"), _NUMBERS, strict=True)},
        }
        for row in table.to_dict("records")
    ]
    return listing.to_latex(
        rows, ["dataset", "method", "ours", "paper"], _legend(title, machine, reduced), "tab:timing"
    )


def timing_markdown(table: pd.DataFrame, labels: Labels, title: str, machine: str, reduced: bool) -> str:
    lines = ["| dataset | method | ours | paper |", "| --- | --- | --- | --- |"]
    for row in table.to_dict("records"):
        shown = " / ".join(markdown_method(name(labels, "method", part)) for part in str(row["method"]).split("/"))
        values = [_value(row, kind) for kind in _NUMBERS]
        lines.append(f"| {markdown(name(labels, 'dataset', str(row['dataset'])))} | {shown} | {' | '.join(values)} |")
    return "\n".join([*lines, "", markdown(_legend(title, machine, reduced)), ""])


def _value(row: Mapping[Any, Any], kind: str) -> str:
    digits, unit = (2, "") if row["metric"] == RATIO else (1, " s")
    return f"{number(row[kind], digits)}{unit}" if row[kind] == row[kind] else "–"


def _legend(title: str, machine: str, reduced: bool) -> str:
    legend = (
        f"{title}, on random images of each dataset's shape, median step times steps per epoch, on {machine}. The "
        "paper's seconds are of a GTX TITAN: compare the ratios. WAR is computed leanly here; the authors' code "
        "takes a second clean forward and gradients that it throws away."
    )
    if reduced:
        legend += " This scale has a narrower network or smaller images, so that even the ratios are not the paper's."
    return legend


_NUMBERS = ("mean", "published")
