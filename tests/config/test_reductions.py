"""What a study uses, and what of it differs from the paper, is computed from its plan, not written by hand."""

from dataclasses import replace

import pytest

from tests.conftest import ROOT
from tests.helpers.studies import study_of
from warlab.config.reductions import reductions, used_settings
from warlab.config.study import load_study
from warlab.ids import base_method


def rows(scale: str, **config: object) -> dict[str, tuple[str, str]]:
    study = load_study({"scale": scale, **config}, ROOT)
    return {row["what"]: (row["paper"], row["here"]) for row in reductions(study)}


def test_the_papers_scale_reduces_nothing() -> None:
    assert rows("paper") == {}


LAPTOP = """
Fashion-MNIST: train images | 60000 | 10000
Fashion-MNIST: test images | 10000 | 2000
Fashion-MNIST: size | 28×28 | 14×14
Fashion-MNIST: epochs | 60 | 24
Fashion-MNIST: batch size | 256 | 64
Fashion-MNIST: drops | 20, 40 | 8, 16
Fashion-MNIST, cnn9: width | 1 | 0.25
Fashion-MNIST, cnn9: dropout | 0.25 | 0.125
Fashion-MNIST, cnn9: head dropout | 0.5 | 0
Fashion-MNIST, WAR_w2v: warmup | 15 | 6
Fashion-MNIST, JoCoR: lam | 0.9 | 0.1
seeds of “All methods on the benchmarks” | 3 | 1
"""  # what, the paper's value, the laptop's


def test_every_value_of_the_laptop_scale_that_differs() -> None:
    expected = {what: (paper, here) for what, paper, here in (line.split(" | ") for line in LAPTOP.split("\n")[1:-1])}
    assert expected.items() <= rows("laptop").items()


def test_a_changed_dropout_appears_and_so_does_an_override() -> None:
    study = study_of("laptop")
    changed = replace(study, scale={**study.scale, "nets": {"cnn9": {"dropout": 0.3}}})
    found = {row["what"]: row["here"] for row in reductions(changed)}
    assert found["Fashion-MNIST, cnn9: dropout"] == "0.3" and "Fashion-MNIST, cnn9: width" not in found
    assert rows("paper", overrides={"methods": {"war": {"beta": 5}}})["CIFAR-10, WAR_w2v: beta"] == ("10", "5")


def test_data_that_are_not_the_papers_are_named() -> None:
    found = rows("demo")
    assert found["ISPRS Vaihingen: data"] == ("official files", "procedural stand-in")
    assert found["ISPRS Vaihingen: test tiles"] == ("17", "3")


@pytest.mark.parametrize("scale", ["smoke", "demo", "paper"])
def test_the_table_of_hyperparameters_has_what_every_run_uses_and_nothing_else(scale: str) -> None:
    """Also what the user overrides, for one dataset only or for all."""
    changes = {"war@fashion_mnist": {"beta": 3.25}, "gce": {"q": 0.55}, "coteaching": {"forget": "halved"}}
    study = study_of(scale, overrides={"methods": changes, "nets": {"cnn9": {"dropout": 0.11}}})
    listed: dict[tuple[str, str, str], list[tuple[str, object]]] = {}
    for row in used_settings(study):
        listed.setdefault((row["section"], row["of"], row["setting"]), []).append((row["runs"], row["value"]))
    used = set()
    for run in study.plan.runs:
        settings = study.settings.run(run)
        parts = {
            ("methods", base_method(run.method)): settings.method.settings,
            ("nets", run.net): settings.net.settings,
            ("training", run.dataset): settings.training,
        }
        for (section, owner), values in parts.items():
            for key, value in values.items():
                rows = listed[section, owner, key]
                ids = {"/".join(map(str, part)) for part in (run.cell[:1], run.cell[:2], run.cell[::3], run.cell)}
                (found,) = [one for runs, one in rows if not runs or ids & set(runs.split(", "))]
                assert found == value, (run, key)
                used.add((section, owner, key))
    assert {one for one in listed if one[0] not in ("costs", "noise")} == used
