"""Every number of a study with its source: those of the methods' and networks' files, and hyperparameters.yaml."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from warlab import methods, nets
from warlab.artefacts.run_config import Options
from warlab.common.setting import PlaceValue, Rule, Setting
from warlab.config.entries import Variant
from warlab.config.reading import check, check_known, read_yaml
from warlab.ot import costs
from warlab.registry import Registry

FILE = "hyperparameters.yaml"
Settings = dict[str, Setting]  # by their keys
Entries = dict[str, Mapping[str, Any]]  # key → value, source and perhaps unit, with other values `for` places
Places = dict[str, dict[str, Entries]]  # member → setting → place
Rules = dict[str, Rule]
SECTIONS = ("training", "nets", "methods", "costs", "noise")


@dataclass(frozen=True)
class Numbers:
    """Of each section the settings by name: schedules by place, the others by network, method, cost and noise."""

    training: dict[str, Settings]
    nets: dict[str, Settings]
    methods: dict[str, Settings]
    costs: dict[str, Settings]
    noise: dict[str, Settings]
    variants: dict[str, Variant]

    def section(self, name: str) -> dict[str, Settings]:
        return cast(dict[str, Settings], getattr(self, name))

    def method_file(self, method: str) -> str:
        """The method that a variant is a variant of; any other is its own."""
        return self.variants[method]["method"] if method in self.variants else method

    def each(self) -> Iterator[tuple[str, str, str, Setting]]:
        """(section, name, key, setting)"""
        for section in SECTIONS:
            for name, settings in self.section(section).items():
                yield from ((section, name, key, setting) for key, setting in settings.items())

    def table(self) -> dict[str, dict[str, dict[str, Options]]]:
        """What the report prints: section → name → key → entry."""
        return {
            section: {
                name: {key: _printed(setting) for key, setting in settings.items()}
                for name, settings in self.section(section).items()
            }
            for section in SECTIONS
        }


def _printed(setting: Setting) -> Options:
    places = {place: vars(at) for place, at in setting.places.items()}
    unit = {"unit": setting.unit} if setting.unit else {}
    return {"value": setting.value, "source": setting.source} | unit | ({"for": places} if places else {})


def read_numbers(root: Path) -> Numbers:
    schemas = root / "workflow" / "schemas"
    content = check(read_yaml(root / "config" / FILE), schemas / "hyperparameters.schema.yaml", FILE)
    rules = read_yaml(schemas / "settings.schema.yaml")
    rules["costs"]["kind"] = {"enum": costs.kinds()}
    return Numbers(
        _schedules(content["training"], rules["training"]),
        _members("nets", nets.NETS, nets.trained(), content.get("nets", {})),
        _members("methods", methods.METHODS, methods.names(), content["methods"]),
        {name: _settings(entries, rules["costs"]) for name, entries in content["costs"].items()},
        {name: _settings(entries, rules["noise"]) for name, entries in content["noise"].items()},
        content["variants"],
    )


def _settings(entries: Entries, rules: Rules) -> Settings:
    return {
        key: Setting(entry["value"], entry["source"], entry.get("unit"), rules.get(key), _places(entry.get("for", {})))
        for key, entry in entries.items()
    }


def _places(entries: Entries) -> dict[str, PlaceValue]:
    return {place: PlaceValue(**entry) for place, entry in entries.items()}


def _schedules(content: dict[str, Entries], rules: Rules) -> dict[str, Settings]:
    entries = {name: _schedule(content, name) for name in content}
    for name in entries:
        _check_known(f"training.{name} has no", entries[name], rules)
    return {name: _settings(given, rules) for name, given in entries.items()}


def _schedule(schedules: dict[str, Entries], name: str, asked: tuple[str, ...] = ()) -> Entries:
    """The entries of a schedule, with those of the dataset that it is `as`."""
    entries = {key: entry for key, entry in schedules[name].items() if key not in ("as", "source")}
    if "as" not in schedules[name]:
        return entries
    like = str(schedules[name]["as"])
    others = [other for other in schedules if other not in (name, *asked)]
    check_known(like, others, f"{FILE}: training.{name} copies {like!r}, which is not another schedule")
    source = {"source": schedules[name]["source"]} if "source" in schedules[name] else {}
    taken = _schedule(schedules, like, (*asked, name))
    return {key: {**entry, **source} for key, entry in taken.items()} | entries


def _members(section: str, registry: Registry, names: list[str], content: Places) -> dict[str, Settings]:
    """The settings that the members' files declare, with the values that they have at places."""
    _check_known(f"there is no {registry.kind}", content, names)
    found = {}
    for name in names:
        settings, places = registry.settings(name), content.get(name, {})
        _check_known(f"{section}.{name} has no setting", places, settings)
        given = {key: _places(entries) for key, entries in places.items()}
        found[name] = {key: replace(setting, places=given.get(key, {})) for key, setting in settings.items()}
    return found


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        check_known(name, known, f"{FILE}: {what} {name!r}")


def places_of(dataset: str, noise_id: str = "", *method_names: str) -> list[str]:
    """The places whose values a run has, from the general to the special: cifar10, cifar10@openset,
    cifar10@openset_svhn, cifar10@openset_svhn-40, then cifar10@<method>, and cifar10@<variant> of the method."""
    ends = [match.start() for match in re.finditer("[_-]", noise_id)]
    special = [*(noise_id[:end] for end in (*ends, len(noise_id))), *method_names]
    return [dataset, *(f"{dataset}@{name}" for name in special if name)]


def value_at(setting: Setting, places: list[str]) -> Any:
    """The value at the most special of these places that the setting names, or else its general one."""
    named = [setting.places[place].value for place in places if place in setting.places]
    return named[-1] if named else setting.value
