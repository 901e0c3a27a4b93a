"""The numbers of a study with their sources, read from the files of methods and networks and hyperparameters.yaml."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from warlab import methods, nets
from warlab.common.setting import Rule, Setting, rule
from warlab.config.models import RULES, WHOLE_SCHEDULE, Hyperparameters, Variant
from warlab.config.reading import check, check_known, read_yaml
from warlab.errors import WarlabError
from warlab.ids import base_method, split_place
from warlab.ot import costs
from warlab.registry import Registry

FILE = "hyperparameters.yaml"
SECTIONS = ("training", "nets", "methods", "costs", "noise")
Table = dict[str, dict[str, Setting]]  # name → key → setting
Entries = Mapping[str, Mapping[str, Any]]  # key or place → an entry of the file: value, source, perhaps unit and for


@dataclass(frozen=True)
class Numbers:
    """The settings of each section by name: a dataset or place, network, method, cost or kind of noise."""

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


def read_numbers(root: Path) -> Numbers:
    """Read config/hyperparameters.yaml of a repository, and the settings in the files of methods and networks."""
    content = read_yaml(root / "config" / FILE)
    check(content, Hyperparameters, FILE)
    schedules = {name: _schedule(content["training"], name) for name in content["training"]}
    for name, entries in schedules.items():
        _check_keys(f"training.{name}", entries, RULES["training"], () if split_place(name)[1] else WHOLE_SCHEDULE)
    cost_rules = RULES["costs"] | {"kind": rule("str", choices=costs.kinds())}
    for name, entries in content["costs"].items():
        _check_keys(f"costs.{name}", entries, entries, ["kind"])  # a kind of cost has settings of its own
    return Numbers(
        {name: _settings(entries, RULES["training"]) for name, entries in schedules.items()},
        _members("nets", nets.NETS, nets.trainable(), content.get("nets", {})),
        _members("methods", methods.METHODS, methods.names(), content["methods"]),
        {name: _settings(entries, cost_rules) for name, entries in content["costs"].items()},
        {name: _settings(entries, RULES["noise"]) for name, entries in content["noise"].items()},
        content["variants"],
    )


def _settings(entries: Entries, rules: Mapping[str, Rule]) -> dict[str, Setting]:
    return {
        key: Setting(
            entry["value"], entry["source"], entry.get("unit"), rules.get(key, {}), _settings(entry.get("for", {}), {})
        )
        for key, entry in entries.items()
    }


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
        members[name] = {key: replace(one, places=_settings(places.get(key, {}), {})) for key, one in settings.items()}
    return members


def _check_keys(what: str, keys: Iterable[str], known: Iterable[str], needed: Iterable[str] = ()) -> None:
    for key in keys:
        check_known(key, known, f"{FILE}: {what} has no {key!r}")
    for key in needed:
        if key not in keys:
            raise WarlabError(f"{FILE}: {what} lacks the key {key!r}; add it.")
