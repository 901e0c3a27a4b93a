"""The table of times: seconds per epoch, and their ratios, which can be compared between machines."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from warlab import data
from warlab.reporting.formats import number, render
from warlab.reporting.names import Labels, display_name
from warlab.reporting.read.artefacts import Timing
from warlab.reporting.tables.results_table import KEY, TIDY

ASSETS = ("reporting/templates/timing_legend.md",)  # part of the digest
SECONDS, RATIO = "seconds_per_epoch", "ratio"
COLUMNS = ("dataset", "method", "ours", "paper")
METHODS = ("cce", "ar", "war_01", "war_code")
RATIOS = (("war_01", "ar"), ("ar", "cce"), ("war_01", "cce"), ("war_code", "cce"), ("war_code", "ar"))


def timing_table(measured: Iterable[Timing], published: pd.DataFrame) -> pd.DataFrame:
    """Return a tidy table with a row per dataset and method for its seconds, then the ratios (method: a/b).

    The paper's seconds are of its own code and of one WAR per dataset: the ground cost takes no time.
    """
    rows: list[tuple[str | float, ...]] = []
    for entry in measured:
        about, seconds = (entry["dataset"], entry["noise"], entry["net"]), published[published["metric"] == SECONDS]
        seconds = seconds[seconds["dataset"] == entry["dataset"]]
        paper = dict(zip(seconds["method"], seconds["mean"].astype(float), strict=True))
        war = [value for method, value in paper.items() if method.startswith("war")]
        paper |= {"war_01": war[0], "war_code": war[0]} if war else {}
        ours = {method: entry["seconds"][method]["epoch"] for method in METHODS if method in entry["seconds"]}
        rows += [(*about, method, SECONDS, value, paper.get(method, np.nan)) for method, value in ours.items()]
        for a, b in [(a, b) for a, b in RATIOS if a in ours and b in ours]:
            rows.append((*about, f"{a}/{b}", RATIO, ours[a] / ours[b], paper.get(a, np.nan) / paper.get(b, np.nan)))
    table = pd.DataFrame(rows, columns=[*KEY, "mean", "published"])
    table = table.assign(difference=table["mean"] - table["published"], seeds=1, data="random images")
    return table.reindex(columns=list(TIDY))


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
    return " ".join(render("timing_legend.md", title=title, machine=machine, reduced=reduced).split())
