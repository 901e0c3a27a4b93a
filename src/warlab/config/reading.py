"""Reading configuration files and checking them against their schemas; each mistake ends in one sentence."""

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from warlab.common.setting import Rule
from warlab.common.wording import short, suggest
from warlab.errors import WarlabError
from warlab.ids import MethodId


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML 1.2 where people expect it: `off` is a word, `1e-3` is a number, and a key may be given only once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                problem = f"the key {key.value!r} is given twice; remove one of them"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
        return dict(super().construct_mapping(node, deep))


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
_EXPONENT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$", re.ASCII)
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+.0123456789"))
_DEEPEST = 20  # no file of ours is nested deeper than seven
_LONGEST = 1000  # characters of a name, a path or a sentence


def read_yaml(path: Path) -> dict[str, Any]:
    content = read_yaml_file(path)
    if not isinstance(content, dict):
        raise WarlabError(f"{path} must hold keys and values, not {type(content).__name__}.")
    return content


def read_yaml_file(path: Path) -> Any:
    try:
        return parse_yaml(path.read_text())
    except OSError as error:
        reason = error.strerror
        raise WarlabError(f"The configuration file {path} cannot be read ({reason}); check its name.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date such as 2026-99-99 is a ValueError
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        reason = " ".join(str(getattr(error, "problem", None) or error).split())
        raise WarlabError(f"{str(path)!r} is not valid YAML{line}: {reason}.") from error


def parse_yaml(text: str) -> Any:
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
        parsed = parse_yaml(value)
    except (yaml.YAMLError, ValueError, RecursionError):
        return value
    is_null = parsed is None and value.strip() != ""
    return parsed if is_null or isinstance(parsed, bool | int | float) else value


def parse_changes(method_id: str, known: Iterable[str]) -> dict[str, Any]:
    """Return the settings that a method id changes: {"beta": 5} for war_w2v+beta=5."""
    names, changes = list(known), {}
    for change in MethodId.parse(method_id).changes:
        key, equals, value = change.partition("=")
        if not equals or key not in names:
            reason = f"changes {key!r}, which is not a setting of the method"
            raise WarlabError(f"{method_id!r} {reason}; {suggest(key, names)}")
        if key in changes:
            raise WarlabError(f"{method_id!r} changes {key!r} twice; keep one of the two.")
        try:
            changes[key] = parse_yaml(value)
        except (yaml.YAMLError, ValueError) as error:
            raise WarlabError(f"{method_id!r} gives {key} the value {value!r}; write a number or a word.") from error
    return changes


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
