"""Settings of methods and networks: the general value, its source, and which values are allowed.

    a: float = setting(0.1, "baseline's code", minimum=0)

is a field of the dataclass `Config` in the file of a method or network. `Registry.settings` reads it from the syntax
tree. Values for one dataset or one noise are in config/hyperparameters.yaml.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Source = Literal["paper", "authors' code", "baseline's code", "baseline's author", "public rerun", "our choice"]
Unit = Literal["epochs", "per epoch"]
MOST_EPOCHS = 100_000


@dataclass(frozen=True)
class Setting:
    """An entry of the table of hyperparameters. `config.models.kind_of` makes a type of annotation and limits."""

    value: Any
    source: str
    unit: str | None = None
    annotation: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, "Setting"] = field(default_factory=dict)  # such as cifar10 or cifar10@asym-40

    @property
    def words(self) -> list[str]:
        """Return the words that are allowed, if not every word is."""
        return list(self.limits.get("choices", ()))


def setting(value: Any, source: str, *, unit: str | None = None, **limits: Any) -> Any:
    """Declare a field of `Config` with the source of its default and its limits: `minimum`, `above`, `maximum` and
    `below` are for numbers, `choices` and `pattern` for words.

    The default of a setting with the unit "epochs" shrinks in proportion where a scale trains for fewer epochs than the
    paper. With the unit "per epoch" it grows in proportion.
    """
    known = {"source": get_args(Source), "unit": (None, *get_args(Unit))}
    for name, given in (("source", source), ("unit", unit)):
        if given not in known[name]:
            raise ValueError(f"the {name} {given!r} must be one of {', '.join(filter(None, known[name]))}")
    if unknown := limits.keys() - {"minimum", "above", "maximum", "below", "choices", "pattern"}:
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    limits = {name: tuple(limit) if isinstance(limit, list) else limit for name, limit in limits.items()}
    if unit == "epochs":
        limits = {"minimum": 0, "maximum": MOST_EPOCHS} | limits
    return field(default=value, metadata={"source": source, "unit": unit, "limits": limits})


def described(annotation: str, default: Any) -> Setting:
    """Return the setting of a field from what `setting` returned, or from a plain default value."""
    if not hasattr(default, "metadata"):
        return Setting(default, "our choice", annotation=annotation)
    return Setting(default.default, annotation=annotation, **default.metadata)
