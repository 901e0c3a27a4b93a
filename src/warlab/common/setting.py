"""Settings of methods and networks: the general value, its source, and which values are allowed.

    a: float = setting(0.1, "baseline's code", minimum=0)

is a field of the dataclass `Config` in the file of a method or network. `Registry.settings` reads it from the syntax
tree. Values for one dataset or one noise are in config/hyperparameters.yaml.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Literal, get_args

Source = Literal["paper", "authors' code", "baseline's code", "baseline's author", "public rerun", "our choice"]
Unit = Literal["epochs", "per epoch"]
SOURCES, UNITS = get_args(Source), get_args(Unit)
MOST_EPOCHS = 100_000
LARGEST = 1_000_000  # the maximum of numbers, unless another one is given
LONGEST = 1000  # characters of a text
Rule = Mapping[str, Any]  # a JSON schema, of which `allows` knows what `rule` makes, arrays and objects


@dataclass(frozen=True)
class Setting:
    """An entry of the table of hyperparameters."""

    value: Any
    source: str
    unit: str | None = None
    rule: Rule = field(default_factory=dict)
    places: Mapping[str, "Setting"] = field(default_factory=dict)  # such as cifar10 or cifar10@asym-40

    def find_place(self, places: Sequence[str]) -> str | None:
        """Return the last of these places that has a value of its own."""
        return next((place for place in reversed(places) if place in self.places), None)

    @property
    def words(self) -> list[str]:
        """Return the words that are allowed, if not every word is."""
        return [word for one in (self.rule, *self.rule.get("anyOf", [])) for word in one.get("enum", [])]


def setting(value: Any, source: str, *, unit: str | None = None, **limits: Any) -> Any:
    """Declare a field of `Config` with the source of its default and its `limits`, the arguments of `rule`.

    The default of a setting with the unit "epochs" shrinks in proportion where a scale trains for fewer epochs than the
    paper. With the unit "per epoch" it grows in proportion.
    """
    if source not in SOURCES:
        raise ValueError(f"the source {source!r} must be one of {', '.join(SOURCES)}")
    if unit is not None and unit not in UNITS:
        raise ValueError(f"the unit {unit!r} must be one of {', '.join(UNITS)}")
    if unit == "epochs":
        limits = {"minimum": 0, "maximum": MOST_EPOCHS} | limits
    rule("int", **limits)  # names of limits are checked where they are written
    return field(default=value, metadata={"source": source, "unit": unit, "limits": limits})


def described(annotation: str, default: Any) -> Setting:
    """Return the setting of a field from what `setting` returned, or from a plain default value."""
    if not hasattr(default, "metadata"):
        return Setting(default, "our choice", rule=rule(annotation))
    about = default.metadata
    return Setting(default.default, about["source"], about["unit"], rule(annotation, **about["limits"]))


# ---- rules


def rule(
    annotation: str,
    *,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
    pattern: str | None = None,
) -> Rule:
    """Return the schema of an annotation: `float | None` is a number within the limits or null; any value is allowed if
    the annotation is unknown. Limits are for numbers, `choices` and `pattern` for words."""
    names = [name.strip() for name in annotation.split("|")]
    if not set(names) <= set(_TYPES):
        return {}
    if maximum is None and below is None:
        maximum = LARGEST
    limits = {"minimum": minimum, "exclusiveMinimum": above, "maximum": maximum, "exclusiveMaximum": below}
    number = {name: limit for name, limit in limits.items() if limit is not None}
    word: Rule = {"enum": list(choices)} if choices else {"pattern": pattern} if pattern else {}
    own = {"float": number, "int": number, "str": word}
    rules = [{"type": _TYPES[name], **own.get(name, {})} for name in names]
    return rules[0] if len(rules) == 1 else {"anyOf": rules}


_TYPES = {"float": "number", "int": "integer", "str": "string", "bool": "boolean", "None": "null"}


def allows(rule: Rule, value: Any) -> bool:
    """Return whether a rule allows a value. No rule allows a number that is not finite, and 3.0 is not an integer."""
    if "anyOf" in rule:
        return any(allows(one, value) for one in rule["anyOf"])
    kind = next((kind for kind, (python, _) in _KINDS.items() if isinstance(value, python)), None)
    wanted = rule.get("type", kind)
    if (kind != wanted and (kind, wanted) != ("integer", "number")) or value not in rule.get("enum", [value]):
        return False
    if kind in ("integer", "number"):
        above, below = rule.get("exclusiveMinimum", -math.inf), rule.get("exclusiveMaximum", math.inf)
        return rule.get("minimum", value) <= value <= rule.get("maximum", value) and above < value < below
    if kind == "string":
        return len(value) <= LONGEST and ("pattern" not in rule or bool(re.fullmatch(rule["pattern"], value)))
    if kind == "array":
        enough = rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value))
        return enough and all(allows(rule.get("items", {}), one) for one in value)
    if kind == "object":
        inner = rule.get("additionalProperties", {})
        return all(isinstance(key, str) and allows(inner, one) for key, one in value.items())
    return kind is not None


def describe(rule: Rule) -> str:
    """Describe what a rule allows: "a number above 0 and of at most 1"."""
    if "anyOf" in rule:
        return ", or ".join(describe(one) for one in rule["anyOf"])
    if "enum" in rule or "const" in rule:
        return " or ".join(map(str, rule.get("enum", [rule.get("const")])))
    limits = [f"{phrase} {rule[key]}" for key, phrase in _LIMITS.items() if key in rule]
    return " ".join([_KINDS[rule.get("type", "object")][1], " and ".join(limits)]).strip()


_KINDS: dict[str, tuple[type, str]] = {  # bool before int, because True is an int
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "number": (float, "a number"),
    "string": (str, "text"),
    "null": (NoneType, "null"),
    "array": (list, "a list"),
    "object": (dict, "keys with values"),
}
_LIMITS = {
    "minimum": "of at least",
    "exclusiveMinimum": "above",
    "maximum": "of at most",
    "exclusiveMaximum": "below",
    "minItems": "with entries, at least",
    "maxItems": "with entries, at most",
    "pattern": "that matches",
}
