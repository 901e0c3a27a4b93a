"""What a scale costs before it is paid: its trainings, and their time by measured seconds per image.

Work of a training image = 3 forwards of its network for the reference method (CCE), times the factor of another method
after its warm-up. A forward grows with the number of pixels and with the square of the width. config/speed.yaml holds
what was measured; as long as that was a CPU, config/gpus.yaml holds what is guessed of GPUs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NotRequired, TypedDict, cast

from warlab import data
from warlab.common.readings import tested_epochs
from warlab.config.reading import read_yaml
from warlab.config.study import Study, load_study
from warlab.ids import RunId

PER_RUN = 5.0  # seconds of start-up and writing, measured at the smoke scale


class NetworkSpeed(TypedDict):
    """Seconds of one training image of the reference method: forward and backward, at this width and size."""

    width: float
    pixels: float
    seconds_per_image: float


class Factors(TypedDict):
    """What decides a time: networks, and for each method how many images of the reference one of its images is
    worth."""

    networks: dict[str, NetworkSpeed]
    methods: dict[str, float]


class Speeds(Factors):
    """config/speed.yaml. A network or method of `not_measured` is reckoned from others."""

    machine: str
    reference: str
    gpu: NotRequired[bool]
    not_measured: NotRequired[list[str]]


class Gigaflops(TypedDict):
    """Of one forward of an image of so many pixels."""

    pixels: float
    value: float


class Gpus(TypedDict):
    """config/gpus.yaml"""

    gigaflops: dict[str, Gigaflops]
    effective_teraflops: dict[str, float]


def read_speeds(root: Path) -> Speeds:
    return cast(Speeds, read_yaml(root / "config" / "speed.yaml"))


def read_gpus(root: Path) -> Gpus:
    return cast(Gpus, read_yaml(root / "config" / "gpus.yaml"))


def overview(config: Mapping[str, object], root: Path) -> str:
    """A table of all scales of config/scales, and of the user's own if that is chosen."""
    speed, gpus = read_speeds(root), read_gpus(root)
    columns = hours_by(speed, gpus)
    names = "".join(f"{name:>12}" for name in columns)
    chosen = load_study({**config}, root)
    known = sorted(path.stem for path in (root / "config" / "scales").glob("*.yaml"))
    studies = [chosen if name == chosen.name else load_study({**config, "scale": name}, root) for name in known]
    if chosen.name not in known:
        studies.append(chosen)
    width = max(len(study.name) for study in studies) + 1
    return "\n".join(
        [
            f"{'scale':{width}}{'trainings':>10}{'epochs':>10}{names}",
            *(f"{study.name:{width}}{_line(study, columns, study is chosen)}" for study in studies),
            *_assumptions(speed, gpus),
        ]
    )


def hours_by(speed: Speeds, gpus: Gpus) -> dict[str, Factors]:
    """Column of hours → the speeds behind it. Guesses about GPUs are left out once a GPU was measured."""
    measured = completed(speed, gpus["gigaflops"])
    if speed.get("gpu"):
        return {"GPU hours": measured}
    return {"core hours": measured} | {f"~{name} h": guessed(gpus, name, speed) for name in gpus["effective_teraflops"]}


def measured(root: Path) -> Factors:
    """The speeds of config/speed.yaml, for every network."""
    return completed(read_speeds(root), read_gpus(root)["gigaflops"])


def completed(speed: Factors, flops: Mapping[str, Gigaflops]) -> Factors:
    """With the networks that were not measured, by their work relative to that of the 9-layer network."""
    cnn9, work = speed["networks"]["cnn9"], flops["cnn9"]
    per_gigaflop = cnn9["seconds_per_image"] / (work["value"] * cnn9["width"] ** 2 * cnn9["pixels"] / work["pixels"])
    return {"networks": _reckoned(flops, per_gigaflop) | speed["networks"], "methods": speed["methods"]}


def guessed(gpus: Gpus, name: str, speed: Factors) -> Factors:
    """Speeds of a GPU that nobody here has run."""
    per_gigaflop = 3e9 / (1e12 * gpus["effective_teraflops"][name])
    return {"networks": _reckoned(gpus["gigaflops"], per_gigaflop), "methods": speed["methods"]}


def _reckoned(flops: Mapping[str, Gigaflops], per_gigaflop: float) -> dict[str, NetworkSpeed]:
    """From the seconds that one gigaflop of a forward takes in training."""
    return {
        net: {"width": 1.0, "pixels": entry["pixels"], "seconds_per_image": per_gigaflop * entry["value"]}
        for net, entry in flops.items()
    }


def _assumptions(speed: Speeds, gpus: Gpus) -> list[str]:
    reckoned = ", ".join(speed.get("not_measured", []))
    measured = f"Measured: {speed['machine']}" + (f"; {reckoned} reckoned, not measured" if reckoned else "") + "."
    together = (
        "Times are for one training at a time; trainings run side by side, so divide by the cores or GPUs you give. "
        "`snakemake -n` counts the small jobs, too."
    )
    if speed.get("gpu"):
        return [measured, together]
    power = ", ".join(f"{name} {value}" for name, value in gpus["effective_teraflops"].items())
    guess = f"~ is a guess, ±40 %, from effective float32 TFLOP/s ({power}), see config/gpus.yaml: no GPU was measured."
    return [measured, guess, together]


def _line(study: Study, columns: Mapping[str, Factors], chosen: bool) -> str:
    epochs = sum(study.settings.training(cell.dataset, cell.noise, cell.method)["epochs"] for cell in study.plan.runs)
    hours = [core_hours(study, speed) for speed in columns.values()]
    mark = " (this scale)" if chosen else ""
    times = "".join(f"{value:>12.{2 if value < 100 else 0}f}" for value in hours)
    return f"{len(study.plan.runs):>10}{epochs:>10}{times}{mark}"


def core_hours(study: Study, speed: Factors) -> float:
    """Of all trainings of a scale."""
    return sum(seconds(study, cell, speed) for cell in study.plan.runs) / 3600


def seconds(study: Study, cell: RunId, speed: Factors) -> float:
    """One training on the machine that was measured."""
    training = study.settings.training(cell.dataset, cell.noise, cell.method)
    reference = speed["networks"].get(cell.net, speed["networks"]["cnn9"])  # a network of the user's own
    width = study.settings.width(cell.net, cell.dataset)
    pixels = pixels_of(study, cell.dataset)
    image = reference["seconds_per_image"] * (width / reference["width"]) ** 2 * pixels / reference["pixels"]
    factor = speed["methods"].get(study.numbers.method_file(cell.method), 1.0)
    warmup = study.settings.warmup(cell)
    train, test = images(study, cell.dataset)
    tested = tested_epochs(training["epochs"], training.get("evaluate_every", 1))
    work = train * (warmup + factor * (training["epochs"] - warmup)) + test * tested / 3
    return PER_RUN + image * work


def pixels_of(study: Study, dataset: str) -> float:
    """Pixels of what goes through a network: an image, or a patch of a tile."""
    if patch := study.settings.training(dataset).get("patch"):
        return patch**2
    _, height, breadth = data.get(dataset).pixels.shape
    return height * breadth / study.settings.data_spec(dataset)["pool"] ** 2


def images(study: Study, dataset: str) -> tuple[float, float]:
    """Training and test images of an epoch at this scale; of tiles, patches."""
    spec, full = study.settings.data_spec(dataset), data.get(dataset).images
    train, test = spec["train"] or full[0], spec["test"] or full[1]
    training = study.settings.training(dataset)
    if "patch" not in training:
        return train, test
    side = 228 if spec["source"] == "stand_in" else 2240  # of a square tile, on average
    stride = training["patch"] - training["overlap"]
    return training["steps"] * training["batch_size"], test * (side / spec["pool"] / stride) ** 2
