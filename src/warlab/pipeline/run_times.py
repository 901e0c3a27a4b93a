"""Estimate how long trainings take, for `warlab plan`, `warlab status` and `warlab doctor`.

The unit of work is a training image of CCE, which takes three forward passes. After its warm-up another method takes
`methods` times as long; a test image takes a third. A forward pass grows with the number of pixels (or features) and
with the square of the width. config/speed.yaml has the seconds of the reference machine; runs that this machine has
finished correct them. How fast a network is that is not in this table is known once one of its runs has finished.
"""

import math
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from warlab import data
from warlab.artefacts.run_result import RunResult
from warlab.common.files import read_json
from warlab.common.readings import tested_epochs
from warlab.config.reading import read_yaml
from warlab.config.study import Study, load_study
from warlab.data.in_place import IMAGES, InPlace
from warlab.data.user_data import HELD_OUT
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.pipeline.paths import Paths, snakemake_call

PER_RUN = 5.0  # seconds of start-up and writing, measured at the smoke scale


@dataclass(frozen=True)
class RunTimes:
    """Estimated seconds of the runs of a study; `observed` are the seconds that some of its runs took."""

    study: Study
    reference: Mapping[str, Any]  # config/speed.yaml
    observed: Mapping[RunId, float]
    root: Path  # of the repository

    def seconds_of_run(self, run: RunId) -> float:
        """Estimate one run with its start: by itself, by runs of the same method, network and data, by others of this
        network and data, by all runs, or by the table."""
        if run in self.observed:
            return PER_RUN + self.observed[run]
        ratio = next((self._ratios[kind] for kind in self._kinds(run) if kind in self._ratios), 1.0)
        return PER_RUN + ratio * self.reference_seconds(run)

    def _kinds(self, run: RunId) -> list[tuple[str, ...]]:
        """Return the kinds of runs that tell about this one, the most similar first."""
        alike: list[tuple[str, ...]] = [(run.dataset, run.net, run.method), (run.dataset, run.net)]
        return [*alike, ()] if run.net in self.reference["networks"] else alike

    @cached_property
    def _ratios(self) -> dict[tuple[str, ...], float]:
        """Return observed seconds / seconds of the reference machine for each kind of run."""
        ratios = defaultdict(list)
        for run, seconds in self.observed.items():
            reference = self.reference_seconds(run)  # 0 where the size of the data is not known
            for kind in self._kinds(run) if reference else []:
                ratios[kind].append(seconds / reference)
        return {kind: median(values) for kind, values in ratios.items()}

    def reference_seconds(self, run: RunId) -> float:
        """Estimate the training of one run on the reference machine. For a network that is not in the table this has a
        meaning only in proportion to its other runs."""
        settings, networks = self.study.settings, self.reference["networks"]
        training = settings.training(run.dataset, run.noise, run.method)
        known = networks.get(run.net, networks["cnn9"])
        train, test, pixels = self.sizes[run.dataset]
        width = settings.run(run).net.settings.get("width", 1.0)  # with what the method's id changes
        image = known["seconds"] * (width / known["width"]) ** 2 * pixels / known["pixels"]
        factor = self.reference["methods"].get(self.study.numbers.method_file(run.method), 1.0)
        warmup, tested = settings.warmup(run), tested_epochs(training["epochs"], training.get("evaluate_every", 1))
        return image * (train * (warmup + factor * (training["epochs"] - warmup)) + test * tested / 3)

    def unknown(self, runs: Iterable[RunId]) -> str | None:
        """Return until when the time of these runs is not known, or None if their estimates mean something."""
        rest = [run for run in runs if run not in self.observed]
        if any(not self.sizes[run.dataset][0] for run in rest):
            return f"the data are prepared: {shlex.join(snakemake_call(self.root))} --cores 1 data"
        strange = {
            run.net
            for run in rest
            if run.net not in self.reference["networks"] and (run.dataset, run.net) not in self._ratios
        }
        return f"a run with {min(strange)} has finished" if strange else None

    def hours(self) -> float:
        """Estimate all runs, one after the other."""
        return sum(map(self.seconds_of_run, self.study.plan.runs)) / 3600

    @cached_property
    def sizes(self) -> dict[str, tuple[float, float, float]]:
        return {name: size_of_epoch(self.study, name) for name in sorted({run.dataset for run in self.study.plan.runs})}

    @property
    def source(self) -> str:
        """Say what the estimates are based on."""
        n = len(self.observed)
        return f"the times of {n} run{'s' * (n > 1)}" if n else "the reference machine"


def size_of_epoch(study: Study, dataset: str) -> tuple[float, float, float]:
    """Return the numbers of training and test images (of tiles: patches) in an epoch, and the pixels of one.

    The size of the user's own data is known once they are prepared; before that the images in a folder are counted.
    """
    spec, known, training = study.settings.data_spec(dataset), data.get(dataset), study.settings.training(dataset)
    train, test = spec.train or known.images[0], spec.test or known.images[1]
    if "patch" in training:
        side = 228 if spec.source == "stand_in" else 2240  # of a square tile, on average
        stride = training["patch"] - training["overlap"]
        patches = test * (side / spec.pool / stride) ** 2
        return training["steps"] * training["batch_size"], patches, training["patch"] ** 2
    prepared = Path(Paths.of(study).data_json(dataset))
    if prepared.is_file():
        about = read_json(prepared)
        shape = about["shape"]  # channels, height and width, or features
        return about["n_train"], about["n_test"], math.prod(shape[1:] if len(shape) == 3 else shape)
    local = Path(study.config.get("local_data", {}).get(dataset, ""))
    if not train and isinstance(known, InPlace) and local != Path() and local.exists():
        images = sum(path.suffix.lower() in IMAGES for path in known.watched(local))
        train, test = images - images // HELD_OUT, images // HELD_OUT
    _, height, width = (1, spec.size, spec.size) if spec.size else known.pixels.shape
    return train, test, height * width / spec.pool**2


def load_run_times(study: Study, root: Path, observed: Mapping[RunId, float] | None = None) -> RunTimes:
    """Return the times of a study, by its finished runs unless `observed` is given."""
    if observed is None:
        observed = {}
        for run in study.plan.runs:
            with suppress(WarlabError):  # no result yet, or a broken one, or one of an older version
                result = RunResult.load(Path(Paths.of(study).run(run), "result.json"))
                if seconds := result.provenance.get("seconds"):
                    observed[run] = seconds
    return RunTimes(study, read_yaml(root / "config" / "speed.yaml"), observed, root)


def overview(config: Mapping[str, object], root: Path) -> str:
    """Return a table of all scales of config/scales, and of the user's own scale if that is chosen."""
    chosen = load_study({**config}, root)
    names = sorted(path.stem for path in (root / "config" / "scales").glob("*.yaml"))
    others = [load_study({**config, "scale": name}, root) for name in names if name != chosen.name]
    times = [load_run_times(study, root) for study in sorted([chosen, *others], key=lambda study: study.name)]
    width = max(map(len, [*names, chosen.name])) + 1
    lines = [f"{'scale':{width}}{'trainings':>10}{'epochs':>10}{'hours':>10}  estimated from"]
    for one in times:
        runs, settings, hours = one.study.plan.runs, one.study.settings, one.hours()
        epochs = sum(settings.training(run.dataset, run.noise, run.method)["epochs"] for run in runs)
        known = f"{'?':>10}" if one.unknown(runs) else f"{hours:>10.{2 if hours < 100 else 0}f}"
        counts = f"{len(runs):>10}{epochs:>10}{known}"
        lines.append(f"{one.study.name:{width}}{counts}  {one.source}{' (this scale)' * (one.study is chosen)}")
    unknown = [(one.study.name, until) for one in times if (until := one.unknown(one.study.plan.runs))]
    lines += [f"The time of {name} is unknown until {until}" for name, until in unknown]
    machine = times[0].reference["machine"]
    lines.append(f"Reference machine: {machine}. A GPU is much faster; finish a run to see its times here.")
    lines.append(
        "Trainings run in parallel: divide the hours by the cores or GPUs. `snakemake -n` also counts small jobs."
    )
    return "\n".join(lines)
