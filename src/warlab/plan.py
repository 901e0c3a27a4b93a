"""What a scale costs before it is paid: its trainings, and their time by measured seconds per image.

Work of a training image = 3 forwards of its network (CCE), times the method's factor after the warm-up. A forward
grows with the number of pixels and with the square of the width. config/speed.yaml holds what was measured.
"""

from pathlib import Path
from typing import Any

from warlab import data
from warlab.config import Cell, Study, load_study
from warlab.configfiles import read_yaml

PER_RUN = 5.0  # seconds of start-up and writing, measured at the smoke scale


def overview(config: dict[str, Any], root: Path) -> str:
    """A table of all scales of config/scales."""
    speed = read_yaml(root / "config" / "speed.yaml")
    lines = [
        f"{'scale':10}{'trainings':>10}{'epochs':>10}{'core hours':>12}   at {speed['machine']}",
        *(_line(load_study({**config, "scale": path.stem}, root), speed, config["scale"]) for path in _scales(root)),
        "Times are for one thread per training; trainings run side by side, so divide by the cores you give.",
        "A GPU takes far less; nothing here was measured on one. `snakemake -n` counts the small jobs, too.",
    ]
    return "\n".join(lines)


def _scales(root: Path) -> list[Path]:
    return sorted((root / "config" / "scales").glob("*.yaml"))


def _line(study: Study, speed: dict[str, Any], chosen: str) -> str:
    epochs = sum(study.training(cell.dataset, cell.noise, cell.method)["epochs"] for cell in study.runs)
    mark = " (this scale)" if study.name == chosen else ""
    return f"{study.name:10}{len(study.runs):>10}{epochs:>10}{core_hours(study, speed):>12.2f}{mark}"


def core_hours(study: Study, speed: dict[str, Any]) -> float:
    """Of all trainings of a scale."""
    return sum(seconds(study, cell, speed) for cell in study.runs) / 3600


def seconds(study: Study, cell: Cell, speed: dict[str, Any]) -> float:
    """One training on the machine that was measured."""
    training = study.training(cell.dataset, cell.noise, cell.method)
    settings = study.method(cell.method, cell.dataset, cell.noise)
    reference = speed["networks"].get(cell.net, speed["networks"]["cnn9"])
    width = study.net(cell.net, cell.dataset).get("width", 1.0)
    pixels = pixels_of(study, cell.dataset)
    image = reference["seconds_per_image"] * (width / reference["width"]) ** 2 * pixels / reference["pixels"]
    factor = speed["methods"].get(study.method_file(cell.method), 1.0)
    warmup = settings.get("warmup", 0)
    train, test = images(study, cell.dataset)
    work = train * (warmup + factor * (training["epochs"] - warmup)) + test * training["epochs"] / 3
    return PER_RUN + image * work


def pixels_of(study: Study, dataset: str) -> float:
    """Pixels of what goes through a network: an image, or a patch of a tile."""
    if patch := study.training(dataset).get("patch"):
        return patch**2
    _, height, breadth = data.get(dataset).shape
    return height * breadth / study.data_spec(dataset)["pool"] ** 2


def images(study: Study, dataset: str) -> tuple[float, float]:
    """Training and test images of an epoch at this scale; of tiles, patches."""
    spec, full = study.data_spec(dataset), data.get(dataset).images
    train, test = spec["train"] or full[0], spec["test"] or full[1]
    training = study.training(dataset)
    if "patch" not in training:
        return train, test
    side = 228 if spec["source"] == "stand_in" else 2240  # of a square tile, on average
    stride = training["patch"] - training["overlap"]
    return training["steps"] * training["batch_size"], test * (side / spec["pool"] / stride) ** 2
