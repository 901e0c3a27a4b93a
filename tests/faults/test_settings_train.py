"""What the configuration allows can be trained with, or stops in one sentence: the extremes of every setting."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.faults.counting import count, long
from tests.helpers.runs import resolved, run_training, study, write_files
from warlab import methods
from warlab.errors import WarlabError


def extremes(rule: Mapping[str, Any]) -> Iterator[Any]:
    """The ends of what a JSON schema allows, and every word of a list."""
    if "anyOf" in rule:
        for one in rule["anyOf"]:
            yield from extremes(one)
    elif "enum" in rule:
        yield from rule["enum"]
    elif rule["type"] == "boolean":
        yield from (True, False)
    elif rule["type"] == "null":
        yield None
    elif rule["type"] == "integer":
        yield from (rule["minimum"], min(rule.get("maximum", 1000), 1000))
    elif rule["type"] == "number":
        yield from (rule.get("minimum", 1e-6), rule.get("maximum", 0.999))


def settings_of(method: str) -> list[tuple[str, Any]]:
    numbers = study().numbers
    file = numbers.method_file(method)
    rules = {key: TypeAdapter(numbers.kind("methods", file, key)).json_schema() for key in numbers.methods[file]}
    return [(key, value) for key, rule in rules.items() if key != "cost" for value in extremes(rule)]


CASES = [(method, key, value) for method in methods.names() for key, value in settings_of(method)]


@pytest.mark.parametrize(("method", "key", "value"), CASES if long() else CASES[::13])
def test_an_allowed_extreme_trains_or_stops_in_one_sentence(method: str, key: str, value: Any, tmp_path: Path) -> None:
    files = write_files(tmp_path, n=32, noise="sym-40")
    try:
        run_training(resolved(method, epochs=2, **{key: value}), files, tmp_path / "out")
        assert (tmp_path / "out" / "result.json").exists()
    except WarlabError as error:
        expected = ("finite number in epoch", "set `ramp` to 1 or more")  # the rate cannot be estimated before epoch 1
        assert any(words in str(error) for words in expected)
    count("extreme setting trained")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("batch_size", 2),
        ("batch_size", 10**6),
        ("lr", 1000.0),
        ("optimiser", "sgd"),
        ("weight_decay", 1),
        ("drops", []),
    ],
)
def test_an_allowed_training_runs_or_stops_in_one_sentence(key: str, value: Any, tmp_path: Path) -> None:
    run = resolved("war_w2v", epochs=2)
    run["training"][key] = value
    try:
        run_training(run, write_files(tmp_path, n=12), tmp_path / "out")
    except WarlabError as error:
        assert "finite number in epoch" in str(error)
    count("extreme setting trained")
