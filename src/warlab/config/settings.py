"""The settings of a study: which value each run, network, method, cost and noise has, and where it comes from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, cast

from warlab import data, nets, noise
from warlab.artefacts.run_config import DeviceOptions, MethodConfig, NetConfig, Options, RunConfig, Training
from warlab.config.models import Layer, Scale, Section, UserConfig
from warlab.config.numbers import FILE, Numbers
from warlab.config.reading import check_known, parse_changes
from warlab.data.base import DataSpec
from warlab.errors import WarlabError
from warlab.ids import CostId, RunId, base_method, places_of, split_cost
from warlab.ot import costs
from warlab.registry import plugin_file

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
    """Five layers, each overriding the one before:

    default    in the file of a method or network, otherwise in hyperparameters.yaml; a variant such as war_w2v is a
               method with a default of its own
    place      in hyperparameters.yaml for a dataset, or for a dataset with a noise or method
    scale      in the file of the scale
    overrides  in the user's configuration
    id         of a method: `+key=value`

    A file gives numbers of epochs for the paper's training, so that 15 of 60 means a quarter of any training: they are
    multiplied when they are read. What a scale, a user or an id says is used as it is.
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
            NetConfig(cell.net, _plain(self._net_of_run(cell))),
            MethodConfig(cell.method, self.numbers.method_file(cell.method), settings),
            self.training(cell.dataset, cell.noise, cell.method),
            cell.seed,
            DeviceOptions(**self.config.get("device", {})),
        )

    def explain(self, cell: RunId) -> dict[str, Values]:
        """Return all settings of a run with their origins: section → key → value."""
        sections = {
            "training": self._values("training", cell.method, cell.dataset, cell.noise),
            "nets": self._net_of_run(cell),
            "methods": self._values("methods", cell.method, cell.dataset, cell.noise),
            "noise": self._values("noise", noise.parse(cell.noise)[0], cell.dataset, ""),
        }
        cost = self.cost_name(cell)
        return sections | ({} if cost is None else {"costs": self._cost(cost, cell.dataset)})

    def training(self, dataset: str, noise_id: str = "", method_id: str = "") -> Training:
        """Return the schedule of a dataset, with what its noise or the method changes there."""
        return cast(Training, _plain(self._values("training", method_id, dataset, noise_id)))

    def net(self, name: str, dataset: str) -> Options:
        return _plain(self._values("nets", name, dataset, ""))

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
        return _plain(self._values("methods", method_id, dataset, noise_id))

    def warmup(self, cell: RunId) -> int:
        """Return the number of epochs in which a run is trained like CCE."""
        return cast(int, self.method(cell.method, cell.dataset, cell.noise).get("warmup", 0))

    # ---- data, noise and costs

    def data_spec(self, dataset: str) -> DataSpec:
        return DataSpec(**cast(dict[str, Any], self.scale["datasets"][dataset]))

    def noise(self, noise_id: str, dataset: str) -> Options:
        """Return the settings of the kind of noise, and what the dataset says about it."""
        kind = noise.parse(noise_id)[0]
        return _plain(self._values("noise", kind, dataset, "")) | noise.settings_of_dataset(noise_id, dataset)

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
        known = data.get(cell.dataset).classes  # of own data, not yet
        if known.names and not known.ordered and costs.needs_order(self.cost_kind(name, cell.dataset)):
            raise WarlabError(f"The cost {name} needs ordered classes, unlike {cell.dataset}; choose another cost.")
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

    # ---- layers

    @cached_property
    def _values(self) -> Callable[[str, str, str, str], Values]:
        return cache(self._resolve)  # planning asks for the same settings in every job

    def _resolve(self, section: str, name: str, dataset: str, noise_id: str) -> Values:
        """Go through the five layers of a network, cost or kind of noise, or of a method, or of a method's schedule."""
        base, file = name, name
        if section in ("methods", "training"):
            base, file = base_method(name), self.numbers.method_file(name)
        elif section == "nets":
            file = nets.file_of(name)
        owners = [file, f"{file}@{dataset}", base, f"{base}@{dataset}"]
        places = places_of(dataset, noise_id)
        if section == "training":
            owners = places = places_of(dataset, noise_id, *dict.fromkeys((file, base)))
            file = dataset
        declared = self.numbers.section(section).get(file, {})
        values = self._from_files(section, base, file, places)
        typed = self._typed(section, owners)
        if section in ("methods", "training"):
            typed |= self._changes(section, name)
        units = {key: declared[key].unit for key in values if key not in typed}
        values = _override(values, typed)
        for key, unit in units.items():
            if unit:
                training = values if section == "training" else self._values("training", name, dataset, noise_id)
                values[key] = _multiply(values[key], unit, training["epochs"])
        return values

    def _net_of_run(self, cell: RunId) -> Values:
        return _override(self._values("nets", cell.net, cell.dataset, ""), self._changes("net", cell.method))

    def _changes(self, section: str, method_id: str) -> dict[str, Value]:
        """Return what a method id changes in a section: `training.lr=0.01` is the lr of training, `net.dropout=0.25` a
        setting of the network, and a key without a section one of the method. Variants change sections as well."""
        base, file = base_method(method_id), self.numbers.method_file(method_id)
        variant = base in self.numbers.variants and section != "methods"
        fixed = self.numbers.variants[base]["settings"] if variant else {}
        typed = parse_changes(method_id, self.numbers.methods.get(file, {}))
        return {
            key.rpartition(".")[2]: Value(value, "id", source)
            for source, changes in ((f"config/{FILE}: variants.{base}", fixed), (method_id, typed))
            for key, value in changes.items()
            if (key.rpartition(".")[0] or "methods") == section
        }

    def _from_files(self, section: str, base: str, file: str, places: list[str]) -> dict[str, Value]:
        """Return the values of the first two layers."""
        here, values = f"config/{FILE}: {section}.{file}", {}
        fixed = self.numbers.variants[base]["settings"] if section == "methods" and base != file else {}
        for key, setting in self.numbers.section(section).get(file, {}).items():
            place = next((place for place in reversed(places) if place in setting.places), None)
            one = setting.places[place] if place else setting
            if key in fixed:
                values[key] = Value(fixed[key], "default", f"config/{FILE}: variants.{base}", fixed[key])
            elif place:
                where = f"config/{FILE}: training.{place}" if section == "training" else f"{here}.{key} at {place}"
                values[key] = Value(one.value, "place", f"{where}, {one.source}", one.value)
            elif one.source:  # otherwise it has values at places only
                folder = "plugins" if plugin_file(f"warlab.{section}.{file}") else "src/warlab"
                where = f"{folder}/{section}/{file}.py:" if section in ("methods", "nets") else f"{here},"
                values[key] = Value(one.value, "default", f"{where} {one.source}", one.value)
        if section == "training" and not values:
            raise WarlabError(f"There is no schedule for {file}; write training.{file} in {FILE}.")
        return values

    def _typed(self, section: str, owners: list[str]) -> dict[str, Value]:
        """Return what the scale and then `overrides` say about these names, which go from general to special."""
        values: dict[str, Value] = {}
        for layer, source, content in self.typed_layers():
            for owner in dict.fromkeys(owners):
                own = cast(Section, content.get(section, {})).get(owner, {})
                values |= {key: Value(value, layer, f"{source}: {section}.{owner}") for key, value in own.items()}
        return values

    def _cost(self, name: str, dataset: str) -> Values:
        base, seed = split_cost(name)
        check_known(base, self.numbers.costs, f"There is no ground cost {name!r}")
        settings = self._values("costs", base, dataset, "")
        if seed is None:
            return settings
        if not seed.isdecimal() or "seed" not in settings:
            raise WarlabError(f"The ground cost {name!r} has no seed {seed!r}; write a number, such as random.7.")
        return {**settings, "seed": Value(int(seed), "id", f"cost {name}", int(seed))}

    def typed_layers(self) -> list[tuple[str, str, Layer]]:
        """Return the layers that people type: name, name in messages, content."""
        overrides = self.config.get("overrides", {})
        return [("scale", f"scale {self.name}", self.scale), ("overrides", "overrides", overrides)]


def _override(values: Values, typed: Values) -> dict[str, Value]:
    """Return the values of the files, with those that people typed in their place."""
    kept = {key: replace(one, paper=values[key].paper) if key in values else one for key, one in typed.items()}
    return {**values, **kept}


def _plain(values: Values) -> Options:
    return {key: value.value for key, value in values.items()}


def _multiply(value: Value, unit: str, epochs: Value) -> Value:
    """Return the value for the epochs of this training: numbers of epochs shrink in proportion, and what is done a
    little in every epoch grows."""
    old, share = value.paper, epochs.value / epochs.paper
    if share == 1:
        return value
    if unit == "per epoch":
        return replace(value, value=old / share, scaled=f"scaled from {old} with {epochs.paper} epochs")
    new: Any = [round(number * share) for number in old] if isinstance(old, list) else round(old * share)
    return replace(value, value=new, scaled=f"scaled from {old} epochs of {epochs.paper}")
