"""Mutations of the real YAML files: each loads, or ends in one sentence; none in a traceback."""

import copy
import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import warlab.config
import warlab.configfiles
from tests.conftest import ROOT
from tests.faults.counting import count, long
from warlab.config import load_study
from warlab.configfiles import read_yaml
from warlab.errors import WarlabError

CONFIG = ROOT / "config"
FILES = [
    CONFIG / "config.yaml",
    CONFIG / "experiments.yaml",
    CONFIG / "hyperparameters.yaml",
    *sorted((CONFIG / "scales").glob("*.yaml")),
]
many = settings(
    max_examples=600 if long() else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
kept = cache(read_yaml)


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


@cache
def places_of(file: Path) -> list[tuple[Any, ...]]:
    return [place for place in places(kept(file)) if place]


hostile = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        3.0,
        0.5,
        1e308,
        -1e308,
        math.nan,
        math.inf,
        10**30,
        "",
        " ",
        "x",
        "../../etc/passwd",
        "$(touch evil)",
        "`id`",
        "a;b",
        "{x}",
        "\\input{x}",
        "a'b\"c",
        "é",
        "\x00",
        "\n",
        "x" * 5000,
        [],
        {},
        [[]],
        {"": {}},
        "war_w2v+beta=",
        "war_w2v+beta=x",
        "war_w2v+=1",
        "war_w2v+beta=1+beta=../x",
        "asym-",
        "asym-100",
        "smok",
        ".yaml",
        {"value": 1, "source": "paper"},
        {1: 2},
        [1, "a", None],
        {"for": None},
        yaml.safe_load("2026-01-01"),
    ]
)
values = hostile | st.integers() | st.floats() | st.text(max_size=8) | st.lists(hostile, max_size=3)


@st.composite
def mutations(draw: st.DrawFn) -> tuple[Path, Any, str]:
    """A file, its content with one place replaced, removed, renamed or copied, and what was done."""
    file = draw(st.sampled_from(FILES))
    tree = copy.deepcopy(kept(file))
    place = draw(st.sampled_from(places_of(file)))
    parent = tree
    for key in place[:-1]:
        parent = parent[key]
    what = draw(st.sampled_from(["replace", "replace", "remove", "rename", "swap"]))
    if what == "remove":
        del parent[place[-1]]
    elif what == "rename" and isinstance(parent, dict):
        parent[draw(st.text(max_size=6) | st.sampled_from(["../x", "a b", "{x}", "$(x)", 1, None]))] = parent.pop(
            place[-1]
        )
    elif what == "swap":
        other = draw(st.sampled_from(places_of(file)))
        value: Any = kept(file)
        for key in other:
            value = value[key]
        parent[place[-1]] = copy.deepcopy(value)
    else:
        parent[place[-1]] = draw(values)
    return file, tree, f"{what} {'.'.join(map(str, place))} in {file.name}"


def load_with(file: Path, tree: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load the study as if the file had this content; the other files are read once and kept."""

    def read(path: Path) -> Any:
        return copy.deepcopy(tree if path == file else kept(path))

    for module in (warlab.config, warlab.configfiles, warlab.allowed):
        monkeypatch.setattr(module, "read_yaml", read)
    config = tree if file.name == "config.yaml" else {"scale": file.stem if file.parent.name == "scales" else "smoke"}
    return load_study(config, ROOT)


def assert_one_sentence(error: WarlabError) -> None:
    text = str(error)
    assert "\n" not in text and len(text) < 2000 and text.endswith((".", "?")), text


@many
@given(mutations())
def test_a_mutated_configuration_loads_or_ends_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, mutation: tuple[Path, Any, str]
) -> None:
    file, tree, what = mutation
    if not isinstance(tree, dict):
        return
    count("configuration mutated")
    with monkeypatch.context() as patch:
        try:
            study = load_with(file, tree, patch)
            for cell in study.runs[:: max(1, len(study.runs) // 5)]:  # what a rule of the workflow would ask
                json.dumps(study.run(cell), allow_nan=False)
                study.data_spec(cell.dataset), study.cost_key(cell), study.needed_run(cell)
            assert [study.layout(name) for name in study.tables] and study.labels
        except WarlabError as error:
            assert_one_sentence(error)
        except Exception as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


@many
@given(st.sampled_from(FILES[1:]), st.integers(0, 10**9), st.binary(max_size=4), st.integers(0, 30))
@example(CONFIG / "scales" / "smoke.yaml", 0, b"a: &a [*a]\nb: *a\n", 0)
def test_a_file_with_spoilt_bytes_is_one_sentence(tmp_path: Path, file: Path, where: int, put: bytes, cut: int) -> None:
    """Bytes replaced at any place of the real text, down to broken UTF-8."""
    content = file.read_bytes()
    start = where % len(content)
    spoilt = tmp_path / file.name
    spoilt.write_bytes(content[:start] + put + content[start + cut :])
    assume(spoilt.read_bytes() != content)
    count("configuration mutated")
    try:
        assert isinstance(read_yaml(spoilt), dict)
    except WarlabError as error:
        assert_one_sentence(error)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x [1]\nb: *x\n", "aliases"),
        ("a: &x [*x]\n", "aliases"),
        ("a: 2026-99-99\n", "month"),
        ("a: !!python/object/apply:os.system [touch evil]\n", "could not determine a constructor"),
        ("[" * 5000 + "]" * 5000, "mine.yaml"),
        ("a: \udcff", "mine.yaml"),
    ],
)
def test_hostile_yaml_is_refused_and_runs_nothing(
    text: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.yaml"
    file.write_text(text, errors="surrogateescape")
    with pytest.raises(WarlabError, match=reason) as caught:
        read_yaml(file)
    assert_one_sentence(caught.value)
    assert list(tmp_path.iterdir()) == [file]
    count("hostile configuration file")


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ({"training": {"fashion_mnist": {"epochs": 0}}}, "epochs is 0; allowed is a whole number of at least 1 and"),
        ({"training": {"fashion_mnist": {"epochs": 3.0}}}, "epochs is 3.0; allowed is a whole number"),
        ({"training": {"fashion_mnist": {"lr": math.nan}}}, "lr is nan; allowed is a finite number"),
        ({"training": {"fashion_mnist": {"optimiser": "lion"}}}, "optimiser is 'lion'; allowed is adam or sgd"),
        ({"methods": {"war": {"lam": 0}}}, "methods.war.lam is 0; allowed is a number of at least 1e-06"),
        ({"methods": {"war_w2v": {"beta": "ten"}}}, "methods.war.beta is 'ten'; allowed is a number of at least 0"),
        ({"methods": {"coteaching": {"forget": "much"}}}, "allowed is nominal or realised or halved, or a number"),
        ({"nets": {"cnn9": {"dropout": 1}}}, "nets.cnn9.dropout is 1; allowed is a number of at least 0 and below 1"),
        ({"costs": {"random": {"variant": "x"}}}, "costs.random.variant is 'x'; allowed is raw or abs_sym"),
    ],
)
def test_a_wrong_value_is_named_with_its_key_and_what_is_allowed(overrides: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WarlabError) as caught:
        load_study({"scale": "smoke", "overrides": overrides}, ROOT)
    assert sentence in str(caught.value)


def test_every_number_of_ours_has_a_rule() -> None:
    study = load_study({"scale": "smoke"}, ROOT)
    for section in ("training", "nets", "methods", "costs"):
        for name, entries in study.numbers[section].items():
            for key in entries:
                assert study.allowed.rule(section, name, key) is not None, f"{section}.{name}.{key}"
