"""From the files of a study to what figures and the report read."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warlab.artefacts.ground_cost import read_matrix
from warlab.common.files import read_arrays, read_json
from warlab.reporting.figures.base import Inputs
from warlab.reporting.read.results import CELL, read_published, read_runs
from warlab.reporting.stats.audit_scores import read_audit
from warlab.reporting.stats.comparison import read_statistics
from warlab.reporting.tables.labels import Labels


def read_inputs(files: Mapping[str, Any], labels: Labels, aliases: Sequence[Sequence[str]] = ()) -> Inputs:
    """`files` maps any of a figure's needs, and meta, to their paths, as the rule of a figure lists them."""
    paths = {kind: [Path(p) for p in ([given] if isinstance(given, str) else given)] for kind, given in files.items()}
    return Inputs(
        runs=read_runs(paths["runs"][0]) if "runs" in paths else None,
        noise=read_noise(paths.get("noise", [])),
        costs=read_costs(paths.get("costs", [])),
        data={p.stem: (read_arrays(p), read_json(p.with_suffix(".json"))) for p in _data(paths)},
        maps=[_read_map(p) for p in paths.get("maps", [])],
        labels=labels,
        sources={meta["dataset"]: meta["source"] for meta in map(read_json, paths.get("meta", []))},
        published=read_published(paths["published"][0]) if "published" in paths else None,
        aliases=aliases,
        statistics=read_statistics(paths["statistics"][0]) if "statistics" in paths else None,
        toy=read_arrays(paths["toy"][0]) if "toy" in paths else {},
        activations=read_arrays(paths["activations"][0]) if "activations" in paths else {},
        audit=read_audit(paths["audit"][0]) if "audit" in paths else None,
    )


def _data(paths: Mapping[str, list[Path]]) -> list[Path]:
    return [*paths.get("data", []), *paths.get("tiles", [])]


def _read_map(path: Path) -> dict[str, Any]:
    """A file …/<dataset>/<noise>/<net>/<method>/seed<k>/labels.npz"""
    identity = dict(zip(CELL, path.parts[-6:-2], strict=True))
    return {**identity, "seed": int(path.parts[-2].removeprefix("seed")), "labels": read_arrays(path)["labels"]}


def read_noise(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Manifests with their labels."""
    return [{**read_json(p.with_suffix(".json")), "labels": read_arrays(p)["labels"]} for p in paths]


def read_costs(verified: Iterable[Path]) -> list[dict[str, Any]]:
    """Provenance of every cost, with its matrix and its verification."""
    found = []
    for path in verified:
        provenance = read_json(path.with_name("cost.json"))
        matrix = read_matrix(path.with_name("cost.csv"), provenance["class_names"])
        found.append({**provenance, "matrix": matrix, "verified": read_json(path)})
    return found
