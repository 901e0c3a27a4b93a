"""The five layers of a setting: default, place, scale, overrides, id. `warlab explain` says which one decides."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.helpers.studies import changed_scale, study_of
from warlab.cli.main import main
from warlab.cli.why import explain
from warlab.config.study import Study
from warlab.config.validate import check_method
from warlab.errors import WarlabError
from warlab.ids import RunId

FASHION = "fashion_mnist/asym-40/cnn9/{}/seed0"


def study(scale: str = "demo", **overrides: Any) -> Study:
    return study_of(scale, overrides=overrides)


def value_of(own: Study, method: str, key: str) -> Any:
    return own.settings.run(RunId.parse(FASHION.format(method))).method.settings[key]


@pytest.mark.parametrize(("scale", "typed"), [("smoke", 15), ("demo", 15), ("laptop", 3), ("paper", 3)])
def test_a_number_of_epochs_that_a_person_types_is_never_rescaled(scale: str, typed: int, tmp_path: Path) -> None:
    assert value_of(study(scale), f"war_w2v+warmup={typed}", "warmup") == typed
    for name in ("war", "war_w2v"):
        assert value_of(study(scale, methods={name: {"warmup": typed}}), "war_w2v", "warmup") == typed
    drops = study(scale, training={"fashion_mnist": {"drops": [typed]}}).settings.training("fashion_mnist")["drops"]
    assert drops == [typed]
    own = changed_scale("laptop", "\nmethods:\n", f"\nmethods:\n  war: {{ warmup: {typed} }}\n", tmp_path)
    assert value_of(study(own), "war_w2v", "warmup") == typed


def test_the_files_values_follow_the_number_of_epochs_that_a_person_types() -> None:
    own = study("paper", training={"fashion_mnist": {"epochs": 40}})
    assert value_of(own, "war_w2v", "warmup") == 10
    assert own.settings.training("fashion_mnist", "asym-40")["drops"] == [13, 27]


@pytest.mark.parametrize("owner", ["war", "war@fashion_mnist"])
def test_an_override_that_cannot_reach_a_variant_says_what_to_write(owner: str) -> None:
    with pytest.raises(WarlabError) as caught:
        study(methods={owner: {"cost": "embed", "beta": 3}})
    assert str(caught.value) == (
        f"overrides: methods.{owner}.cost does not reach war_w2v, which is war with cost=w2v; "
        "write it for methods.war_w2v, or run war+cost=embed."
    )
    own = study(methods={"war_w2v@fashion_mnist": {"cost": "embed"}})
    assert value_of(own, "war_w2v", "cost") == "embed"
    assert study("smoke", methods={"gce": {"start": 1}})  # gce_truncated fixes another key


def test_an_override_of_the_schedule_of_a_variant_that_fixes_it_is_refused() -> None:
    says = r"@cce_early.validation does not reach .* run cce_early\+training.validation=0.2\."
    with pytest.raises(WarlabError, match=says):
        study("sixteenth", training={"fashion_mnist@cce_early": {"validation": 0.2}})
    own = study("sixteenth", training={"fashion_mnist@cce_early": {"lr": 0.2}})
    training = own.settings.run(RunId.parse(FASHION.format("cce_early+training.validation=0.3"))).training
    assert (training["validation"], training["lr"]) == (0.3, 0.2)


def test_a_key_given_twice_in_an_id_is_refused(tmp_path: Path) -> None:
    own = changed_scale("demo", "pencil, war_w2v]", "war_w2v+beta=5+beta=10]", tmp_path)
    with pytest.raises(WarlabError, match=r"'war_w2v\+beta=5\+beta=10' changes 'beta' twice; keep one of the two\."):
        study(own)


def test_an_id_may_change_the_schedule_and_the_network_of_its_run() -> None:
    run = study("sixteenth").settings.run
    own = run(RunId.parse(FASHION.format("war_w2v+training.epochs=30+net.dropout=0.3+beta=2")))
    assert (own.net.settings["dropout"], own.net.settings["head_dropout"], own.method.settings["beta"]) == (0.3, 0, 2)
    assert own.training["epochs"] == 30 and own.training["drops"] == [10, 20] and own.method.settings["warmup"] == 8
    dropout = run(RunId.parse(FASHION.format("cce_dropout")))
    assert dropout.net.settings == {"width": 0.25, "dropout": 0.25, "head_dropout": 0.5} and not dropout.method.settings
    early = study("sixteenth", training={"fashion_mnist": {"validation": 0.0}}).settings.run
    training = early(RunId.parse(FASHION.format("cce_early"))).training
    assert (training["validation"], training["keep"]) == (0.1, "best_validation")


@pytest.mark.parametrize("where", ["fashion_mnist", "fashion_mnist@gjs", "id"])
def test_a_person_may_augment_a_training_and_others_have_no_such_setting(where: str) -> None:
    typed = {} if where == "id" else {"training": {where: {"augmentation": "two_views"}}}
    own, change = study("field", **typed), "+training.augmentation=two_views" * (where == "id")
    assert own.settings.run(RunId.parse(FASHION.format(f"gjs{change}"))).training["augmentation"] == "two_views"
    cce = own.settings.run(RunId.parse(FASHION.format("cce"))).training
    assert cce.get("augmentation") == ("two_views" if where == "fashion_mnist" else None)
    check_method(own.settings.numbers, f"gjs{change}")


def test_tables_and_tiles_are_not_augmented() -> None:
    for scale, dataset in (("sentiment", "sentiment"), ("demo", "vaihingen")):
        with pytest.raises(WarlabError, match=f"{dataset} has no images to augment"):
            study(scale, training={dataset: {"augmentation": "shift_flip"}})


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("cce+training.epoch=3", "training has no 'epoch'; did you mean 'epochs'"),
        ("cce+training.lr=-1", "training.lr is -1; it must be greater than 0"),
        ("cce+net.weights=none", "net has no 'weights'"),
        ("cce+nets.dropout=0.1", "changes 'nets.dropout', which is not a setting of the method"),
        ("war_w2v+epsilon=0.1+relative_epsilon=0.01", "changes epsilon and relative_epsilon; keep one of the two"),
        (
            "cce+training.patch=8",
            r"cce\+training.patch=8 changes patch, which the schedule of fashion_mnist does not have",
        ),
        ("cce+training.augmentation=mirror", "must be 'none', 'shift_flip' or 'two_views'"),
        ("cce+training.keep=best_validation", "keep is best_validation, but nothing is held out; set `validation`"),
    ],
)
def test_a_change_of_what_a_run_does_not_have_is_refused(method: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(WarlabError, match=says):
        study(changed_scale("demo", "pencil, war_w2v]", f"{method}]", tmp_path))


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("war_w2v", {"epsilon": 0.02, "relative_epsilon": 0.1}),
        ("war_w2v+epsilon=0.02", {"relative_epsilon": 0.1}),
        ("war_w2v+relative_epsilon=0.1", {"epsilon": 0.02}),
    ],
)
def test_an_absolute_and_a_relative_epsilon_from_any_layers_are_refused(method: str, settings: dict, tmp_path) -> None:
    own = changed_scale("demo", "pencil, war_w2v]", f"{method}]", tmp_path)
    with pytest.raises(WarlabError, match=r"has an epsilon by .* and a relative_epsilon by .*; keep one of the two"):
        study(own, methods={"war": settings})


@pytest.mark.parametrize(("transition", "needed"), [("validation", "cce_early"), ("last", "cce")])
def test_a_setting_may_decide_which_run_a_method_needs(transition: str, needed: str) -> None:
    plan = study("sixteenth", methods={"backward": {"transition": transition}}).plan
    other = plan.needed_run(RunId.parse(FASHION.format("backward")))
    assert other == RunId.parse(FASHION.format(needed)) and other in plan.runs


# ---- explain

METHODS, HERE = "src/warlab/methods/war.py", "config/hyperparameters.yaml"


@pytest.mark.parametrize(
    ("run", "setting", "row"),
    [
        (FASHION.format("war_w2v"), "epsilon", f"methods.epsilon 0.005 default {METHODS}: paper"),
        (
            FASHION.format("war_w2v"),
            "warmup",
            f"methods.warmup 10 default {METHODS}: paper (scaled from 15 epochs of 60)",
        ),
        (FASHION.format("war_w2v"), "cost", f"methods.cost w2v default {HERE}: variants.war_w2v"),
        (FASHION.format("war_w2v"), "beta", "methods.beta 3 overrides overrides: methods.war"),
        (FASHION.format("war_w2v+beta=5"), "methods.beta", "methods.beta 5 id war_w2v+beta=5"),
        (FASHION.format("war_w2v"), "epochs", "training.epochs 40 scale scale demo: training.fashion_mnist"),
        (
            FASHION.format("pencil"),
            "lam",
            f"methods.lam 3120.0 place {HERE}: methods.pencil.lam at fashion_mnist, public rerun "
            "(scaled from 2080.0 with 60 epochs)",
        ),
        (
            "cifar10/openset_svhn-40/cnn6/cce/seed0",
            "lr",
            f"training.lr 0.01 place {HERE}: training.cifar10@openset, paper",
        ),
        (FASHION.format("cce+net.dropout=0.3"), "net.dropout", "nets.dropout 0.3 id cce+net.dropout=0.3"),
        (FASHION.format("war_random+cost=random.7"), "seed", "costs.seed 7 id cost random.7"),
    ],
)
def test_explain_names_the_layer_and_the_source(run: str, setting: str, row: str) -> None:
    header, *lines = explain(study(methods={"war": {"beta": 3}}), run, setting).splitlines()
    assert header.split() == ["setting", "value", "layer", "source"]
    assert [" ".join(line.split()) for line in lines] == [row]


def test_explain_shows_what_a_run_is_trained_with() -> None:
    """Every setting of every run of a scale, and nothing else."""
    own = study("smoke")
    for cell in own.plan.runs[::7]:
        run, values = own.settings.run(cell), own.settings.explain(cell)
        shown = {section: {key: one.value for key, one in part.items()} for section, part in values.items()}
        assert (shown["training"], shown["nets"], shown["methods"]) == (
            run.training,
            run.net.settings,
            run.method.settings,
        )
        assert {one.layer for part in values.values() for one in part.values()} <= {
            "default",
            "place",
            "scale",
            "overrides",
            "id",
        }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "'nowhere' is not a run; write dataset/noise/network/method/seed"),
        ([FASHION.format("war_w2w")], "There is no method 'war_w2w'; did you mean 'war_w2v'?"),
        ([FASHION.format("cce").replace("cnn9", "cnn8")], "There is no network 'cnn8'; did you mean 'cnn9'?"),
        ([FASHION.format("war_w2v"), "warmupp"], "The run has no setting 'warmupp'; did you mean 'warmup'?"),
    ],
)
def test_explain_of_what_does_not_exist_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--root", str(ROOT), "explain", *arguments]) == 1
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


def test_explain_accepts_the_folder_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    folder = "results/demo/runs/vaihingen/objects-33/unet/war_w2v/seed0/"
    assert main(["--root", str(ROOT), "explain", folder, "drops"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["training.drops", "[32]", "scale"]
