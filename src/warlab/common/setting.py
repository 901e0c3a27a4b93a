"""Settings of methods and networks: the general value, its source, and which values are allowed.

    a: float = setting(0.1, "baseline's code", minimum=0)

is a field of the dataclass `Config` in the file of a method or network. `Registry.settings` reads it from the syntax
tree. Values for one dataset or one noise are in config/hyperparameters.yaml.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SOURCES = ("paper", "authors' code", "baseline's code", "baseline's author", "public rerun", "our choice")
UNITS = ("epochs", "per epoch")
MOST_EPOCHS = 100_000
LARGEST = 1_000_000  # the maximum of numbers, unless another one is given
_TYPES = {"float": "number", "int": "integer", "str": "string", "bool": "boolean", "None": "null"}

Rule = Mapping[str, Any]  # a JSON schema


@dataclass(frozen=True)
class Setting:
    """An entry of the table of hyperparameters."""

    value: Any
    source: str
    unit: str | None = None
    rule: Rule | None = None  # None: every finite value
    places: Mapping[str, "Setting"] = field(default_factory=dict)  # such as cifar10 or cifar10@asym-40

    def find_place(self, places: Sequence[str]) -> str | None:
        """Return the last of these places that has a value of its own."""
        return next((place for place in reversed(places) if place in self.places), None)

    @property
    def words(self) -> list[str]:
        """Return the words that are allowed, if not every word is."""
        rule = self.rule or {}
        return [word for one in (rule, *rule.get("anyOf", [])) for word in one.get("enum", [])]


def setting(
    value: Any,
    source: str,
    *,
    unit: str | None = None,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
    pattern: str | None = None,
) -> Any:
    """Declare a field of `Config`. Limits are for numbers, `choices` and `pattern` for words.

    A value with the unit "epochs" shrinks in proportion where a scale trains for fewer epochs than the paper. One with
    the unit "per epoch" grows in proportion.
    """
    if source not in SOURCES:
        raise ValueError(f"the source {source!r} must be one of {', '.join(SOURCES)}")
    if unit is not None and unit not in UNITS:
        raise ValueError(f"the unit {unit!r} must be one of {', '.join(UNITS)}")
    if unit == "epochs":
        minimum, maximum = minimum or 0, maximum or MOST_EPOCHS
    if maximum is None and below is None:
        maximum = LARGEST
    limits = {"minimum": minimum, "exclusiveMinimum": above, "maximum": maximum, "exclusiveMaximum": below}
    number = {name: limit for name, limit in limits.items() if limit is not None}
    word: Rule = {"enum": list(choices)} if choices else {"pattern": pattern} if pattern else {}
    return field(default=value, metadata={"source": source, "unit": unit, "number": number, "word": word})


def described(annotation: str, default: Any) -> Setting:
    """Return the setting of a field from what `setting` returned, or from a plain default value."""
    if not hasattr(default, "metadata"):
        return Setting(default, "our choice", rule=_rule(annotation, {}, {}))
    about = default.metadata
    return Setting(default.default, about["source"], about["unit"], _rule(annotation, about["number"], about["word"]))


def _rule(annotation: str, number: Rule, word: Rule) -> Rule | None:
    """Return the schema of an annotation: `float | None` is a number within the limits or null; None if unknown."""
    names = [name.strip() for name in annotation.split("|")]
    if not set(names) <= set(_TYPES):
        return None
    limits = {"float": number, "int": number, "str": word}
    rules = [{"type": _TYPES[name], **limits.get(name, {})} for name in names]
    return rules[0] if len(rules) == 1 else {"anyOf": rules}
