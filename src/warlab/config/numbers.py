"""The numbers of a study with their sources, read from the files of methods and networks and hyperparameters.yaml."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from warlab import methods, nets
from warlab.common.setting import Setting
from warlab.config.models import KINDS, WHOLE_SCHEDULE, Hyperparameters, Variant, kind_of
from warlab.config.reading import check, check_known, read_yaml
from warlab.errors import WarlabError
from warlab.ids import base_method, split_place
from warlab.ot import costs
from warlab.registry import Registry, plugins

FILE = "hyperparameters.yaml"
SECTIONS = ("training", "nets", "methods", "costs", "noise")
Table = dict[str, dict[str, Setting]]  # name → key → setting
Entries = Mapping[str, Mapping[str, Any]]  # key or place → an entry of the file: value, source, perhaps unit and for


@dataclass(frozen=True)
class Numbers:
    """The settings of each section by name: a dataset, network, method, cost or kind of noise."""

    training: Table
    nets: Table
    methods: Table
    costs: Table
    noise: Table
    variants: dict[str, Variant]

    def section(self, name: str) -> Table:
        return cast(Table, getattr(self, name))

    def method_file(self, method_id: str) -> str:
        """Return the file behind a method id: `war` for war_w2v+beta=5."""
        base = base_method(method_id)
        return self.variants[base]["method"] if base in self.variants else base

    def each(self) -> Iterator[tuple[str, str, str, Setting]]:
        """Iterate over (section, name, key, setting)."""
        for section in SECTIONS:
            for name, settings in self.section(section).items():
                yield from ((section, name, key, setting) for key, setting in settings.items())

    def kind(self, section: str, name: str, key: str) -> Any:
        """Return the type of a setting, for pydantic."""
        if (section, key) == ("costs", "kind"):
            return Literal[tuple(costs.kinds())]  # those of plug-ins as well
        if section in KINDS:
            return KINDS[section].get(key, Any)
        setting = self.section(section)[name][key]
        return kind_of(setting.annotation, **setting.limits)


def read_numbers(root: Path) -> Numbers:
    """Read config/hyperparameters.yaml of a repository, and the settings in the files of methods and networks.

    Files of the same name among the plug-ins add entries to its sections.
    """
    content = read_yaml(root / "config" / FILE)
    for file in filter(Path.is_file, (folder / FILE for folder in plugins())):
        _add(content, read_yaml(file), str(file))
    check(content, Hyperparameters, FILE)
    if taken := sorted(content["variants"].keys() & set(methods.names())):
        raise WarlabError(f"{FILE}: the variant {taken[0]} has the name of a method; rename the variant.")
    for name, entries in content["costs"].items():
        _check_keys(f"costs.{name}", entries, entries, ["kind"])  # a kind of cost has settings of its own
    return Numbers(
        _training(content["training"]),
        _members("nets", nets.NETS, nets.trainable(), content.get("nets", {})),
        _members("methods", methods.METHODS, methods.names(), content["methods"]),
        {name: _settings(entries) for name, entries in content["costs"].items()},
        {name: _settings(entries) for name, entries in content["noise"].items()},
        content["variants"],
    )


def _add(content: dict[str, Any], more: dict[str, Any], file: str) -> None:
    for section, entries in more.items():
        check_known(section, (*SECTIONS, "variants"), f"{file} has an unknown section {section!r}")
        if not isinstance(entries, dict):
            raise WarlabError(f"{file}: {section} must hold names with their settings; write some, or leave it out.")
        for name in entries:
            if name in content.setdefault(section, {}):
                raise WarlabError(f"{file}: {section}.{name} is defined already; change it by `overrides`.")
        content[section] |= entries


def _settings(entries: Entries) -> dict[str, Setting]:
    return {
        key: Setting(entry["value"], entry["source"], entry.get("unit"), places=_settings(entry.get("for", {})))
        for key, entry in entries.items()
    }


def _training(content: Mapping[str, Entries]) -> Table:
    """Return the schedules of the datasets; the values of cifar10@openset are at that place of the one of cifar10."""
    schedules: Table = {}
    whole = [name for name in content if "@" not in name]
    for name in sorted(content, key=lambda name: "@" in name):
        entries, dataset = _schedule(content, name), split_place(name)[0]
        check_known(dataset, whole, f"{FILE}: training.{name} is for {dataset!r}, which has no schedule")
        _check_keys(f"training.{name}", entries, KINDS["training"], WHOLE_SCHEDULE if name == dataset else ())
        if name == dataset:
            schedules[name] = _settings(entries)
            continue
        for key, one in _settings(entries).items():
            general = schedules[dataset].get(key, Setting(None, ""))
            schedules[dataset][key] = replace(general, places={**general.places, name: one})
    for settings in schedules.values():  # every training may have it, and none has it unless somebody says so
        settings.setdefault("augmentation", Setting(None, ""))
    return schedules


def _schedule(content: Mapping[str, Entries], name: str, seen: tuple[str, ...] = ()) -> Entries:
    """Return the entries of a schedule; the key `as` names another schedule whose entries it copies."""
    schedule = content[name]
    entries = {key: entry for key, entry in schedule.items() if key not in ("as", "source")}
    if "as" not in schedule:
        return entries
    model = str(schedule["as"])
    others = [other for other in content if other not in (name, *seen)]
    check_known(model, others, f"{FILE}: training.{name} copies {model!r}, which is not another schedule")
    source = {"source": schedule["source"]} if "source" in schedule else {}
    copied = _schedule(content, model, (*seen, name))
    return {key: {**entry, **source} for key, entry in copied.items()} | entries


def _members(section: str, registry: Registry, names: list[str], content: Mapping[str, Mapping[str, Entries]]) -> Table:
    """Return the settings that the members' files declare, with their values at places."""
    _check_keys(section, content, names)
    members = {}
    for name in names:
        settings, places = registry.settings(name), content.get(name, {})
        _check_keys(f"{section}.{name}", places, settings)
        members[name] = {key: replace(one, places=_settings(places.get(key, {}))) for key, one in settings.items()}
    return members


def _check_keys(what: str, keys: Iterable[str], known: Iterable[str], needed: Iterable[str] = ()) -> None:
    for key in keys:
        check_known(key, known, f"{FILE}: {what} has no {key!r}")
    for key in needed:
        if key not in keys:
            raise WarlabError(f"{FILE}: {what} lacks the key {key!r}; add it.")
