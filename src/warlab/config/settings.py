"""The settings of a study: which value each run, network, method, cost and noise has, and where it comes from."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, cast

from warlab import data, noise
from warlab.artefacts.run_config import DeviceOptions, MethodConfig, NetConfig, Options, RunConfig, Training
from warlab.common.setting import Setting
from warlab.config.models import Layer, Scale, Section, UserConfig
from warlab.config.numbers import FILE, Numbers
from warlab.config.reading import check_known, parse_changes
from warlab.data.base import DataSpec
from warlab.errors import WarlabError
from warlab.ids import CostId, MethodId, RunId, places_of, split_cost
from warlab.ot import costs

IMAGENET = "imagenet"  # the value of a network's setting `weights` for which they are fetched


@dataclass(frozen=True)
class Value:
    """A resolved setting.

    layer   what decides the value: default, place, scale, overrides or id
    source  where that layer says so
    paper   the value in our files, which is for the paper's number of epochs; None if they have none
    scaled  how the value of a file was adapted to the number of epochs
    """

    value: Any
    layer: str
    source: str
    paper: Any = None
    scaled: str = ""


Values = Mapping[str, Value]


@dataclass(frozen=True)
class Settings:
    """Five layers, each overriding the one before: the default in a file, a place (a dataset or one of its noises), the
    scale, the user's `overrides`, and the id of a method (`+key=value`).

    Values of the first two layers belong to the paper's number of epochs and are adapted to that of the scale. What a
    scale, a user or an id says is used as it is.
    """

    name: str  # of the scale
    numbers: Numbers
    scale: Scale
    config: UserConfig

    def run(self, cell: RunId) -> RunConfig:
        """Return everything that decides the result of a run except its input files."""
        settings = self.method(cell.method, cell.dataset, cell.noise)
        return RunConfig(
            cell.dataset,
            cell.noise,
            NetConfig(cell.net, self.net(cell.net, cell.dataset)),
            MethodConfig(cell.method, self.numbers.method_file(cell.method), settings),
            self.training(cell.dataset, cell.noise, cell.method),
            cell.seed,
            DeviceOptions(**self.config.get("device", {})),
        )

    def explain(self, cell: RunId) -> dict[str, Values]:
        """Return all settings of a run with their origins: section → key → value."""
        sections = {
            "training": self._schedule(cell.dataset, cell.noise, cell.method),
            "nets": self._resolve("nets", cell.net, cell.dataset),
            "methods": self._method(cell.method, cell.dataset, cell.noise),
            "noise": self._resolve("noise", noise.parse(cell.noise)[0], cell.dataset),
        }
        cost = self.cost_name(cell)
        return sections | ({} if cost is None else {"costs": self._cost(cost, cell.dataset)})

    def training(self, dataset: str, noise_id: str = "", method_id: str = "") -> Training:
        """Return the schedule of a dataset, with what its noise or the method changes there."""
        return cast(Training, _plain(self._schedule(dataset, noise_id, method_id)))

    def net(self, name: str, dataset: str) -> Options:
        return _plain(self._resolve("nets", name, dataset))

    def width(self, net: str, dataset: str) -> float:
        """Return the factor of a network's channel counts; 1 for a network without this setting."""
        return cast(float, self.net(net, dataset).get("width", 1.0))

    def weights(self, net: str, dataset: str) -> str | None:
        """Return `imagenet` or the user's file; None for a network that starts from random weights."""
        weights = self.net(net, dataset).get("weights")
        return None if weights in (None, "none") else str(weights)

    def untrained_net(self, name: str, dataset: str) -> Options:
        """Return the settings of a network without its weights, for jobs that need only its shape."""
        return {key: value for key, value in self.net(name, dataset).items() if key != "weights"}

    def method(self, method_id: str, dataset: str, noise_id: str = "") -> Options:
        return _plain(self._method(method_id, dataset, noise_id))

    def warmup(self, cell: RunId) -> int:
        """Return the number of epochs in which a run is trained like CCE."""
        return cast(int, self.method(cell.method, cell.dataset, cell.noise).get("warmup", 0))

    # ---- data, noise and costs

    def data_spec(self, dataset: str) -> DataSpec:
        """Return the part of a dataset that the scale uses."""
        return DataSpec(**cast(dict[str, Any], self.scale["datasets"][dataset]))

    def noise(self, noise_id: str, dataset: str) -> Options:
        """Return the settings of the kind of noise, and what the dataset says about it."""
        kind = noise.parse(noise_id)[0]
        return _plain(self._resolve("noise", kind, dataset)) | noise.settings_of_dataset(noise_id, dataset)

    def noise_file(self, noise_id: str) -> str:
        """Return the user's file for a noise `file` or `file_<name>`."""
        files = self.config.get("noise_files", {})
        if noise_id not in files:
            raise WarlabError(f"The noise {noise_id} has no file; name one in noise_files of the configuration.")
        return files[noise_id]

    def cost_name(self, cell: RunId) -> str | None:
        """Return the ground cost of a run, such as w2v or random.7."""
        return cast(str | None, self.method(cell.method, cell.dataset, cell.noise).get("cost"))

    def cost_kind(self, name: str, dataset: str) -> str:
        return str(self.cost(name, dataset)["kind"])

    def cost_key(self, cell: RunId) -> str | None:
        """Return the folder of a run's ground cost: w2v, or embed@asym-40@seed0 if the cost reads the noisy labels."""
        name = self.cost_name(cell)
        if name is None:
            return None
        if not costs.reads_labels(self.cost_kind(name, cell.dataset)):
            return str(CostId(name))
        if data.get(cell.dataset).samples != "images":
            raise WarlabError(f"The cost {name} needs images in memory, unlike {cell.dataset}; choose another cost.")
        return str(CostId(name, cell.noise, cell.seed))

    def cost(self, name: str, dataset: str) -> Options:
        """Return the kind and the settings of a named cost; random.7 is the cost `random` with the seed 7."""
        return _plain(self._cost(name, dataset))

    def cost_files(self, name: str, dataset: str) -> dict[str, str]:
        """Return the user's files that a cost reads, by the setting that names them."""
        return costs.user_files(self.cost_kind(name, dataset), self.cost(name, dataset))

    def features(self, cost: str, dataset: str) -> str | None:
        """Return the network and the image size of an embed cost, such as resnet18-224; None if it needs no network."""
        settings = self.cost(cost, dataset)
        network = settings.get("features", "pixels")
        return None if network == "pixels" else f"{network}-{settings['size']}"

    # ---- layers; planning asks for the same settings in every job, so each is resolved once

    @cached_property
    def _schedule(self) -> Callable[[str, str, str], Values]:
        return cache(self._resolve_schedule)

    @cached_property
    def _method(self) -> Callable[[str, str, str], Values]:
        return cache(self._resolve_method)

    @cached_property
    def _resolve(self) -> Callable[[str, str, str], Values]:
        return cache(self._resolve_name)

    def _resolve_schedule(self, dataset: str, noise_id: str, method_id: str) -> Values:
        names = dict.fromkeys((self.numbers.method_file(method_id), MethodId.parse(method_id).base))
        places = places_of(dataset, noise_id, *names)
        entries: dict[str, Setting] = {}
        values: dict[str, Value] = {}
        for place in places:
            found = self.numbers.training.get(place, {})
            layer = "default" if place == dataset else "place"
            entries |= found
            values |= {key: _from_file(one, layer, f"training.{place}") for key, one in found.items()}
        if not entries:
            raise WarlabError(f"There is no schedule for {dataset}; write training.{dataset} in hyperparameters.yaml.")
        values = _override(values, self._typed("training", places))
        return _adapt(values, entries, values["epochs"])

    def _resolve_method(self, method_id: str, dataset: str, noise_id: str) -> Values:
        method, file = MethodId.parse(method_id), self.numbers.method_file(method_id)
        values = self._from_files("methods", file, places_of(dataset, noise_id))
        names = [file, f"{file}@{dataset}"]
        if variant := self.numbers.variants.get(method.base):
            source = f"config/{FILE}: variants.{method.base}"
            values |= {key: Value(value, "default", source, value) for key, value in variant["settings"].items()}
            names += [method.base, f"{method.base}@{dataset}"]
        changes = {key: Value(value, "id", method_id) for key, value in parse_changes(method_id, values).items()}
        values = _override(values, self._typed("methods", names) | changes)
        return _adapt(values, self.numbers.methods[file], self._schedule(dataset, noise_id, method_id)["epochs"])

    def _resolve_name(self, section: str, name: str, dataset: str) -> Values:
        """Resolve the settings of a network, cost or noise, which depend on nothing but the dataset."""
        values = self._from_files(section, name, [dataset])
        return _override(values, self._typed(section, [name, f"{name}@{dataset}"]))

    def _cost(self, name: str, dataset: str) -> Values:
        base, seed = split_cost(name)
        check_known(base, self.numbers.costs, f"There is no ground cost {name!r}")
        settings = self._resolve("costs", base, dataset)
        if seed is None:
            return settings
        if not seed.isdecimal() or "seed" not in settings:
            raise WarlabError(f"The ground cost {name!r} has no seed {seed!r}; write a number, such as random.7.")
        return {**settings, "seed": Value(int(seed), "id", f"cost {name}", int(seed))}

    def _from_files(self, section: str, name: str, places: list[str]) -> dict[str, Value]:
        """Return the values of the first two layers."""
        values = {}
        for key, setting in self.numbers.section(section).get(name, {}).items():
            if place := setting.find_place(places):
                values[key] = _from_file(setting.places[place], "place", f"{section}.{name}.{key} at {place}")
            elif section in ("methods", "nets"):
                source = f"src/warlab/{section}/{name}.py: {setting.source}"
                values[key] = Value(setting.value, "default", source, setting.value)
            else:
                values[key] = _from_file(setting, "default", f"{section}.{name}")
        return values

    def _typed(self, section: str, names: Iterable[str]) -> dict[str, Value]:
        """Return what the scale and then `overrides` say about these names, which go from general to special."""
        values = {}
        for layer, source, content in self.typed_layers():
            for name in names:
                for key, value in cast(Section, content.get(section, {})).get(name, {}).items():
                    values[key] = Value(value, layer, f"{source}: {section}.{name}")
        return values

    def typed_layers(self) -> list[tuple[str, str, Layer]]:
        """Return the layers that people type: name, name in messages, content."""
        return [
            ("scale", f"scale {self.name}", self.scale),
            ("overrides", "overrides", self.config.get("overrides", {})),
        ]


def _plain(values: Values) -> Options:
    return {key: value.value for key, value in values.items()}


def _from_file(setting: Setting, layer: str, name: str) -> Value:
    return Value(setting.value, layer, f"config/{FILE}: {name}, {setting.source}", setting.value)


def _override(values: Values, typed: Values) -> dict[str, Value]:
    """Return the values of the files, with those that people typed in their place."""
    return {
        **values,
        **{key: replace(one, paper=values[key].paper) if key in values else one for key, one in typed.items()},
    }


def _adapt(values: Values, entries: Mapping[str, Setting], epochs: Value) -> Values:
    """Adapt the values that come from files to the number of epochs: numbers of epochs shrink in proportion, and what
    is done a little in every epoch grows."""
    share = epochs.value / epochs.paper
    return {
        key: _scale(value, entries[key].unit, share, epochs.paper) if value.layer in ("default", "place") else value
        for key, value in values.items()
    }


def _scale(value: Value, unit: str | None, share: float, epochs: int) -> Value:
    if unit is None or share == 1:
        return value
    old = value.paper
    if unit == "per epoch":
        return replace(value, value=old / share, scaled=f"scaled from {old} with {epochs} epochs")
    new: Any = [round(number * share) for number in old] if isinstance(old, list) else round(old * share)
    return replace(value, value=new, scaled=f"scaled from {old} epochs of {epochs}")
