"""Read configuration files and check them against their models; each mistake ends in one sentence."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

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


def check_files(files: Iterable[str | Path]) -> None:
    """Read again what Snakemake has read: of a key that is given twice, its own loader drops the first."""
    for file in files:
        read_yaml_file(Path(file))


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


def expand_home(config: Any) -> Any:
    """Replace a leading ~/ by the home folder in every text of the configuration: all such texts are paths."""
    if isinstance(config, dict):
        return {key: expand_home(inner) for key, inner in config.items()}
    return str(Path(config).expanduser()) if config == "~" or str(config).startswith("~/") else config


SECTIONS_OF_IDS = ("training", "net")


def parse_changes(method_id: str, known: Iterable[str]) -> dict[str, Any]:
    """Return the settings that a method id changes: {"beta": 5} for war_w2v+beta=5. The settings of SECTIONS_OF_IDS,
    such as training.lr, are checked where the dataset and the network are known."""
    names, changes = list(known), {}
    for change in MethodId.parse(method_id).changes:
        key, equals, value = change.partition("=")
        section = key.rpartition(".")[0]
        if not equals or (key not in names and section not in SECTIONS_OF_IDS):
            reason = f"changes {key!r}, which is not a setting of the method"
            raise WarlabError(f"{method_id!r} {reason}; {suggest(key, names)}")
        if key in changes:
            raise WarlabError(f"{method_id!r} changes {key!r} twice; keep one of the two.")
        try:
            changes[key] = parse_yaml(value)
        except (yaml.YAMLError, ValueError) as error:
            raise WarlabError(f"{method_id!r} gives {key} the value {value!r}; write a number or a word.") from error
    if changes.keys() >= {"epsilon", "relative_epsilon"}:
        raise WarlabError(f"{method_id!r} changes epsilon and relative_epsilon; keep one of the two.")
    return changes


def check_known(name: str, known: Iterable[str], problem: str) -> None:
    """Raise a WarlabError with this problem and the name that was probably meant, unless the name is known."""
    names = list(known)
    if name not in names:
        raise WarlabError(f"{problem}; {suggest(str(name), names)}")


def check_value(name: str, kind: Any, value: Any, where: str) -> None:
    """Raise a WarlabError with the setting, its value and what it must be, unless it is of this kind."""
    try:
        _adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        must = ", or ".join(dict.fromkeys(_must(one) for one in error.errors(include_url=False)))
        raise WarlabError(f"{where}: {name} is {short(value)}; it must {must}.") from None


def check(content: Any, model: Any, where: str) -> Any:
    """Return the content as the model has it; a WarlabError names the first key that is wrong and what it must be."""
    try:
        return _adapter(model).validate_python(content, strict=True)
    except ValidationError as error:
        first = min(
            error.errors(include_url=False), key=lambda one: (len(one["loc"]), one["type"] != "extra_forbidden")
        )
        raise WarlabError(f"{where}: {_sentence(first, _adapter(model).json_schema())}") from None


_adapter = cache(TypeAdapter)


def _must(error: Any) -> str:
    """Return what a value must be or have: pydantic writes "Input should be …"."""
    return str(error["msg"]).partition(" should ")[2] or f"be valid ({error['msg']})"


def _sentence(error: Any, schema: Mapping[str, Any]) -> str:
    """Say in one sentence what pydantic found; the schema has the keys that may be meant."""
    kind, place, value = error["type"], [str(part) for part in error["loc"]], short(error["input"])
    key, parent = place[-1] if place else "", ".".join(place[:-1]) or "the top level"
    if kind == "missing":
        return f"{parent} lacks the key {key!r}; add it."
    if kind == "extra_forbidden":
        known = [one for rule in (schema, *schema.get("$defs", {}).values()) for one in rule.get("properties", ())]
        return f"unknown key {short(key)} at {parent}; {suggest(key, dict.fromkeys(known))}"
    if kind == "invalid_key" or key == "[key]":
        return f"the key {value} at {'.'.join(place[:-2]) or 'the top level'} is wrong: it must {_must(error)}."
    return f"{'.'.join(place) or 'the top level'} is {value}; it must {_must(error)}."
