"""Reading configuration files and checking them against their schemas; each mistake ends in one sentence."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from warlab.common.setting import Rule
from warlab.common.wording import short, suggest
from warlab.errors import WarlabError


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Only true and false are booleans, as in YAML 1.2: the value of `dropout: off` is a word."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
_DEEPEST = 20  # no file of ours is nested deeper than seven
_LONGEST = 1000  # characters of a name, a path or a sentence


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = parse_yaml(path.read_text())
    except OSError as error:
        reason = error.strerror
        raise WarlabError(f"The configuration file {path} cannot be read ({reason}); check its name.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date such as 2026-99-99 is a ValueError
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        reason = " ".join(str(getattr(error, "problem", None) or error).split())
        raise WarlabError(f"{str(path)!r} is not valid YAML{line}: {reason}.") from error
    if not isinstance(content, dict):
        raise WarlabError(f"{path} must hold keys and values, not {type(content).__name__}.")
    return content


def parse_yaml(text: str) -> Any:
    """Parse YAML without aliases: ten lines of them can expand to a billion values, or to one that contains itself."""
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_Loader)):
        raise ValueError("aliases (*name) are not read here, write the value out")
    return yaml.load(text, Loader=_Loader)


def as_yaml(value: Any) -> Any:
    """Convert texts to what a YAML file would give: Snakemake passes 0.9 in `--config 'overrides={…: 0.9}'` as text."""
    if isinstance(value, dict):
        return {key: as_yaml(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_yaml(inner) for inner in value]
    if not isinstance(value, str):
        return value
    try:
        parsed = yaml.load(value, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return value
    is_null = parsed is None and value.strip() != ""
    return parsed if is_null or isinstance(parsed, bool | int | float) else value


def check(content: dict[str, Any], schema: Path, name: str) -> dict[str, Any]:
    """Return `content`, or raise a WarlabError with the file, the key, its value and what it must be."""
    if message := problem(content, read_yaml(schema)):
        raise WarlabError(f"{name}: {message}")
    return content


def check_known(name: str, known: Iterable[str], problem: str) -> None:
    """Raise a WarlabError with this problem and the name that was probably meant, unless the name is known."""
    names = list(known)
    if name not in names:
        raise WarlabError(f"{problem}; {suggest(str(name), names)}")


def _oddities(value: Any, place: tuple[str, ...]) -> Iterator[str]:
    """Yield what no schema finds: keys that are not text, long texts, deep nesting, numbers that are not finite."""
    name = ".".join(place) or "the top level"
    if len(place) > _DEEPEST:
        yield f"{place[0]} is nested too deeply; write at most {_DEEPEST} levels."
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(key, str) and len(key) <= _LONGEST:
                yield from _oddities(inner, (*place, key))
            else:
                yield f"the key {short(key)} at {name} must be text of at most {_LONGEST} characters."
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _oddities(inner, (*place, str(number)))
    elif isinstance(value, str) and len(value) > _LONGEST:
        yield f"{name} is {short(value)}; it must be text of at most {_LONGEST} characters."
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{name} is {value}; it must be a finite number."


def _is_integer(_checker: Any, value: Any) -> bool:
    """3.0 is an integer in JSON, but not for Python's range."""
    return isinstance(value, int) and not isinstance(value, bool)


_Validator: Any = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


def problem(content: Any, schema: Rule, name: str = "") -> str | None:
    """Describe in one sentence what is wrong with `content`; None if nothing is."""
    if oddity := next(_oddities(content, (name,) if name else ()), None):
        return oddity
    errors = sorted(_Validator(schema).iter_errors(content), key=lambda e: (len(e.absolute_path), str(e.absolute_path)))
    return _sentence(errors[0], name) if errors else None


def _sentence(error: jsonschema.ValidationError, name: str = "") -> str:
    place = ".".join([name] * bool(name) + [str(part) for part in error.absolute_path]) or "the top level"
    rule: Any = error.validator_value
    value: Any = error.instance
    schema: Any = error.schema
    if error.validator == "additionalProperties":
        known = list(schema.get("properties", {}))
        extra = next(str(key) for key in value if key not in known)
        return f"unknown key {extra!r} at {place}; {suggest(extra, known)}"
    if error.validator == "required":
        return f"{place} lacks the key {next(key for key in rule if key not in value)!r}; add it."
    if "propertyNames" in error.schema_path:
        return f"the name {short(value)} at {place} must be {_words(schema)}."
    return f"{place} is {short(value)}; it must be {_words(schema)}."


def _words(schema: Rule) -> str:
    """Describe a schema: a number above 0 and of at most 1."""
    if "anyOf" in schema:
        return ", or ".join(_words(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    kinds = schema.get("type", "anything")
    text = " or ".join(_KINDS.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    limits = [f"{phrase} {schema[key]}" for key, phrase in _LIMITS.items() if key in schema]
    return " ".join([text, " and ".join(limits)]).strip()


_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "keys with values",
    "boolean": "true or false",
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
