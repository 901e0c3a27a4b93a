"""The settings of a study: which values each run, network, method, cost and noise has."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import yaml

from warlab import data, noise
from warlab.artefacts.run_config import DeviceOptions, MethodConfig, NetConfig, Options, RunConfig, Training
from warlab.common.setting import Setting
from warlab.common.wording import suggest
from warlab.config.entries import Layer, Scale, Section, UserConfig
from warlab.config.numbers import Numbers
from warlab.config.reading import check_known, parse_yaml
from warlab.data.base import DataSpec
from warlab.errors import WarlabError
from warlab.ids import CostId, MethodId, RunId, base_method, places_of, split_cost
from warlab.ot import costs

IMAGENET = "imagenet"  # the value of a network's setting `weights` for which they are fetched
P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def cached_method(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Cache the results of a method in its object: planning asks a study the same question for every job.

    `functools.cache` needs a hash of the object and would keep every object alive. It also shares its results, while
    this returns copies of dictionaries and lists, so that a caller may change them.
    """

    @wraps(method)
    def cached(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        results = vars(self).setdefault("_results", {})
        key = (method.__name__, args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = method(self, *args, **kwargs)
        result: Any = results[key]
        return cast(T, result.copy() if isinstance(result, dict | list) else result)

    return cached


@dataclass(frozen=True)
class Settings:
    """Values at places replace general ones, the scale replaces both, and `overrides` of the user replaces all."""

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

    @cached_method
    def training(self, dataset: str, noise_id: str = "", method_id: str = "") -> Training:
        """Return the schedule of a dataset, with what its noise or the method changes there."""
        entries, values, share = self._schedule(dataset, noise_id, method_id)
        return cast(Training, for_epochs(values, entries, share))

    @cached_method
    def net(self, name: str, dataset: str) -> Options:
        return self._resolve("nets", name, dataset)

    def width(self, net: str, dataset: str) -> float:
        """The factor of a network's channel counts; 1 for a network without this setting."""
        return cast(float, self.net(net, dataset).get("width", 1.0))

    def weights(self, net: str, dataset: str) -> str | None:
        """`imagenet` or the user's file; None for a network that starts from random weights."""
        weights = self.net(net, dataset).get("weights")
        return None if weights in (None, "none") else str(weights)

    def untrained_net(self, name: str, dataset: str) -> Options:
        """Return the settings of a network without its weights, for jobs that need only its shape."""
        return {key: value for key, value in self.net(name, dataset).items() if key != "weights"}

    @cached_method
    def method(self, method_id: str, dataset: str, noise_id: str = "") -> Options:
        """Return the settings of a method: those of its file, for a variant those that the variant, the scale and
        `overrides` give to its name, and last those of the id (`+key=value`)."""
        method, file = MethodId.parse(method_id), self.numbers.method_file(method_id)
        settings = self._resolve("methods", file, dataset, noise_id)
        if method.base in self.numbers.variants:
            settings |= self.numbers.variants[method.base]["settings"]
            for layer in self._layers("methods"):
                settings |= values_for(layer, method.base, dataset)
        settings |= dict(changed_setting(change, method_id, list(settings)) for change in method.changes)
        *_, share = self._schedule(dataset, noise_id, method_id)
        return for_epochs(settings, self.numbers.methods.get(file, {}), share)

    def warmup(self, cell: RunId) -> int:
        """The number of epochs in which a run is trained like CCE."""
        return cast(int, self.method(cell.method, cell.dataset, cell.noise).get("warmup", 0))

    # ---- data, noise and costs

    @cached_method
    def data_spec(self, dataset: str) -> DataSpec:
        """The part of a dataset that the scale uses."""
        return DataSpec(**cast(dict[str, Any], self.scale["datasets"][dataset]))

    def noise(self, noise_id: str, dataset: str) -> Options:
        """Return the settings of the kind of noise, and what the dataset says about it."""
        kind = noise.parse(noise_id)[0]
        return self._resolve("noise", kind, dataset) | noise.settings_of_dataset(noise_id, dataset)

    def noise_file(self, noise_id: str) -> str:
        """Return the user's file for a noise `file` or `file_<name>`."""
        files = self.config.get("noise_files", {})
        if noise_id not in files:
            raise WarlabError(f"The noise {noise_id} has no file; name one in noise_files of the configuration.")
        return files[noise_id]

    def cost_name(self, cell: RunId) -> str | None:
        """The ground cost of a run, such as w2v or random.7."""
        return cast(str | None, self.method(cell.method, cell.dataset, cell.noise).get("cost"))

    def cost_kind(self, name: str, dataset: str) -> str:
        return str(self.cost(name, dataset)["kind"])

    @cached_method
    def cost_key(self, cell: RunId) -> str | None:
        """The folder of a run's ground cost: w2v, or embed@asym-40@seed0 if the cost reads the noisy labels."""
        name = self.cost_name(cell)
        if name is None:
            return None
        if not costs.reads_labels(self.cost_kind(name, cell.dataset)):
            return str(CostId(name))
        if data.get(cell.dataset).samples != "images":
            raise WarlabError(f"The cost {name} needs images in memory, unlike {cell.dataset}; choose another cost.")
        return str(CostId(name, cell.noise, cell.seed))

    @cached_method
    def cost(self, name: str, dataset: str) -> Options:
        """Return the kind and the settings of a named cost; random.7 is the cost `random` with the seed 7."""
        base, seed = split_cost(name)
        check_known(base, self.numbers.costs, f"There is no ground cost {name!r}")
        settings = self._resolve("costs", base, dataset)
        if seed is None:
            return settings
        if not seed.isdecimal() or "seed" not in settings:
            raise WarlabError(f"The ground cost {name!r} has no seed {seed!r}; write a number, such as random.7.")
        return settings | {"seed": int(seed)}

    def cost_files(self, name: str, dataset: str) -> dict[str, str]:
        """Return the user's files that a cost reads, by the setting that names them."""
        return costs.user_files(self.cost_kind(name, dataset), self.cost(name, dataset))

    def features(self, cost: str, dataset: str) -> str | None:
        """The network and the image size of an embed cost, such as resnet18-224; None if it needs no network."""
        settings = self.cost(cost, dataset)
        network = settings.get("features", "pixels")
        return None if network == "pixels" else f"{network}-{settings['size']}"

    # ---- layers

    def _layers(self, section: str) -> list[Section]:
        """What the scale and then `overrides` give; the later one wins."""
        layers: tuple[Layer, Layer] = (self.scale, self.config.get("overrides", {}))
        return [cast(Section, layer.get(section, {})) for layer in layers]

    def _resolve(self, section: str, name: str, dataset: str, noise_id: str = "") -> Options:
        """Return the values of one name in a section for a dataset and noise."""
        places = places_of(dataset, noise_id)
        values = {key: setting.at(places) for key, setting in self.numbers.section(section).get(name, {}).items()}
        for layer in self._layers(section):
            values |= values_for(layer, name, dataset)
        return values

    @cached_method
    def _schedule(self, dataset: str, noise_id: str, method_id: str) -> tuple[dict[str, Setting], Options, float]:
        """Return the entries and values of a schedule, each place adding to the more general ones, and the share of
        the paper's epochs that is trained."""
        names = [self.numbers.method_file(method_id), base_method(method_id)]
        places = places_of(dataset, noise_id, *dict.fromkeys(names))
        entries: dict[str, Setting] = {}
        for place in places:
            entries |= self.numbers.training.get(place, {})
        if not entries:
            raise WarlabError(f"There is no schedule for {dataset}; write training.{dataset} in hyperparameters.yaml.")
        values = {key: entry.value for key, entry in entries.items()}
        for layer in self._layers("training"):
            for place in places:
                values |= layer.get(place, {})
        return entries, values, cast(float, values["epochs"]) / cast(float, entries["epochs"].value)


def values_for(layer: Section, name: str, dataset: str) -> Options:
    """Return what a scale or `overrides` gives to a name, such as embed, and then to embed@cifar10."""
    return layer.get(name, {}) | layer.get(f"{name}@{dataset}", {})


def for_epochs(values: Options, entries: dict[str, Setting], share: float) -> Options:
    """Adapt a schedule to a share of the paper's epochs: numbers of epochs shrink, and what is done a little in every
    epoch grows."""
    units = {key: entry.unit for key, entry in entries.items()}
    return {key: _for_epochs(value, units.get(key), share) for key, value in values.items()}


def _for_epochs(value: Any, unit: str | None, share: float) -> Any:
    if unit == "epochs":
        return [round(v * share) for v in value] if isinstance(value, list) else round(value * share)
    return value / share if unit == "per epoch" else value


def changed_setting(text: str, method_id: str, known: list[str]) -> tuple[str, Any]:
    """Parse a change of a method id, such as `beta=5`."""
    key, equals, value = text.partition("=")
    if not equals or key not in known:
        raise WarlabError(f"{method_id!r} changes {key!r}, which is not a setting of the method; {suggest(key, known)}")
    try:
        return key, parse_yaml(value)
    except (yaml.YAMLError, ValueError) as error:
        raise WarlabError(f"{method_id!r} gives {key} the value {value!r}; write a number or a word.") from error
