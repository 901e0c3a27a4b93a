"""What a scale changes: every value that differs from the paper's, found by comparing settings."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from warlab import data
from warlab.config.models import Scale, UserConfig
from warlab.config.numbers import SECTIONS
from warlab.config.settings import Settings
from warlab.config.study import Study
from warlab.ids import base_method

Row = tuple[str, str, str]


def reductions(study: Study) -> list[dict[str, str]]:
    """Return rows (what, paper, here) for seeds, data, and every setting of a schedule, network, method or cost that
    the scale or `overrides` changes, or that shrinks with the number of epochs."""
    full = replace(
        study,
        scale=cast(Scale, {key: value for key, value in study.scale.items() if key not in SECTIONS}),
        config=cast(UserConfig, {key: value for key, value in study.config.items() if key != "overrides"}),
    )
    rows = dict.fromkeys([*_seeds(study), *_data(study), *_settings(study, full.settings)])
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


def _settings(study: Study, full: Settings) -> Iterator[Row]:
    here, labels = study.settings, study.labels["method"]
    for run in dict.fromkeys(replace(run, method=base_method(run.method), seed=0) for run in study.plan.runs):
        title, method = data.get(run.dataset).title, labels.get(run.method, run.method)
        paper, reduced = full.run(run), here.run(run)
        yield from _changed(title, paper.training, reduced.training)
        yield from _changed(f"{title}, {run.net}", paper.net.settings, reduced.net.settings)
        yield from _changed(f"{title}, {method}", paper.method.settings, reduced.method.settings)
        if cost := here.cost_name(run):
            yield from _changed(f"{title}, cost {cost}", full.cost(cost, run.dataset), here.cost(cost, run.dataset))


def _changed(what: str, paper: Mapping[str, object], here: Mapping[str, object]) -> Iterator[Row]:
    for key in dict.fromkeys([*paper, *here]):
        if paper.get(key) != here.get(key):
            yield f"{what}: {key.replace('_', ' ')}", _text(paper.get(key)), _text(here.get(key))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return f"{value:.6g}" if isinstance(value, float) else "none" if value is None else str(value)
