"""The settings that a study uses, and which of them differ from the paper's."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from warlab import data, noise
from warlab.config.numbers import FILE, SECTIONS
from warlab.config.settings import Value
from warlab.config.study import Study
from warlab.ids import RunId, base_method

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
        kind = {"tiles": "tiles", "vectors": "samples"}.get(known.samples, "images")
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
                if one.value != one.paper and one.layer != "id":
                    yield f"{owner}: {key.replace('_', ' ')}", _text(one.paper), _text(one.value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return f"{value:.6g}" if isinstance(value, float) else "none" if value is None else str(value)


# ---- the table of hyperparameters


def used_settings(study: Study) -> list[dict[str, Any]]:
    """Return a row per setting of the runs and its value; a setting with several values has a row for each, which says
    in which runs it counts."""
    found: dict[tuple[str, str, str], dict[str, tuple[Value, list[RunId]]]] = {}
    for run in dict.fromkeys(replace(run, seed=0) for run in study.plan.runs):
        owners = {
            "training": run.dataset,
            "nets": run.net,
            "methods": base_method(run.method),
            "costs": study.settings.cost_name(run) or "",
            "noise": noise.parse(run.noise)[0],
        }
        for section, values in study.settings.explain(run).items():
            for key, one in values.items():
                options = found.setdefault((section, owners[section], key), {})
                options.setdefault(repr(one), (one, []))[1].append(run)
    rows = [
        {
            "section": section,
            "of": owner,
            "setting": key,
            "runs": _tell_apart(runs, [other for _, part in options.values() if part is not runs for other in part]),
            "value": one.value,
            "layer": one.layer,
            # without what is the same in most rows
            "source": one.source.removeprefix(f"config/{FILE}: ").removeprefix("src/warlab/")
            + f" ({one.scaled})" * bool(one.scaled),
        }
        for (section, owner, key), options in found.items()
        for one, runs in options.values()
    ]
    return sorted(rows, key=lambda row: SECTIONS.index(row["section"]))


def _tell_apart(runs: Collection[RunId], others: Collection[RunId]) -> str:
    """Return what distinguishes these runs from the others: their datasets, or as much more of their ids as needed."""
    if not others:
        return ""
    for parts in (("dataset",), ("dataset", "noise"), ("dataset", "method"), ("dataset", "noise", "net", "method")):
        here, there = (["/".join(getattr(run, part) for part in parts) for run in some] for some in (runs, others))
        if not {*here} & {*there}:
            break
    return ", ".join(dict.fromkeys(here))
