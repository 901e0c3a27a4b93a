"""A setting of a method or a network: its general value, where that comes from, and what the value may be.

    a: float = setting(0.1, "baseline's code", minimum=0)

stands in the dataclass `Config` of a member's file, and nowhere else. `Registry.settings` reads the line from the
syntax tree. Values for one dataset or one noise are in config/hyperparameters.yaml.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SOURCES = ("paper", "authors' code", "baseline's code", "baseline's author", "public rerun", "our choice")
UNITS = ("epochs", "per epoch")
MOST_EPOCHS = 100_000
LARGEST = 1_000_000  # of numbers with limits, unless another maximum is given
_TYPES = {"float": "number", "int": "integer", "str": "string", "bool": "boolean", "None": "null"}

Rule = Mapping[str, Any]  # a JSON schema


@dataclass(frozen=True)
class Setting:
    """An entry of the table of hyperparameters."""

    value: Any
    source: str
    unit: str | None = None
    rule: Rule | None = None  # None: anything finite
    places: Mapping[str, "Setting"] = field(default_factory=dict)  # such as cifar10 or cifar10@asym-40

    def at(self, places: Sequence[str]) -> Any:
        """The value at the last of these places that has one, otherwise the general value."""
        special = [self.places[place] for place in places if place in self.places]
        return special[-1].value if special else self.value

    @property
    def words(self) -> list[str]:
        """The words that are allowed, if not every word is."""
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
    """A field of `Config`. Limits are for numbers, `choices` and `pattern` for words; the annotation is the type.

    With the unit "epochs" the value shrinks where a scale trains for fewer epochs than the paper; with "per epoch",
    something that is done a little in every epoch, it grows by as much.
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


def described(annotation: str, made: Any) -> Setting:
    """The setting behind a field that `setting` made, or behind a plain default value."""
    if not hasattr(made, "metadata"):
        return Setting(made, "our choice", rule=_rule(annotation, {}, {}))
    about = made.metadata
    return Setting(made.default, about["source"], about["unit"], _rule(annotation, about["number"], about["word"]))


def _rule(annotation: str, number: Rule, word: Rule) -> Rule | None:
    """`float | None` is a number within the limits, or null; of another annotation nothing is known."""
    names = [name.strip() for name in annotation.split("|")]
    if not set(names) <= set(_TYPES):
        return None
    limits = {"float": number, "int": number, "str": word}
    rules = [{"type": _TYPES[name], **limits.get(name, {})} for name in names]
    return rules[0] if len(rules) == 1 else {"anyOf": rules}
