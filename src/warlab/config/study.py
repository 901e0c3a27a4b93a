"""The study: configuration, scale, experiments and hyper-parameters become a list of runs, each fully resolved.

Nothing here imports torch: the Snakefile is read again in every job.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from warlab import data, methods, noise
from warlab.common.wording import suggest
from warlab.config.memory import remembered
from warlab.config.names_in_print import names_in_print
from warlab.config.overrides import at_dataset, at_place, in_units, numbered, places
from warlab.config.reading import as_yaml, check, read_yaml
from warlab.config.setting_rules import Allowed, changed_setting
from warlab.config.validate import find_mistakes
from warlab.errors import WarlabError
from warlab.ids import CostId, MethodId, RunId, base_method
from warlab.ot import costs

Tree = dict[str, Any]


def load_study(config: Tree, root: Path) -> "Study":
    """Read and check everything; each mistake ends in a WarlabError of one sentence."""
    schemas = root / "workflow" / "schemas"
    check(config, schemas / "config.schema.yaml", "the configuration")
    scale_file = _scale_file(config["scale"], root)
    scale = check(read_yaml(scale_file), schemas / "scale.schema.yaml", str(scale_file))
    hyper = root / "config" / "hyperparameters.yaml"
    numbers = check(read_yaml(hyper), schemas / "hyperparameters.schema.yaml", "hyperparameters.yaml")
    tables = root / "config" / "experiments.yaml"
    experiments = check(read_yaml(tables), schemas / "experiments.schema.yaml", "experiments.yaml")
    allowed = Allowed.read(schemas / "settings.schema.yaml")
    config = config | {"overrides": as_yaml(config.get("overrides", {}))}
    study = Study(scale_file.stem, config, scale, experiments, numbers, allowed)
    study.validate()
    return study


def _scale_file(name: str, root: Path) -> Path:
    folder = root / "config" / "scales"
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    known = sorted(p.stem for p in folder.glob("*.yaml"))
    if name not in known:
        raise WarlabError(f"There is no scale {name!r} in config/scales; {suggest(name, known)}")
    return folder / f"{name}.yaml"


@dataclass(frozen=True)
class Study:
    """What one scale asks for. Every method is a question that a rule of the workflow puts."""

    name: str
    config: Tree
    scale: Tree
    experiments: dict[str, Tree]
    numbers: Tree
    allowed: Allowed = field(default_factory=lambda: Allowed({}))

    @cached_property
    def answers(self) -> Tree:
        """What was asked before, see `remembered`."""
        return {}

    # ---- which runs

    @cached_property
    def tables(self) -> list[str]:
        """The experiments of trainings that have at least one cell at this scale."""
        return [name for name in self.scale["experiments"] if not self.is_timing(name) and self.cells(name)]

    @cached_property
    def timed(self) -> list[RunId]:
        """What is timed in place of being trained."""
        return [cell for name in self.scale["experiments"] if self.is_timing(name) for cell in self.cells(name)]

    def is_timing(self, experiment: str) -> bool:
        return self.experiments[experiment].get("kind") == "timing"

    @cached_property
    def runs(self) -> list[RunId]:
        """Every run once, however many tables show it, with the runs that other runs need."""
        shown = {cell for name in self.tables for cell in self.cells(name)}
        wanted = {self.trained_as(cell) for cell in shown}
        return sorted(wanted | {needed for cell in wanted if (needed := self.needed_run(cell))})

    @remembered
    def cells(self, experiment: str) -> list[RunId]:
        """The runs behind one table at this scale: the scale's choice, and the blocks that it or else the experiment
        names in `also`."""
        chosen = self.scale["experiments"].get(experiment, {})
        also = (self.experiments[experiment] | chosen).get("also", [])
        blocks = [self.block(experiment, block) for block in (chosen, *also)]
        return list(dict.fromkeys(cell for block in blocks for cell in block))

    def block(self, experiment: str, chosen: Tree) -> Iterator[RunId]:
        """Every combination of what `chosen` has, or else the experiment."""
        entry = self.experiments[experiment] | chosen
        for dataset, noise_id, net in product(entry["datasets"], entry["noises"], entry["nets"]):
            if dataset not in self.scale["datasets"]:
                continue
            shown = [*entry.get("reference", []), *entry["methods"], *entry.get("add_methods", [])]
            for method in dict.fromkeys(one for several in shown for one in numbered(several)):
                yield from (RunId(dataset, noise_id, net, method, seed) for seed in range(self.seeds(experiment)))

    def layout(self, experiment: str) -> list[tuple[str, str, str, str]]:
        """Every setting of a table with each of its methods, in the paper's order; what is not run is a gap."""
        cells = self.cells(experiment)
        if "metrics" in self.experiments[experiment]:  # every setting is a column of its own: there are no gaps
            clean_first = sorted(cells, key=lambda cell: cell.noise != "clean")
            quoted = [replace(cell, method=method) for method in self.quoted(experiment) for cell in cells]
            return list(dict.fromkeys((c.dataset, c.noise, c.net, c.method) for c in (*clean_first, *quoted)))
        noises = self.experiments[experiment]["noises"]
        rows = dict.fromkeys((cell.dataset, cell.noise, cell.net) for cell in cells)
        known = sorted(rows, key=lambda row: noises.index(row[1]) if row[1] in noises else len(noises))
        methods_of = dict.fromkeys([*(cell.method for cell in cells), *self.quoted(experiment)])
        return [(*row, method) for row in known for method in methods_of]

    def quoted(self, experiment: str) -> list[str]:
        """Methods whose published numbers the authors took from others: shown, and not run unless a scale adds them."""
        return self.experiments[experiment].get("quoted", [])

    @remembered
    def aliases(self, experiment: str) -> list[tuple[str, str, str, str, str]]:
        """(dataset, noise, network, method in the table, method of the run) where the two methods differ.

        By whole cells: `sl+a=2.0` is `sl` where the noise gives `sl` this value, and a run of its own elsewhere."""
        shown = dict.fromkeys(replace(cell, seed=0) for cell in self.cells(experiment))
        named = [(c.dataset, c.noise, c.net, c.method, self.trained_as(c).method) for c in shown]
        return [names for names in named if names[3] != names[4]]

    def seeds(self, experiment: str) -> int:
        """Of the scale's experiment, or else of the scale, or else the paper's number in experiments.yaml."""
        if self.is_timing(experiment):
            return 1  # steps are timed once
        layers = (self.experiments[experiment], self.scale, self.scale["experiments"].get(experiment, {}))
        return [layer["seeds"] for layer in layers if "seeds" in layer][-1]

    @remembered
    def trained_as(self, cell: RunId) -> RunId:
        """The run behind a cell: an override of a value by itself, such as war_w2v+beta=10, changes nothing."""
        method = MethodId.parse(cell.method)
        plain = self.method(method.base, cell.dataset, cell.noise) if method.changes else {}
        alone = {change: str(MethodId(method.base, (change,))) for change in method.changes}
        kept = [change for change, one in alone.items() if self.method(one, cell.dataset, cell.noise) != plain]
        return replace(cell, method=str(MethodId(method.base, tuple(kept))))

    def needed_run(self, cell: RunId) -> RunId | None:
        """The run of the same cell that this one reads, such as the CCE run behind Forward."""
        needs = methods.declaration(self.method_file(cell.method)).needs_run
        return None if needs is None else RunId(cell.dataset, cell.noise, cell.net, needs, cell.seed)

    # ---- one run, resolved

    def run(self, cell: RunId) -> Tree:
        """All that decides a run's result apart from its input files."""
        device = {name: True for name, on in self.config.get("device", {}).items() if on}
        return {
            **({"device": device} if device else {}),
            "dataset": cell.dataset,
            "noise": cell.noise,
            "net": {"name": cell.net, "settings": self.net(cell.net, cell.dataset)},
            "method": {
                "id": cell.method,
                "file": self.method_file(cell.method),
                "settings": self.method(cell.method, cell.dataset, cell.noise),
            },
            "training": self.training(cell.dataset, cell.noise, cell.method),
            "seed": cell.seed,
        }

    @remembered
    def training(self, dataset: str, noise_id: str = "", method_id: str = "") -> Tree:
        """The schedule of a dataset, unless its noise or the method has one of its own there."""
        entries, values = self._schedule(dataset, noise_id, method_id)
        return in_units(values, entries, self._share(dataset, noise_id, method_id))

    @remembered
    def net(self, name: str, dataset: str) -> Tree:
        return self._resolve("nets", name, dataset)

    def untrained_net(self, name: str, dataset: str) -> Tree:
        """Settings of a network whose shape counts, not its weights: nothing has to be fetched for it."""
        return {key: value for key, value in self.net(name, dataset).items() if key != "weights"}

    @remembered
    def method(self, method_id: str, dataset: str, noise_id: str = "") -> Tree:
        """Defaults of the file < hyperparameters.yaml < scale < overrides; on top of these, for a variant of the file,
        the same three under the variant's name; `+key=value` of the id last."""
        base, changes = (parsed := MethodId.parse(method_id)).base, parsed.changes
        file = self.method_file(method_id)
        settings = methods.declaration(file).settings | self._resolve("methods", file, dataset, noise_id)
        settings |= self.numbers["variants"].get(base, {}).get("settings", {})
        for layer in self._layers:
            settings |= at_dataset(layer.get("methods", {}), base, dataset)
        settings |= dict(changed_setting(change, method_id, list(settings)) for change in changes)
        return in_units(settings, self.numbers["methods"].get(file, {}), self._share(dataset, noise_id, method_id))

    def method_file(self, method_id: str) -> str:
        base = base_method(method_id)
        return self.numbers["variants"].get(base, {}).get("method", base)

    @cached_property
    def labels(self) -> dict[str, dict[str, str]]:
        return names_in_print(self)

    @property
    def _layers(self) -> tuple[Tree, Tree]:
        """What changes hyperparameters.yaml; the later one wins."""
        return self.scale, self.config.get("overrides", {})

    def _resolve(self, section: str, name: str, dataset: str, noise_id: str = "") -> Tree:
        """The values of one section and name for a dataset and noise: hyperparameters.yaml < scale < overrides."""
        entries = self.numbers[section].get(name, {})
        values = {key: at_place(entry, places(dataset, noise_id))["value"] for key, entry in entries.items()}
        for layer in self._layers:
            values |= at_dataset(layer.get(section, {}), name, dataset)
        return values

    @remembered
    def _schedule(self, dataset: str, noise_id: str, method_id: str) -> tuple[Tree, Tree]:
        """Entries of hyperparameters.yaml and values for a training, each place adding to the more general ones."""
        named = [self.method_file(method_id), base_method(method_id)] if method_id else []
        at = places(dataset, noise_id, *dict.fromkeys(named))
        entries: Tree = {}
        for place in at:
            entries |= self.numbers["training"].get(place, {})
        if not entries:
            raise WarlabError(f"There is no schedule for {dataset}; write training.{dataset} in hyperparameters.yaml.")
        values = {key: entry["value"] for key, entry in entries.items()}
        for layer in self._layers:
            for place in at:
                values |= layer.get("training", {}).get(place, {})
        return entries, values

    def _share(self, dataset: str, noise_id: str, method_id: str) -> float:
        """How many of the paper's epochs are trained; schedules shrink with them."""
        entries, values = self._schedule(dataset, noise_id, method_id)
        return values["epochs"] / entries["epochs"]["value"]

    # ---- data and costs

    @remembered
    def data_spec(self, dataset: str) -> Tree:
        return {"dataset": dataset, "train": None, "test": None, "pool": 1, **self.scale["datasets"][dataset]}

    @remembered
    def cost_key(self, cell: RunId) -> str | None:
        """Folder of the run's ground cost: "w2v", or "embed@asym-40@seed0" if it reads the noisy labels."""
        name = self.method(cell.method, cell.dataset, cell.noise).get("cost")
        if name is None:
            return None
        reads_labels = self.cost(name, cell.dataset)["kind"] in costs.READS_LABELS
        if reads_labels and data.get(cell.dataset).samples != "images":
            raise WarlabError(f"The cost {name} needs images in memory, which {cell.dataset} has not; choose another.")
        return str(CostId(name, cell.noise, cell.seed) if reads_labels else CostId(name))

    def cost_uses(self, dataset: str, cost: str) -> list[tuple[float, int]]:
        """The distinct (lambda, iterations) with which the study's runs use the cost in this folder."""
        return self._cost_uses.get((dataset, cost), [])

    @cached_property
    def _cost_uses(self) -> dict[tuple[str, str], list[tuple[float, int]]]:
        found: dict[tuple[str, str], set[tuple[float, int]]] = {}
        for cell in self.runs:
            if key := self.cost_key(cell):
                settings = self.method(cell.method, cell.dataset, cell.noise)
                found.setdefault((cell.dataset, key), set()).add((settings["lam"], settings["iterations"]))
        return {place: sorted(uses) for place, uses in found.items()}

    @remembered
    def cost(self, name: str, dataset: str) -> Tree:
        """kind and settings of a named cost; random.7 is the cost `random` with the seed 7"""
        base, dot, seed = name.partition(".")
        if base not in self.numbers["costs"]:
            raise WarlabError(f"There is no ground cost {name!r}; {suggest(base, list(self.numbers['costs']))}")
        settings = self._resolve("costs", base, dataset)
        if dot and not (seed.isdecimal() and "seed" in settings):
            raise WarlabError(f"The ground cost {name!r} has no seed {seed!r}; write a number, such as random.7.")
        return settings | ({"seed": int(seed)} if dot else {})

    def cost_files(self, name: str, dataset: str) -> dict[str, str]:
        """The user's files that a cost is made from, by the setting that names them."""
        settings = self.cost(name, dataset)
        return {key: settings[key] for key in costs.USER_FILES if settings.get(key) not in (None, costs.PUBLISHED)}

    def features(self, cost: str, dataset: str) -> str | None:
        """Network and size of image behind an embed cost, such as resnet18-224; None if it needs no network."""
        settings = self.cost(cost, dataset)
        network = settings.get("features", "pixels")
        return None if network == "pixels" else f"{network}-{settings['size']}"

    def noise(self, noise_id: str, dataset: str) -> Tree:
        """The settings of a noise's kind, such as which classes an object may become; the rate of labels as they
        came."""
        kind = noise.parse(noise_id)[0]
        own = {"own_noise": data.get(dataset).own_noise} if kind == noise.REAL else {}
        return self._resolve("noise", kind, dataset) | own

    def noise_file(self, noise_id: str) -> str:
        """The user's file behind a noise `file` or `file_<name>`."""
        files = self.config.get("noise_files", {})
        if noise_id not in files:
            raise WarlabError(f"The noise {noise_id} has no file; name one in noise_files of the configuration.")
        return files[noise_id]

    # ---- times

    def timing(self, dataset: str, net: str) -> Tree:
        """All that decides how long a training step takes, for each timed method."""
        chosen = self.scale["experiments"]["timing"]
        cells = [cell for cell in self.timed if (cell.dataset, cell.net) == (dataset, net)]
        known, pool = data.get(dataset), self.data_spec(dataset)["pool"]
        return {
            "shape": [known.shape[0], *(side // pool for side in known.shape[1:])],
            "classes": len(known.class_names),
            "images": known.images[0],
            "net": {"name": net, "settings": self.untrained_net(net, dataset)},
            "training": self.training(dataset),
            "methods": {cell.method: self._timed_method(cell) for cell in cells},
            "steps": (self.experiments["timing"]["steps"] | chosen.get("steps", {}))[dataset],
        }

    def timed_as(self, method_id: str) -> str:
        """The method whose settings a timed one has: itself, unless the experiment names another."""
        return self.experiments["timing"].get("settings_of", {}).get(method_id, method_id)

    def _timed_method(self, cell: RunId) -> Tree:
        method_id = self.timed_as(cell.method)
        settings = self.method(method_id, cell.dataset)
        return {"id": cell.method, "file": self.method_file(method_id), "settings": settings}

    def validate(self) -> None:
        """Raise a WarlabError for the first mistake, before anything runs."""
        find_mistakes(self)
