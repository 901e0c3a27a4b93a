"""Mutations of the real YAML files: each loads, or ends in one sentence; none in a traceback."""

import copy
import dataclasses
import json
import math
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import warlab.config.numbers
import warlab.config.study
import warlab.methods
from tests.conftest import ROOT
from tests.faults.counting import count, long
from tests.helpers.studies import changed_scale, study_of
from warlab.config import validate
from warlab.config.numbers import read_numbers
from warlab.config.reading import check_value, read_yaml
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.registry import PLUGINS

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


NUMBERS = [None, True, False, 0, -1, 1, 2, 3.0, 0.5, 1e308, -1e308, math.nan, math.inf, 10**30, date(2026, 1, 1)]
WORDS = ["", " ", "x", "../../etc/passwd", "$(touch evil)", "`id`", "a;b", "{x}", "\\input{x}", "a'b\"c", "é", "\x00"]
IDS = ["war_w2v+beta=", "war_w2v+beta=x", "war_w2v+=1", "war_w2v+beta=1+beta=../x", "asym-", "asym-100", "smok"]
TREES = [[], {}, [[]], {"": {}}, {"value": 1, "source": "paper"}, {1: 2}, [1, "a", None], {"for": None}]
hostile = st.sampled_from([*NUMBERS, *WORDS, *IDS, *TREES, "\n", ".yaml", "x" * 5000])
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

    for module in (warlab.config.study, warlab.config.numbers):
        monkeypatch.setattr(module, "read_yaml", read)
    config = tree if file.name == "config.yaml" else {"scale": file.stem if file.parent.name == "scales" else "smoke"}
    return load_study(config, ROOT)


def assert_one_sentence(error: WarlabError) -> None:
    text = str(error)
    assert len(text) < 2000 and text.endswith((".", "?")), text


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
            for cell in study.plan.runs[:: max(1, len(study.plan.runs) // 5)]:  # what a rule of the workflow would ask
                json.dumps(study.settings.run(cell).to_dict(), allow_nan=False)
                study.settings.data_spec(cell.dataset), study.settings.cost_key(cell), study.plan.needed_run(cell)
            assert [study.plan.layout(name) for name in study.plan.tables] and study.labels
        except WarlabError as error:
            assert_one_sentence(error)
        except Exception as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ({"training": {"fashion_mnist": {"epochs": 0}}}, "epochs is 0; it must be greater than or equal to 1."),
        ({"training": {"fashion_mnist": {"epochs": 3.0}}}, "epochs is 3.0; it must be a valid integer."),
        ({"training": {"fashion_mnist": {"lr": math.nan}}}, "lr is nan; it must be a finite number."),
        ({"training": {"fashion_mnist": {"optimiser": "lion"}}}, "optimiser is 'lion'; it must be 'adam' or 'sgd'."),
        ({"methods": {"war": {"lam": 0}}}, "methods.war.lam is 0; it must be greater than or equal to 0.000001."),
        ({"methods": {"war_w2v": {"beta": "ten"}}}, "methods.war.beta is 'ten'; it must be a valid number."),
        (
            {"methods": {"coteaching": {"forget": "much"}}},
            "it must be 'nominal', 'realised', 'halved' or 'estimated', or be a valid number.",
        ),
        ({"nets": {"cnn9": {"dropout": 1}}}, "nets.cnn9.dropout is 1; it must be less than 1."),
        ({"methods": {"ar": {"betta": 1}}}, "methods.ar has no 'betta'; did you mean 'beta'?"),
        ({"methods": {"arr": {"beta": 1}}}, "methods.arr does not exist"),
        ({"costs": {"random": {"variant": "x"}}}, "costs.random.variant is 'x'; it must be 'raw' or 'abs_sym'."),
        ({"training": {"cifar10@asym-04": {"lr": 0.1}}}, "'asym-04' is neither a noise nor a method"),
        ({"training": {"cifar10@war_w2w": {"lr": 0.1}}}, "neither a noise nor a method; did you mean 'war_w2v'?"),
        ({"training": {"cifar10@": {"lr": 0.1}}}, "'' is neither a noise nor a method"),
        ({"training": {"cifar11@openset": {"lr": 0.1}}}, "training.cifar11@openset does not exist; did you mean"),
        (
            {"training": {"cifar10@openset": {"epoch": 7}}},
            "training.cifar10@openset has no 'epoch'; did you mean 'epochs'",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_key_and_what_is_allowed(overrides: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WarlabError) as caught:
        study_of("smoke", overrides=overrides)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("noises: [clean, asym-40]", "noises: [asym-140]", "There is no noise 'asym-140'"),
        ("methods: [ar, war_w2v, war_embed]", "methods: [arr]", "There is no method 'arr'; did you mean 'ar'?"),
        ("fashion_mnist: { source", "fashion_mnits: { source", "fashion_mnits"),
        ("epochs: 4", "epoch: 4", "scale smoke: training.fashion_mnist has no 'epoch'; did you mean 'epochs'?"),
        ("add_methods: [tv]", "add_methods: [tv+gama=2]", "'tv+gama=2' changes 'gama', which is not a setting"),
    ],
)
def test_a_mistake_in_a_scale_is_one_sentence(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(WarlabError, match=re.escape(sentence)):
        study_of(changed_scale("smoke", old, new, tmp_path))


def test_every_number_of_ours_has_a_type() -> None:
    numbers = study_of("smoke").numbers
    assert [entry for entry in numbers.each() if numbers.kind(*entry[:3]) is Any] == []


# ---- what is accepted arrives


def settings_of(study: Any) -> list[tuple[str, str, str, str]]:
    """(section, name, key, file whose type it has) of everything that a scale or `overrides` may set."""
    numbers = study.numbers
    each = [entry for entry in numbers.each() if entry[0] != "noise"]
    plain = [(section, name, key, name) for section, name, key, one in each if one.source]
    plain += [
        (*entry[:1], place, entry[2], entry[1]) for entry in each if entry[0] == "training" for place in entry[3].places
    ]
    variants = [
        ("methods", name, key, variant["method"])
        for name, variant in numbers.variants.items()
        for key in numbers.methods[variant["method"]]
    ]
    return plain + variants


CANDIDATES = [7, 3, 2, 1, 0.25, 0.5, 0.001, 64, True, False, [4, 9], [0.1, 0.2, 0.3], "x", None]


def accepted(study: Any, section: str, file: str, key: str) -> list[Any]:
    """The candidates, and the words, that the type of a setting allows."""
    kind = study.numbers.kind(section, file, key)
    return [value for value in [*words_of(kind), *CANDIDATES] if is_valid(kind, value)]


def words_of(kind: Any) -> list[Any]:
    """The words of a Literal, alone or in a union."""
    parts = get_args(kind) if get_origin(kind) is Union else (kind,)
    return [word for part in parts if get_origin(part) is Literal for word in get_args(part)]


def is_valid(kind: Any, value: Any) -> bool:
    try:
        check_value("", kind, value, "")
    except WarlabError:
        return False
    return True


def resolved(study: Any, section: str, name: str, key: str) -> Any:
    """What a run to which the setting applies has in its place; the paper's scale, so that no schedule shrinks."""
    dataset, _, special = name.partition("@") if section == "training" else ("cifar10", "", "")
    if section == "methods":
        return study.settings.run(RunId(dataset, "asym-40", "cnn9", name, 0)).method.settings[key]
    if section == "nets":
        return study.settings.run(RunId(dataset, "asym-40", name, "cce", 0)).net.settings[key]
    if section == "costs":
        return study.settings.cost(name, dataset)[key]
    is_method = special in warlab.methods.names()
    noise_id = "clean" if is_method or not special else "openset_svhn-40" if special == "openset" else special
    run = study.settings.run(RunId(dataset, noise_id, "cnn9", special if is_method else "cce", 0))
    return run.to_dict()["training"][key]


PAPER = study_of("paper")


@pytest.mark.parametrize("layer", ["scale", "overrides"])
@pytest.mark.parametrize("section", ["training", "nets", "methods", "costs"])
def test_every_setting_of_every_name_arrives(section: str, layer: str) -> None:
    """Each key of each method, variant, network, cost and schedule, from a scale and from `overrides`."""
    missed = []
    for _, name, key, file in (entry for entry in settings_of(PAPER) if entry[0] == section):
        usual = resolved(PAPER, section, name, key)
        other = [value for value in accepted(PAPER, section, file, key) if value != usual]
        assert other, f"no candidate for {section}.{name}.{key}"
        given_ = {section: {name: {key: other[0]}}}
        study = dataclasses.replace(PAPER, **changed(layer, given_))
        for _, where, content in study.settings.typed_layers():
            validate.check_layer(study.numbers, content, where)
        if resolved(study, section, name, key) != pytest.approx(other[0]):
            missed.append(f"{section}.{name}.{key}")
    assert not missed


def changed(layer: str, settings_: dict[str, Any]) -> dict[str, Any]:
    return (
        {"scale": PAPER.scale | settings_} if layer == "scale" else {"config": PAPER.config | {"overrides": settings_}}
    )


@many
@given(st.permutations(range(5)), st.sets(st.integers(0, 4), min_size=1), st.sampled_from(["war_w2v", "war_01", "ar"]))
def test_the_more_special_and_later_setting_wins(order: list[int], there: set[int], variant: str) -> None:
    """The files < the scale (the method, then its variant) < overrides (the same) < the id."""
    file = PAPER.numbers.method_file(variant)
    trees: list[dict[str, Any]] = [{}, {}]
    for place in order:  # in any order of writing
        if place in there and place < 4 and (place % 2 == 0 or variant != file):
            owner = variant if place % 2 else file
            trees[place // 2].setdefault("methods", {}).setdefault(owner, {})["beta"] = place + 20
    study = dataclasses.replace(PAPER, scale=PAPER.scale | trees[0], config=PAPER.config | {"overrides": trees[1]})
    method = f"{variant}+beta=24" if 4 in there else variant
    usual = PAPER.settings.method(variant, "cifar10", "asym-40")["beta"]
    layers = [place for place in there if place in (0, 2, 4) or variant != file]
    assert study.settings.method(method, "cifar10", "asym-40")["beta"] == max(
        (place + 20 for place in layers), default=usual
    )
    count("configuration mutated")


AT, HALF = "is neither a noise nor a kind of noise", {"value": 0.5, "source": "our choice"}


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        ("methods/sl/a/cifar1OO", HALF, "methods.sl.a at cifar1OO: 'cifar1OO' is not a dataset; did you mean 'cifar10"),
        ("methods/sl/a/cifar100@asim-40", HALF, f"'asim-40' {AT}; did you mean 'asym"),
        ("methods/sl/a/cifar100@sl", HALF, f"'sl' {AT}"),  # no run would read it
        ("costs/w2v/vectors/for/cifar10@asym-40", HALF, "depends on the dataset only; write cifar10 without"),
        ("costs/w2v", {"vectors": HALF}, "costs.w2v lacks the key 'kind'; add it."),
        ("training/fashion_mnist", {"as": "cifar1"}, "copies 'cifar1', which is not another schedule; did you"),
        ("training/cifar10", {"as": "arrays"}, "copies 'cifar10', which is not another schedule"),
        ("training/cifr10@asym", {"lr": HALF}, "is for 'cifr10', which has no schedule; did you mean 'cifar10'?"),
        ("variants/cce", {"method": "gce", "label": "CCE", "settings": {}}, "variant cce has the name of a method"),
        ("training/svhn", {"lr": HALF}, "training.svhn lacks the key 'epochs'; add it."),
        ("training/svhn", {"as": "cifar10", "epoch": HALF}, "training.svhn has no 'epoch'; did you mean 'epochs'?"),
    ],
)
def test_a_mistake_in_the_hyperparameters_is_one_sentence(
    place: str, value: Any, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No run would find a value at a misspelt place, and the general one would count without a word."""
    tree = copy.deepcopy(kept(CONFIG / "hyperparameters.yaml"))
    *folders, last = place.split("/")
    parent = tree
    for key in folders:
        parent = parent[key]
    parent[last] = value
    with pytest.raises(WarlabError) as caught:
        load_with(CONFIG / "hyperparameters.yaml", tree, monkeypatch)
    assert sentence in str(caught.value)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("variants:", "variants must hold names with their settings"),
        ("costs: [mine]", "costs must hold names with their settings"),
        ("network: {own: {}}", "has an unknown section 'network'"),
        ("nets: {own: {width: {svhn: {value: 2.0, source: our choice}}}}", ""),
    ],
)
def test_plug_ins_may_add_to_every_section(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLUGINS, str(tmp_path))
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "own.py").write_text("class Net: ...\nclass Config:\n    width: float = 1.0\n")
    (tmp_path / "hyperparameters.yaml").write_text(text)
    if not sentence:
        assert read_numbers(ROOT).nets["own"]["width"].places["svhn"].value == 2
        return
    with pytest.raises(WarlabError, match=sentence) as caught:
        read_numbers(ROOT)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize("special", ["asym", "asym-40", "war", "war_w2v"])
def test_a_schedule_of_a_noise_a_method_or_a_variant_arrives(special: str) -> None:
    study = load_study({"scale": "paper", "overrides": {"training": {f"cifar10@{special}": {"lr": 0.5}}}}, ROOT)
    rates = {
        (noise, method): study.settings.training("cifar10", noise, method)["lr"]
        for noise in ("clean", "asym-40")
        for method in ("cce", "war_w2v", "war_01")
    }
    expected = {
        "asym": {key for key in rates if key[0] == "asym-40"},
        "asym-40": {key for key in rates if key[0] == "asym-40"},
        "war": {key for key in rates if key[1] != "cce"},
        "war_w2v": {key for key in rates if key[1] == "war_w2v"},
    }[special]
    assert {key for key, rate in rates.items() if rate == 0.5} == expected
