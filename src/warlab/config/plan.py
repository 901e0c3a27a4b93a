"""The plan: the runs of a study, the cells of its tables, and what is timed."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product, starmap
from typing import Any, NamedTuple

from warlab import data, methods
from warlab.artefacts.run_config import Options, TimingSpec
from warlab.config.models import Choice, Experiment, Scale
from warlab.config.settings import Settings
from warlab.errors import WarlabError
from warlab.ids import RunId

MOST_METHODS = 1000  # in one range such as {0..19}


class CostUse(NamedTuple):
    """A ground cost, by its folder such as fashion_mnist/w2v, and the settings of the transport under it."""

    cost: str
    lam: float
    iterations: int


@dataclass(frozen=True)
class Plan:
    """The runs of one scale."""

    name: str
    scale: Scale
    experiments: dict[str, Experiment]
    settings: Settings

    @cached_property
    def tables(self) -> list[str]:
        """The experiments with trained runs that have at least one cell at this scale."""
        return [name for name in self.scale["experiments"] if not self.is_timing(name) and self.cells(name)]

    @cached_property
    def timed(self) -> list[RunId]:
        """The cells that are timed, not trained."""
        return [cell for name in self.scale["experiments"] if self.is_timing(name) for cell in self.cells(name)]

    def is_timing(self, experiment: str) -> bool:
        return self.experiments[experiment].get("kind") == "timing"

    @cached_property
    def runs(self) -> list[RunId]:
        """All runs, each once, including those that other runs need."""
        shown = {cell for name in self.tables for cell in self.cells(name)}
        return sorted(shown | {needed for cell in shown if (needed := self.needed_run(cell))})

    def cells(self, experiment: str) -> list[RunId]:
        return list(self._cells(experiment))

    @cached_property
    def _cells(self) -> Callable[[str], list[RunId]]:
        return cache(self._combine)

    def _combine(self, experiment: str) -> list[RunId]:
        """Combine what the scale chooses, and the blocks in `also` of the scale or otherwise of the experiment. A block
        inherits what it does not name from the choice of the scale, and then from the experiment."""
        general: dict[str, Any] = {**self.experiments[experiment], **self._chosen(experiment)}
        blocks = [self._block(experiment, general)]
        for block in general.get("also", []):
            added = [] if "methods" in block else general.get("add_methods", [])
            blocks.append(self._block(experiment, {**general, "add_methods": added, **block}))
        return list(dict.fromkeys(cell for block in blocks for cell in block))

    def _chosen(self, experiment: str) -> Choice:
        return self.scale["experiments"].get(experiment, {})

    def _block(self, experiment: str, entry: Mapping[str, Any]) -> Iterator[RunId]:
        """Yield every combination of what the entry names."""
        shown = [*entry.get("reference", []), *entry["methods"], *entry.get("add_methods", [])]
        methods_shown = dict.fromkeys(method for name in shown for method in expand_range(name))
        datasets = [name for name in entry["datasets"] if name in self.scale["datasets"]]
        seeds = range(self.seeds(experiment))
        return starmap(RunId, product(datasets, entry["noises"], entry["nets"], methods_shown, seeds))

    def layout(self, experiment: str) -> list[tuple[str, str, str, str]]:
        """Return every row of a table with each of its methods, in the paper's order; what is not run is a gap."""
        cells = self.cells(experiment)
        if "metrics" in self.experiments[experiment]:  # every cell is a column: there are no gaps
            clean_first = sorted(cells, key=lambda cell: cell.noise != "clean")
            quoted = [replace(cell, method=method) for method in self.quoted(experiment) for cell in cells]
            return list(dict.fromkeys(cell.cell for cell in (*clean_first, *quoted)))
        noises = self.experiments[experiment]["noises"]
        rows = dict.fromkeys((cell.dataset, cell.noise, cell.net) for cell in cells)
        in_order = sorted(rows, key=lambda row: noises.index(row[1]) if row[1] in noises else len(noises))
        methods_shown = dict.fromkeys([*(cell.method for cell in cells), *self.quoted(experiment)])
        return [(*row, method) for row in in_order for method in methods_shown]

    def quoted(self, experiment: str) -> list[str]:
        """Return the methods whose numbers are from other papers; they are run only if a scale adds them."""
        return self.experiments[experiment].get("quoted", [])

    def seeds(self, experiment: str) -> int:
        """Return the number of seeds: of the experiment in the scale, otherwise of the scale, otherwise the paper's."""
        if self.is_timing(experiment):
            return 1  # steps are timed once
        default = self.scale.get("seeds", self.experiments[experiment]["seeds"])
        return self._chosen(experiment).get("seeds", default)

    def _method(self, cell: RunId, method_id: str) -> Options:
        return self.settings.method(method_id, cell.dataset, cell.noise)

    def needed_run(self, cell: RunId) -> RunId | None:
        """Return the run of the same cell that this one reads, such as a CCE run for Forward."""
        needs = methods.declaration(self.settings.numbers.method_file(cell.method)).needs_run
        if isinstance(needs, tuple):
            setting, methods_by_value = needs
            value = str(self._method(cell, cell.method).get(setting))
            if value not in methods_by_value:
                raise WarlabError(f"{cell.method} has no method in needs_run for {setting}={value}; add one.")
            needs = methods_by_value[value]
        return None if needs is None else replace(cell, method=needs)

    def cost_use(self, cell: RunId) -> CostUse | None:
        """Return the ground cost of a run and the settings of its transport; None if its method has no cost."""
        if (key := self.settings.cost_key(cell)) is None:
            return None
        settings: Mapping[str, Any] = self._method(cell, cell.method)
        return CostUse(f"{cell.dataset}/{key}", float(settings["lam"]), settings["iterations"])

    # ---- times

    def timing(self, dataset: str, net: str) -> TimingSpec:
        """Return what is timed for a dataset and a network."""
        cells = [cell for cell in self.timed if (cell.dataset, cell.net) == (dataset, net)]
        known, pool = data.get(dataset), self.settings.data_spec(dataset).pool
        return {
            "shape": [known.pixels.shape[0], *(side // pool for side in known.pixels.shape[1:])],
            "classes": len(known.classes.names),
            "images": known.images[0],
            "net": {"name": net, "settings": self.settings.untrained_net(net, dataset)},
            "training": self.settings.training(dataset),
            "methods": {cell.method: self._timed_method(cell) for cell in cells},
            "steps": self.timed_steps[dataset],
        }

    @property
    def timed_steps(self) -> dict[str, int]:
        """dataset → number of steps that are timed"""
        return self.experiments["timing"].get("steps", {}) | self._chosen("timing").get("steps", {})

    def timed_as(self, method_id: str) -> str:
        """Return the method whose settings a timed method has: itself, unless the experiment names another."""
        return self.experiments["timing"].get("settings_of", {}).get(method_id, method_id)

    def _timed_method(self, cell: RunId) -> Options:
        method_id = self.timed_as(cell.method)
        settings = self.settings.method(method_id, cell.dataset)
        return {"id": cell.method, "file": self.settings.numbers.method_file(method_id), "settings": settings}


def expand_range(method: str) -> list[str]:
    """Return the methods that a range stands for: twenty for `war_random+cost=random.{0..19}`."""
    if (match := re.search(r"\{(\d+)\.\.(\d+)\}", method)) is None:
        return [method]
    numbers = range(int(match[1]), int(match[2]) + 1)
    if not 0 < len(numbers) <= MOST_METHODS:
        raise WarlabError(f"{method!r} stands for {len(numbers)} methods; it must be 1 to {MOST_METHODS}.")
    return [method.replace(match[0], str(number)) for number in numbers]
