"""What a setting may be: each value of hyperparameters.yaml, a scale, `overrides` or a method id, before it is used."""

from pathlib import Path
from typing import Any

import yaml

from warlab.common.wording import suggest
from warlab.config.reading import parse_yaml, problem, read_yaml
from warlab.errors import WarlabError
from warlab.ot import costs

Tree = dict[str, Any]


class Allowed:
    """The rules of workflow/schemas/settings.schema.yaml; a key without a rule may be anything finite."""

    def __init__(self, rules: Tree) -> None:
        self.rules = rules

    @classmethod
    def read(cls, schema: Path) -> "Allowed":
        rules = read_yaml(schema)
        rules["costs"]["kind"] = {"enum": costs.kinds()}
        return cls(rules)

    def rule(self, section: str, name: str, key: str) -> Tree | None:
        names = self.rules.get(section, {})
        keys = names if section in ("training", "costs") else names.get(name, {})
        return None if key not in keys else {**keys[key], "$defs": self.rules["$defs"]}

    def value(self, section: str, name: str, key: str, value: Any, where: str) -> None:
        """A WarlabError that names key, value and what is allowed, unless the value is."""
        rule = self.rule(section, name, key)
        found = None if rule is None else problem(value, rule, f"{section}.{name}.{key}")
        if found:
            raise WarlabError(f"{where}: {found}")

    def numbers(self, numbers: Tree, settings_of: dict[str, list[str]]) -> None:
        """Everything in hyperparameters.yaml; `settings_of` are the methods that exist with what they can be set."""
        for section in ("training", "nets", "methods", "costs", "noise"):
            for name, entries in numbers[section].items():
                for key, entry in entries.items():
                    for one in (entry, *entry.get("for", {}).values()):
                        self.value(section, name, key, one["value"], "hyperparameters.yaml")
        for name, entries in numbers["methods"].items():
            self.keys("methods", name, entries, settings_of, "hyperparameters.yaml")
        for name, variant in numbers["variants"].items():
            where = f"hyperparameters.yaml, variants.{name}"
            self.keys("methods", variant["method"], variant["settings"], settings_of, where)
            for key, value in variant["settings"].items():
                self.value("methods", variant["method"], key, value, where)

    def keys(self, section: str, name: str, entries: Tree, settings_of: dict[str, list[str]], where: str) -> None:
        if name not in settings_of:
            raise WarlabError(f"{where}: there is no method {name!r}; {suggest(name, list(settings_of))}")
        for key in entries:
            if key not in settings_of[name]:
                raise WarlabError(f"{where}: {section}.{name} has no {key!r}; {suggest(key, settings_of[name])}")


def changed_setting(text: str, method_id: str, known: list[str]) -> tuple[str, Any]:
    """`beta=5` of a method id."""
    key, equals, value = text.partition("=")
    if not equals or key not in known:
        raise WarlabError(f"{method_id!r} changes {key!r}, which is not a setting of the method; {suggest(key, known)}")
    try:
        return key, parse_yaml(value)
    except (yaml.YAMLError, ValueError) as error:
        raise WarlabError(f"{method_id!r} gives {key} the value {value!r}; write a number or a word.") from error
