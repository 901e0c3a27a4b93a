"""How fast this machine is, from finished runs: what `warlab speed` prints and writes into config/speed.yaml.

Inverse of `warlab.pipeline.time_estimate.seconds`: an epoch of the reference method, which config/speed.yaml names, is
`train + test / 3` images, one of another method `factor * train + test / 3`. On a CPU processor time counts, so that
pauses and other work do not; on a GPU the clock does.
"""

import csv
import statistics
from collections import defaultdict
from pathlib import Path

import yaml

from warlab.common.files import read_json, write_text
from warlab.config.study import Study
from warlab.errors import WarlabError
from warlab.ids import MethodId, RunId
from warlab.pipeline.paths import Paths
from warlab.pipeline.time_estimate import NetworkSpeed, Speeds, images, pixels_of, read_speeds

_HEAD = "# Measured from the finished runs of scale {scale} by `warlab --scale {scale} speed --write`.\n"


def speed(study: Study, root: Path, write: bool) -> str:
    """The text of config/speed.yaml with what this machine has measured in place of what it said before."""
    before = read_speeds(root)
    if "reference" not in before:
        raise WarlabError("config/speed.yaml lacks the key 'reference'; name the method that is the unit, as cce.")
    merged = _merged(before, measure(study, before["reference"]))
    text = _HEAD.format(scale=study.name) + yaml.safe_dump(dict(merged), sort_keys=False)
    if write:
        write_text(root / "config" / "speed.yaml", text)
    return text.rstrip("\n")


def measure(study: Study, reference: str) -> Speeds:
    """What the study's finished runs say; the unit is a training image of the method `reference`."""
    pattern = Paths.of(study).run
    folders = {run: Path(pattern.format(**vars(run))) for run in study.plan.runs}
    done = {run: folder for run, folder in folders.items() if (folder / "result.json").exists()}
    if not (plain := [run for run in done if run.method == reference]):
        told = f"Scale {study.name} has no finished run of {reference} to measure by"
        raise WarlabError(f"{told}; train one and ask again.")
    made = read_json(done[plain[0]] / "result.json")["provenance"]
    gpu = not made["processor"].startswith("CPU")
    per_image = _networks(study, {cell: done[cell] for cell in plain}, gpu)
    versions = f"torch {made['versions']['torch']}, threads: {made['threads']}"
    return {
        "machine": f"{made['processor']} of {made['host']}, {versions}",
        "gpu": gpu,
        "reference": reference,
        "networks": {net: _reference(study, net, per_image) for net in dict.fromkeys(cell.net for cell in plain)},
        "methods": {reference: 1.0} | _factors(study, done, per_image, gpu, reference),
    }


PerImage = dict[tuple[str, str], float]  # dataset, network → seconds of one training image of the reference


def _networks(study: Study, runs: dict[RunId, Path], gpu: bool) -> PerImage:
    found = defaultdict(list)
    for cell, run in runs.items():
        train, test = images(study, cell.dataset)
        found[cell.dataset, cell.net].append(_epoch(run, 0, gpu) / (train + test / 3))
    return {place: statistics.median(values) for place, values in found.items()}


def _reference(study: Study, net: str, per_image: PerImage) -> NetworkSpeed:
    dataset, seconds = next((place[0], value) for place, value in per_image.items() if place[1] == net)
    width = study.settings.width(net, dataset)
    return {"width": width, "pixels": pixels_of(study, dataset), "seconds_per_image": float(f"{seconds:.3g}")}


def _factors(study: Study, runs: dict[RunId, Path], per_image: PerImage, gpu: bool, reference: str) -> dict[str, float]:
    """Method → images of the reference that one of its training images is worth, after its warm-up."""
    found = defaultdict(list)
    for cell, run in runs.items():
        file = study.numbers.method_file(cell.method)
        if file == reference or MethodId.parse(cell.method).changes or (cell.dataset, cell.net) not in per_image:
            continue
        warmup = study.settings.warmup(cell)
        train, test = images(study, cell.dataset)
        found[file].append((_epoch(run, warmup, gpu) / per_image[cell.dataset, cell.net] - test / 3) / train)
    return {file: round(statistics.median(values), 2) for file, values in found.items()}


def _epoch(run: Path, after: int, gpu: bool) -> float:
    """Median seconds of an epoch after the warm-up; processor time where the processor does the work."""
    rows = list(csv.DictReader((run / "metrics.csv").read_text().splitlines()))
    column = "seconds" if gpu else "processor_seconds"
    if column not in rows[0]:
        raise WarlabError(
            f"{run / 'metrics.csv'} has no column {column}; it was made by an older version, train it again."
        )
    return statistics.median(float(row[column]) for row in rows[min(after, len(rows) - 1) :])


def _merged(before: Speeds, measured: Speeds) -> Speeds:
    """What was not measured stays as it was, and is named; of another kind of machine nothing but ratios can stay."""
    same_kind = bool(before.get("gpu")) == measured["gpu"]
    networks = (before["networks"] if same_kind else {}) | measured["networks"]
    methods = before["methods"] | measured["methods"]
    known = {*measured["networks"], *measured["methods"]}
    rest = [name for name in (*networks, *methods) if name not in known]
    return measured | {"networks": networks, "methods": methods, "not_measured": rest}
