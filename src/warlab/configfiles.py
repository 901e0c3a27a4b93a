"""Configuration files: read, checked against their schema, and every mistake told in one sentence."""

import difflib
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from warlab.errors import WarlabError


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text())
    except OSError as error:
        raise WarlabError(
            f"The configuration file {path} cannot be read ({error.strerror}); check its name."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        problem = str(getattr(error, "problem", None) or error).splitlines()[0]
        raise WarlabError(f"{path} is not valid YAML{line}: {problem}.") from error
    if not isinstance(content, dict):
        raise WarlabError(f"{path} must hold keys and values, not {type(content).__name__}.")
    return content


def check(content: dict[str, Any], schema: Path, name: str) -> dict[str, Any]:
    """`content` itself, or a sentence that names file, key, value and what is allowed."""
    validator = jsonschema.Draft202012Validator(read_yaml(schema))
    errors = sorted(validator.iter_errors(content), key=lambda e: (len(e.absolute_path), str(e.absolute_path)))
    if errors:
        raise WarlabError(f"{name}: {sentence(errors[0])}")
    return content


def sentence(error: jsonschema.ValidationError) -> str:
    place = ".".join(str(part) for part in error.absolute_path) or "the top level"
    rule: Any = error.validator_value
    value: Any = error.instance
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))  # type: ignore[union-attr]
        extra = next(str(key) for key in value if key not in known)
        return f"unknown key {extra!r} at {place}; {suggest(extra, known)}"
    if error.validator == "required":
        return f"{place} lacks the key {next(key for key in rule if key not in value)!r}; add it."
    if error.validator == "enum":
        return f"{place} is {value!r}; allowed are {', '.join(map(str, rule))}."
    if error.validator == "type":
        return f"{place} is {value!r}, which is not of type {rule}; write one."
    return f"{place} is not allowed: {error.message}; {error.validator} must be {rule}."


def suggest(word: str, known: list[str]) -> str:
    """'did you mean …?' where something is close, the whole list where nothing is."""
    close = difflib.get_close_matches(word, known, 1)
    return f"did you mean {close[0]!r}?" if close else f"allowed are {', '.join(known)}."
