"""The resolver: which settings a run, a network, a method, a cost or a noise has in a study."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, NotRequired, ParamSpec, TypedDict, TypeVar, cast

import yaml

from warlab import data, noise
from warlab.artefacts.run_config import DeviceOptions, MethodConfig, NetConfig, Options, RunConfig, Training
from warlab.common.setting import Setting
from warlab.common.wording import suggest
from warlab.config.entries import Layer, Scale, Section, UserConfig
from warlab.config.numbers import Numbers, places_of, value_at
from warlab.config.reading import check_known, parse_yaml
from warlab.errors import WarlabError
from warlab.ids import CostId, MethodId, RunId, base_method
from warlab.ot import costs

IMAGENET = "imagenet"  # the value of a network's setting `weights` for which they are fetched
P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def remembered(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method that works out its answer once: planning asks the same of a study for every job. The answer depends on
    nothing but the object and the arguments, which must be hashable.

    Unlike `functools.cache` it needs no hash of the object, forgets with the object, and hands out copies: a caller
    that changes a dictionary or list changes no later answer.
    """

    @wraps(method)
    def answer(self: S, /, *given: P.args, **named: P.kwargs) -> T:
        answers = vars(self).setdefault("_answers", {})
        key = (method.__name__, given, tuple(sorted(named.items())))
        if key not in answers:
            answers[key] = method(self, *given, **named)
        found: Any = answers[key]
        return cast(T, found.copy() if isinstance(found, dict | list) else found)

    return answer


class DataSpec(TypedDict):
    """How much of which dataset is prepared; None is all."""

    dataset: str
    source: str
    train: int | None
    test: int | None
    pool: int
    size: NotRequired[int]


@dataclass(frozen=True)
class Settings:
    """General values < values at places < the scale < `overrides` of the user's configuration."""

    numbers: Numbers
    scale: Scale
    config: UserConfig

    def run(self, cell: RunId) -> RunConfig:
        """All that decides a run's result apart from its input files."""
        settings = self.method(cell.method, cell.dataset, cell.noise)
        return RunConfig(
            cell.dataset,
            cell.noise,
            NetConfig(cell.net, self.net(cell.net, cell.dataset)),
            MethodConfig(cell.method, self.method_file(cell.method), settings),
            self.training(cell.dataset, cell.noise, cell.method),
            cell.seed,
            DeviceOptions(**self.config.get("device", {})),
        )

    @remembered
    def training(self, dataset: str, noise_id: str = "", method_id: str = "") -> Training:
        """The schedule of a dataset, unless its noise or the method has one of its own there."""
        entries, values = self._schedule(dataset, noise_id, method_id)
        return cast(Training, for_epochs(values, entries, self._share(dataset, noise_id, method_id)))

    @remembered
    def net(self, name: str, dataset: str) -> Options:
        return self._resolve("nets", name, dataset)

    def width(self, net: str, dataset: str) -> float:
        """What multiplies the channel counts of a network; 1 for one without this setting."""
        return cast(float, self.net(net, dataset).get("width", 1.0))

    def weights(self, net: str, dataset: str) -> str | None:
        """`imagenet`, or the user's file, where a network does not begin with random weights."""
        weights = self.net(net, dataset).get("weights")
        return None if weights in (None, "none") else str(weights)

    def untrained_net(self, name: str, dataset: str) -> Options:
        """Settings of a network whose shape counts, not its weights: nothing has to be fetched for it."""
        return {key: value for key, value in self.net(name, dataset).items() if key != "weights"}

    @remembered
    def method(self, method_id: str, dataset: str, noise_id: str = "") -> Options:
        """Those of the method's file in all layers; on top of these, for a variant of the file, what scale and
        `overrides` give under the variant's name; `+key=value` of the id last."""
        method, file = MethodId.parse(method_id), self.method_file(method_id)
        settings = self._resolve("methods", file, dataset, noise_id)
        if method.base in self.numbers.variants:
            settings |= self.numbers.variants[method.base]["settings"]
            for layer in self._layers("methods"):
                settings |= given_to(layer, method.base, dataset)
        settings |= dict(changed_setting(change, method_id, list(settings)) for change in method.changes)
        return for_epochs(settings, self.numbers.methods.get(file, {}), self._share(dataset, noise_id, method_id))

    def warmup(self, cell: RunId) -> int:
        """Epochs in which a run is trained like CCE."""
        return cast(int, self.method(cell.method, cell.dataset, cell.noise).get("warmup", 0))

    def method_file(self, method_id: str) -> str:
        """`war` of war_w2v+beta=5: the file behind a method id."""
        return self.numbers.method_file(base_method(method_id))

    # ---- data, noise and costs

    @remembered
    def data_spec(self, dataset: str) -> DataSpec:
        whole = {"dataset": dataset, "train": None, "test": None, "pool": 1}
        return cast(DataSpec, whole | self.scale["datasets"][dataset])

    def noise(self, noise_id: str, dataset: str) -> Options:
        """The settings of a noise's kind, such as which classes an object may become; the rate of labels as they
        came."""
        kind = noise.parse(noise_id)[0]
        return self._resolve("noise", kind, dataset) | noise.settings_of_dataset(noise_id, dataset)

    def noise_file(self, noise_id: str) -> str:
        """The user's file behind a noise `file` or `file_<name>`."""
        files = self.config.get("noise_files", {})
        if noise_id not in files:
            raise WarlabError(f"The noise {noise_id} has no file; name one in noise_files of the configuration.")
        return files[noise_id]

    def cost_name(self, cell: RunId) -> str | None:
        """The ground cost of a run, such as w2v or random.7."""
        return cast(str | None, self.method(cell.method, cell.dataset, cell.noise).get("cost"))

    def cost_kind(self, name: str, dataset: str) -> str:
        return str(self.cost(name, dataset)["kind"])

    @remembered
    def cost_key(self, cell: RunId) -> str | None:
        """Folder of the run's ground cost: "w2v", or "embed@asym-40@seed0" if it reads the noisy labels."""
        name = self.cost_name(cell)
        if name is None:
            return None
        reads_labels = costs.reads_labels(self.cost_kind(name, cell.dataset))
        if reads_labels and data.get(cell.dataset).samples != "images":
            raise WarlabError(f"The cost {name} needs images in memory, unlike {cell.dataset}; choose another cost.")
        return str(CostId(name, cell.noise, cell.seed) if reads_labels else CostId(name))

    @remembered
    def cost(self, name: str, dataset: str) -> Options:
        """kind and settings of a named cost; random.7 is the cost `random` with the seed 7"""
        base, dot, seed = name.partition(".")
        check_known(base, self.numbers.costs, f"There is no ground cost {name!r}")
        settings = self._resolve("costs", base, dataset)
        if dot and not (seed.isdecimal() and "seed" in settings):
            raise WarlabError(f"The ground cost {name!r} has no seed {seed!r}; write a number, such as random.7.")
        return settings | ({"seed": int(seed)} if dot else {})

    def cost_files(self, name: str, dataset: str) -> dict[str, str]:
        """The user's files that a cost is made from, by the setting that names them."""
        return costs.user_files(self.cost_kind(name, dataset), self.cost(name, dataset))

    def features(self, cost: str, dataset: str) -> str | None:
        """Network and size of image behind an embed cost, such as resnet18-224; None if it needs no network."""
        settings = self.cost(cost, dataset)
        network = settings.get("features", "pixels")
        return None if network == "pixels" else f"{network}-{settings['size']}"

    # ---- layers

    def _layers(self, section: str) -> list[Section]:
        """What stands above the numbers; the later one wins."""
        layers: tuple[Layer, Layer] = (self.scale, self.config.get("overrides", {}))
        return [cast(Section, layer.get(section, {})) for layer in layers]

    def _resolve(self, section: str, name: str, dataset: str, noise_id: str = "") -> Options:
        """The values of one section and name for a dataset and noise."""
        places = places_of(dataset, noise_id)
        values = {key: value_at(one, places) for key, one in self.numbers.section(section).get(name, {}).items()}
        for layer in self._layers(section):
            values |= given_to(layer, name, dataset)
        return values

    @remembered
    def _schedule(self, dataset: str, noise_id: str, method_id: str) -> tuple[dict[str, Setting], Options]:
        """Entries and values of a training, each place adding to the more general ones."""
        named = [self.method_file(method_id), base_method(method_id)] if method_id else []
        places = places_of(dataset, noise_id, *dict.fromkeys(named))
        entries: dict[str, Setting] = {}
        for place in places:
            entries |= self.numbers.training.get(place, {})
        if not entries:
            raise WarlabError(f"There is no schedule for {dataset}; write training.{dataset} in hyperparameters.yaml.")
        values = {key: entry.value for key, entry in entries.items()}
        for layer in self._layers("training"):
            for place in places:
                values |= layer.get(place, {})
        return entries, values

    def _share(self, dataset: str, noise_id: str, method_id: str) -> float:
        """How many of the paper's epochs are trained; schedules shrink with them."""
        entries, values = self._schedule(dataset, noise_id, method_id)
        return cast(float, values["epochs"]) / cast(float, entries["epochs"].value)


def given_to(layer: Section, name: str, dataset: str) -> Options:
    """What a scale or `overrides` gives to a name, such as embed, and on top of it to embed@cifar10."""
    return layer.get(name, {}) | layer.get(f"{name}@{dataset}", {})


def for_epochs(values: Options, entries: dict[str, Setting], share: float) -> Options:
    """Schedules are written for the paper's number of epochs. Where only a share of them is trained they shrink in
    proportion, and what is done a little in every epoch grows by as much."""
    units = {key: entry.unit for key, entry in entries.items()}
    return {key: _for_epochs(value, units.get(key), share) for key, value in values.items()}


def _for_epochs(value: Any, unit: str | None, share: float) -> Any:
    """Whole epochs are rounded, and a schedule of several keeps its order."""
    if unit == "epochs":
        return [round(v * share) for v in value] if isinstance(value, list) else round(value * share)
    return value / share if unit == "per epoch" else value


def changed_setting(text: str, method_id: str, known: list[str]) -> tuple[str, Any]:
    """`beta=5` of a method id."""
    key, equals, value = text.partition("=")
    if not equals or key not in known:
        raise WarlabError(f"{method_id!r} changes {key!r}, which is not a setting of the method; {suggest(key, known)}")
    try:
        return key, parse_yaml(value)
    except (yaml.YAMLError, ValueError) as error:
        raise WarlabError(f"{method_id!r} gives {key} the value {value!r}; write a number or a word.") from error
