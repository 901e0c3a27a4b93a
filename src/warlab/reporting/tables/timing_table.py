"""The table of times: seconds per epoch, and their ratios, which can be compared between machines."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from warlab import data
from warlab.reporting.formats import number
from warlab.reporting.names import Labels, display_name
from warlab.reporting.read.artefacts import Timing
from warlab.reporting.tables.results_table import KEY, TIDY

SECONDS, RATIO = "seconds_per_epoch", "ratio"
COLUMNS = ("dataset", "method", "ours", "paper")
METHODS = ("cce", "ar", "war_01", "war_code")
RATIOS = (("war_01", "ar"), ("ar", "cce"), ("war_01", "cce"), ("war_code", "cce"), ("war_code", "ar"))


def timing_table(measured: Iterable[Timing], published: pd.DataFrame) -> pd.DataFrame:
    """Return a tidy table with a row per dataset and method for its seconds, then the ratios (method: a/b)."""
    rows = [row for entry in measured for row in _rows(entry, published)]
    table = pd.DataFrame(rows, columns=[*KEY, "mean", "published"])
    table = table.assign(difference=table["mean"] - table["published"], seeds=1, data="random images")
    return table.reindex(columns=list(TIDY))


def _rows(entry: Timing, published: pd.DataFrame) -> list[tuple[str | float, ...]]:
    ours = {method: entry["seconds"][method]["epoch"] for method in METHODS if method in entry["seconds"]}
    paper = _published(entry["dataset"], published)
    pairs = [(a, b) for a, b in RATIOS if a in ours and b in ours]
    numbers = [(method, SECONDS, value, paper.get(method, np.nan)) for method, value in ours.items()]
    numbers += [(f"{a}/{b}", RATIO, ours[a] / ours[b], paper.get(a, np.nan) / paper.get(b, np.nan)) for a, b in pairs]
    return [(entry["dataset"], entry["noise"], entry["net"], *row) for row in numbers]


def _published(dataset: str, published: pd.DataFrame) -> dict[str, float]:
    """Return the paper's seconds, of its own code and of one WAR per dataset: the ground cost takes no time."""
    rows = published[(published["dataset"] == dataset) & (published["metric"] == SECONDS)]
    seconds = dict(zip(rows["method"], rows["mean"].astype(float), strict=True))
    war = [value for method, value in seconds.items() if method.startswith("war")]
    return seconds | ({"war_01": war[0], "war_code": war[0]} if war else {})


def is_reduced(entry: Timing) -> bool:
    """Return whether the scale shrinks the network or the images, so that transport takes a larger share."""
    spec, pixels = entry["spec"], data.get(entry["dataset"]).pixels
    return spec["net"]["settings"].get("width", 1) < 1 or tuple(spec["shape"]) != pixels.shape


def timing_rows(table: pd.DataFrame, labels: Labels) -> list[dict[str, str]]:
    """Return rows for print; the columns are COLUMNS."""
    columns = ["dataset", "method", "metric", "mean", "published"]
    return [
        {
            "dataset": display_name(labels, "dataset", dataset),
            "method": " / ".join(display_name(labels, "method", part) for part in method.split("/")),
            "ours": _value(mean, metric),
            "paper": _value(published, metric),
        }
        for dataset, method, metric, mean, published in table[columns].itertuples(index=False)
    ]


def _value(value: float, metric: str) -> str:
    digits, unit = (2, "") if metric == RATIO else (1, " s")
    return f"{number(value, digits)}{unit}" if value == value else "–"


def timing_legend(title: str, machine: str, reduced: bool) -> str:
    legend = (
        f"{title}, on random images of each dataset's shape, median step times steps per epoch, on {machine}. The "
        "paper's seconds are of a GTX TITAN: compare the ratios. WAR is computed leanly here; the authors' code "
        "takes a second clean forward pass and gradients that it throws away."
    )
    if reduced:
        legend += " This scale has a narrower network or smaller images, so that even the ratios are not the paper's."
    return legend
