"""What a scale changes: every value that differs from the paper's."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from warlab import data
from warlab.config.study import Study
from warlab.ids import base_method

Row = tuple[str, str, str]


def reductions(study: Study) -> list[dict[str, str]]:
    """Return rows (what, paper, here) for seeds, data, and every setting of a schedule, network, method or cost that
    the scale or `overrides` changes, or that shrinks with the number of epochs."""
    rows = dict.fromkeys([*_seeds(study), *_data(study), *_settings(study)])
    return [dict(zip(("what", "paper", "here"), row, strict=True)) for row in rows]


def _seeds(study: Study) -> Iterator[Row]:
    for name in study.plan.tables:
        entry, here = study.experiments[name], len({cell.seed for cell in study.plan.cells(name)})
        if here != entry["seeds"]:
            yield f"seeds of “{entry['title']}”", str(entry["seeds"]), str(here)


def _data(study: Study) -> Iterator[Row]:
    for name in dict.fromkeys(cell.dataset for cell in study.plan.runs):
        known, spec = data.get(name), study.settings.data_spec(name)
        kind = "tiles" if known.samples == "tiles" else "images"
        if spec.source != "real":
            meaning = {"embedded": "the part that comes with warlab", "stand_in": "procedural stand-in"}
            yield f"{known.title}: data", "official files", meaning[spec.source]
        for split, count, here in zip(("train", "test"), known.images, (spec.train, spec.test), strict=True):
            if here not in (None, count) and count:
                yield f"{known.title}: {split} {kind}", str(count), str(here)
        if spec.pool != 1:
            yield f"{known.title}: size", _size(known.pixels.shape, 1), _size(known.pixels.shape, spec.pool)


def _size(shape: tuple[int, int, int], pool: int) -> str:
    return "×".join(str(side // pool) for side in shape[1:])


def _settings(study: Study) -> Iterator[Row]:
    for run in dict.fromkeys(replace(run, method=base_method(run.method), seed=0) for run in study.plan.runs):
        title, values = data.get(run.dataset).title, study.settings.explain(run)
        owners = {
            "training": title,
            "nets": f"{title}, {run.net}",
            "methods": f"{title}, {study.labels['method'].get(run.method, run.method)}",
            "costs": f"{title}, cost {study.settings.cost_name(run)}",
        }
        for section, owner in owners.items():
            for key, one in values.get(section, {}).items():
                if one.value != one.paper:
                    yield f"{owner}: {key.replace('_', ' ')}", _text(one.paper), _text(one.value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return f"{value:.6g}" if isinstance(value, float) else "none" if value is None else str(value)
