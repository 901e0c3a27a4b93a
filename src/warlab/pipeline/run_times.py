"""How long trainings take: estimated for every scale (`warlab plan`), or measured from finished runs (`warlab speed`).

The unit of work is a training image of the reference method (CCE), which takes three forward passes. After its warm-up
another method takes `factor` times as long; a test image takes a third. A forward pass grows with the number of pixels
and with the square of the width. config/speed.yaml holds measured speeds. As long as they are those of a CPU,
config/gpus.yaml holds guesses about GPUs.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import NotRequired, TypedDict, cast

import yaml

from warlab import data
from warlab.common.files import read_json, write_text
from warlab.common.readings import tested_epochs
from warlab.config.reading import read_yaml
from warlab.config.study import Study, load_study
from warlab.errors import WarlabError
from warlab.ids import MethodId, RunId
from warlab.pipeline.paths import Paths

PER_RUN = 5.0  # seconds of start-up and writing, measured at the smoke scale
HEAD = "# Measured from the finished runs of scale {scale} by `warlab --scale {scale} speed --write`.\n"


class NetworkSpeed(TypedDict):
    """Seconds of one training image of the reference method: forward and backward, at this width and size."""

    width: float
    pixels: float
    seconds_per_image: float


class Speeds(TypedDict):
    """config/speed.yaml, or speeds that were estimated for other networks or another machine."""

    networks: dict[str, NetworkSpeed]
    methods: dict[str, float]  # time of a training image relative to the reference method
    machine: NotRequired[str]
    reference: NotRequired[str]
    gpu: NotRequired[bool]
    not_measured: NotRequired[list[str]]  # networks and methods whose speed was estimated from others


class Gpus(TypedDict):
    """config/gpus.yaml"""

    gigaflops: dict[str, dict[str, float]]  # network → `value` for one forward pass of an image of `pixels`
    effective_teraflops: dict[str, float]


def read_speeds(root: Path) -> Speeds:
    return cast(Speeds, read_yaml(root / "config" / "speed.yaml"))


def read_gpus(root: Path) -> Gpus:
    return cast(Gpus, read_yaml(root / "config" / "gpus.yaml"))


# ---- the time of one training


def seconds(study: Study, run: RunId, speed: Speeds) -> float:
    """Estimated time of one training."""
    training = study.settings.training(run.dataset, run.noise, run.method)
    reference = speed["networks"].get(run.net, speed["networks"]["cnn9"])  # cnn9 for a network of the user's
    width, pixels = study.settings.width(run.net, run.dataset), pixels_of(study, run.dataset)
    image = reference["seconds_per_image"] * (width / reference["width"]) ** 2 * pixels / reference["pixels"]
    factor = speed["methods"].get(study.numbers.method_file(run.method), 1.0)
    warmup = study.settings.warmup(run)
    train, test = images(study, run.dataset)
    tested = tested_epochs(training["epochs"], training.get("evaluate_every", 1))
    work = train * (warmup + factor * (training["epochs"] - warmup)) + test * tested / 3
    return PER_RUN + image * work


def core_hours(study: Study, speed: Speeds) -> float:
    """Estimated time of all trainings of a scale."""
    return sum(seconds(study, run, speed) for run in study.plan.runs) / 3600


def pixels_of(study: Study, dataset: str) -> float:
    """Pixels of what goes through a network: an image, or a patch of a tile."""
    if patch := study.settings.training(dataset).get("patch"):
        return patch**2
    _, height, breadth = data.get(dataset).pixels.shape
    return height * breadth / study.settings.data_spec(dataset).pool ** 2


def images(study: Study, dataset: str) -> tuple[float, float]:
    """Numbers of training and test images (of tiles: patches) in an epoch."""
    spec, full = study.settings.data_spec(dataset), data.get(dataset).images
    train, test = spec.train or full[0], spec.test or full[1]
    training = study.settings.training(dataset)
    if "patch" not in training:
        return train, test
    side = 228 if spec.source == "stand_in" else 2240  # of a square tile, on average
    stride = training["patch"] - training["overlap"]
    return training["steps"] * training["batch_size"], test * (side / spec.pool / stride) ** 2


# ---- speeds that were not measured


def measured(root: Path) -> Speeds:
    """The speeds of config/speed.yaml, with estimates for the other networks."""
    return completed(read_speeds(root), read_gpus(root))


def completed(speed: Speeds, gpus: Gpus) -> Speeds:
    """Add the networks that were not measured, by their work relative to that of cnn9."""
    cnn9, work = speed["networks"]["cnn9"], gpus["gigaflops"]["cnn9"]
    per_gigaflop = cnn9["seconds_per_image"] / (work["value"] * cnn9["width"] ** 2 * cnn9["pixels"] / work["pixels"])
    return {"networks": _networks(gpus, per_gigaflop) | speed["networks"], "methods": speed["methods"]}


def guessed(gpus: Gpus, name: str, speed: Speeds) -> Speeds:
    """Speeds of a GPU on which nothing was measured."""
    per_gigaflop = 3e9 / (1e12 * gpus["effective_teraflops"][name])
    return {"networks": _networks(gpus, per_gigaflop), "methods": speed["methods"]}


def _networks(gpus: Gpus, per_gigaflop: float) -> dict[str, NetworkSpeed]:
    """`per_gigaflop`: seconds of training for one gigaflop of a forward pass."""
    return {
        net: {"width": 1.0, "pixels": work["pixels"], "seconds_per_image": per_gigaflop * work["value"]}
        for net, work in gpus["gigaflops"].items()
    }


# ---- warlab plan


def overview(config: Mapping[str, object], root: Path) -> str:
    """A table of all scales of config/scales, and of the user's own scale if that is chosen."""
    speed, gpus = read_speeds(root), read_gpus(root)
    columns = hours_by(speed, gpus)
    chosen = load_study({**config}, root)
    known = sorted(path.stem for path in (root / "config" / "scales").glob("*.yaml"))
    studies = [chosen if name == chosen.name else load_study({**config, "scale": name}, root) for name in known]
    if chosen.name not in known:
        studies.append(chosen)
    width = max(len(study.name) for study in studies) + 1
    names = "".join(f"{name:>12}" for name in columns)
    lines = [f"{'scale':{width}}{'trainings':>10}{'epochs':>10}{names}"]
    for study in studies:
        mark = " (this scale)" if study is chosen else ""
        lines.append(f"{study.name:{width}}{_line(study, columns.values())}{mark}")
    return "\n".join([*lines, *_assumptions(speed, gpus)])


def hours_by(speed: Speeds, gpus: Gpus) -> dict[str, Speeds]:
    """Column of hours → its speeds. Guesses about GPUs are left out once a GPU was measured."""
    measured = completed(speed, gpus)
    if speed.get("gpu"):
        return {"GPU hours": measured}
    return {"core hours": measured} | {f"~{name} h": guessed(gpus, name, speed) for name in gpus["effective_teraflops"]}


def _line(study: Study, speeds: Iterable[Speeds]) -> str:
    epochs = sum(study.settings.training(run.dataset, run.noise, run.method)["epochs"] for run in study.plan.runs)
    hours = [core_hours(study, speed) for speed in speeds]
    times = "".join(f"{value:>12.{2 if value < 100 else 0}f}" for value in hours)
    return f"{len(study.plan.runs):>10}{epochs:>10}{times}"


def _assumptions(speed: Speeds, gpus: Gpus) -> list[str]:
    estimated = ", ".join(speed.get("not_measured", []))
    measured = f"Measured: {speed['machine']}" + (f"; {estimated} estimated, not measured" if estimated else "") + "."
    together = (
        "Times are for one training at a time; trainings run in parallel, so divide by the cores or GPUs you give. "
        "`snakemake -n` counts the small jobs, too."
    )
    if speed.get("gpu"):
        return [measured, together]
    power = ", ".join(f"{name} {value}" for name, value in gpus["effective_teraflops"].items())
    guess = f"~ is a guess, ±40 %, from effective float32 TFLOP/s ({power}), see config/gpus.yaml: no GPU was measured."
    return [measured, guess, together]


# ---- warlab speed


def measure_speed(study: Study, root: Path, write: bool) -> str:
    """The text of config/speed.yaml with the speeds of this machine; what was not measured stays as it was."""
    before = read_speeds(root)
    if "reference" not in before:
        raise WarlabError("config/speed.yaml lacks the key 'reference'; name the method that is the unit, as cce.")
    merged = _merged(before, measure(study, before["reference"]))
    text = HEAD.format(scale=study.name) + yaml.safe_dump(dict(merged), sort_keys=False)
    if write:
        write_text(root / "config" / "speed.yaml", text)
    return text.rstrip("\n")


def measure(study: Study, reference: str) -> Speeds:
    """The speeds of the study's finished runs, relative to those of the method `reference`."""
    folders = {run: Path(Paths.of(study).run.format(**vars(run))) for run in study.plan.runs}
    finished = {run: folder for run, folder in folders.items() if (folder / "result.json").exists()}
    plain = [run for run in finished if run.method == reference]
    if not plain:
        problem = f"Scale {study.name} has no finished run of {reference} to measure by"
        raise WarlabError(f"{problem}; train one and ask again.")
    made = read_json(finished[plain[0]] / "result.json")["provenance"]
    gpu = not made["processor"].startswith("CPU")
    per_image = _per_image(study, {run: finished[run] for run in plain}, gpu)
    networks: dict[str, NetworkSpeed] = {}
    for (dataset, net), value in per_image.items():
        width, pixels = study.settings.width(net, dataset), pixels_of(study, dataset)
        networks.setdefault(net, {"width": width, "pixels": pixels, "seconds_per_image": float(f"{value:.3g}")})
    versions = f"torch {made['versions']['torch']}, threads: {made['threads']}"
    return {
        "machine": f"{made['processor']} of {made['host']}, {versions}",
        "gpu": gpu,
        "reference": reference,
        "networks": networks,
        "methods": {reference: 1.0} | _factors(study, finished, per_image, gpu, reference),
    }


PerImage = dict[tuple[str, str], float]  # dataset, network → seconds of one training image of the reference


def _per_image(study: Study, runs: dict[RunId, Path], gpu: bool) -> PerImage:
    times = defaultdict(list)
    for run, folder in runs.items():
        train, test = images(study, run.dataset)
        times[run.dataset, run.net].append(_epoch(folder, 0, gpu) / (train + test / 3))
    return {place: median(values) for place, values in times.items()}


def _factors(study: Study, runs: dict[RunId, Path], per_image: PerImage, gpu: bool, reference: str) -> dict[str, float]:
    """Method → time of a training image after the warm-up, relative to the reference."""
    factors = defaultdict(list)
    for run, folder in runs.items():
        method = study.numbers.method_file(run.method)
        if method == reference or MethodId.parse(run.method).changes or (run.dataset, run.net) not in per_image:
            continue
        train, test = images(study, run.dataset)
        epoch = _epoch(folder, study.settings.warmup(run), gpu)
        factors[method].append((epoch / per_image[run.dataset, run.net] - test / 3) / train)
    return {method: round(median(values), 2) for method, values in factors.items()}


def _epoch(run: Path, warmup: int, gpu: bool) -> float:
    """Median seconds of an epoch after the warm-up: on a CPU processor time, which leaves out pauses and other work."""
    rows = list(csv.DictReader((run / "metrics.csv").read_text().splitlines()))
    column = "seconds" if gpu else "processor_seconds"
    if column not in rows[0]:
        raise WarlabError(
            f"{run / 'metrics.csv'} has no column {column}; it was made by an older version, train it again."
        )
    return median(float(row[column]) for row in rows[min(warmup, len(rows) - 1) :])


def _merged(before: Speeds, measured: Speeds) -> Speeds:
    """Keep what was not measured, and name it; from another kind of machine only the ratios are kept."""
    same_kind = bool(before.get("gpu")) == measured["gpu"]
    networks = (before["networks"] if same_kind else {}) | measured["networks"]
    methods = before["methods"] | measured["methods"]
    known = {*measured["networks"], *measured["methods"]}
    rest = [name for name in (*networks, *methods) if name not in known]
    return measured | {"networks": networks, "methods": methods, "not_measured": rest}
