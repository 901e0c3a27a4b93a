"""Every job declares the files that it reads, and the identity of a run depends on what matters in them."""

import ast
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch

import warlab.data
from tests.conftest import ROOT, logged
from tests.helpers.rules import Rules
from tests.helpers.runs import assert_same, metrics, resolved, run_training, write_files
from tests.helpers.studies import study_of
from warlab.common.files import read_json, write_json
from warlab.config.models import Layer, UserConfig
from warlab.config.study import Study, load_study
from warlab.data.base import Classes
from warlab.data.fetch import fetch
from warlab.engine.build import RunFiles
from warlab.errors import Interrupted, WarlabError
from warlab.ids import RunId
from warlab.pipeline.digests import ROOT as PACKAGE
from warlab.pipeline.digests import asset_patterns
from warlab.pipeline.jobs import load_jobs
from warlab.pipeline.script import files_by_role
from warlab.pipeline.sources import Source, datasets, gated, list_sources

WAR = RunId("fashion_mnist", "asym-40", "cnn9", "war_w2v", 0)


def inputs_of(scale: str = "smoke", **config: Any) -> Callable[..., dict[str, str]]:
    """Return a function of a rule and wildcards: the files that a job of the study declares."""
    rules = Rules(scale, data_root="raw", results_root="results", **config)
    return lambda rule, **wildcards: files_by_role(rules.inputs(rule, **wildcards))


# ---- what jobs declare


def test_arrays_come_with_their_descriptions() -> None:
    inputs = inputs_of()
    data = {"data": "results/smoke/data/fashion_mnist.npz", "data_json": "results/smoke/data/fashion_mnist.json"}
    noise_json = {"noise_json": "results/smoke/noise/fashion_mnist/asym-40/seed0.json"}
    assert inputs("cost", dataset="fashion_mnist", cost="w2v") == data
    assert (data | noise_json).items() <= inputs("train", **vars(WAR)).items()
    assert (data | noise_json).items() <= inputs("cost", dataset="fashion_mnist", cost="embed@asym-40@seed0").items()
    noise = inputs("corrupt", dataset="cifar10", noise="openset_svhn-40", seed=0)
    assert noise["images_json"] == "results/smoke/data/svhn.json"
    assert noise["data_json"] == "results/smoke/data/cifar10.json"


def test_features_of_both_datasets_stand_for_open_set_images() -> None:
    found = inputs_of("paper")("cost", dataset="cifar10", cost="embed@openset_svhn-40@seed1")
    assert found["features"] == "results/paper/features/cifar10/resnet18-224.npz" and "images" not in found
    assert found["features_json"] == "results/paper/features/cifar10/resnet18-224.json"
    assert found["other_features"] == "results/paper/features/svhn/resnet18-224.npz"


def test_the_users_files_are_declared(tmp_path: Path) -> None:
    own = {name: str(tmp_path / name) for name in ("cost.csv", "words.bin", "resnet.pth")}
    for path in own.values():
        Path(path).write_text("")
    costs = {"file": {"path": own["cost.csv"]}, "w2v": {"vectors": own["words.bin"]}}
    inputs = inputs_of("paper", overrides={"costs": costs, "nets": {"resnet50": {"weights": own["resnet.pth"]}}})
    assert inputs("cost", dataset="cifar10", cost="file")["user_files"] == own["cost.csv"]
    assert inputs("cost", dataset="cifar10", cost="w2v")["user_files"] == own["words.bin"]
    run = vars(RunId("clothing1m", "real", "resnet50", "cce", 0))
    assert inputs("train", **run)["initial"] == own["resnet.pth"]
    assert inputs_of("paper")("train", **run)["initial"] == "raw/resnet50/real/receipt.json"
    assert "initial" not in inputs("train", **vars(replace(WAR, method="cce")))


@pytest.mark.parametrize(
    ("overrides", "setting"),
    [
        ({"costs": {"w2v": {"vectors": "none.bin"}}}, "costs.w2v.vectors"),
        ({"costs": {"file": {"path": "none.csv"}}, "methods": {"war_w2v": {"cost": "file"}}}, "costs.file.path"),
        ({"nets": {"resnet50": {"weights": "none.pth"}}}, "nets.resnet50.weights"),
    ],
)
def test_a_file_of_the_users_that_is_not_there_is_one_sentence(overrides: dict, setting: str) -> None:
    config = {"scale": "paper", "overrides": overrides}
    with pytest.raises(WarlabError, match=rf"^{setting} names none\.\w+, which does not exist; correct the path\.$"):
        load_study(config, ROOT)
    load_study(config | {"runs_from": "docs/evidence/laptop"}, ROOT)  # finished runs need none of them


# ---- what a scale needs from outside


def test_the_paper_needs_nine_sources() -> None:
    study = study_of("paper")
    names = ["cifar10", "cifar100", "clothing1m", "fashion_mnist", "imagenet32", "resnet18", "resnet50", "svhn"]
    assert list_sources(study) == [Source(name, "real") for name in [*names, "vaihingen"]]
    assert datasets(study) == sorted({*names, "vaihingen"} - {"resnet18", "resnet50"})
    assert [entry.name for entry in list_sources(study) if gated(entry.name)] == [
        "clothing1m",
        "imagenet32",
        "vaihingen",
    ]


def test_stand_ins_go_with_stand_ins_and_human_labels_are_a_source(tmp_path: Path) -> None:
    scale = (ROOT / "config" / "scales" / "smoke.yaml").read_text()
    scale = scale.replace("nets: [cnn6], methods: [jocor, war_w2v]", "methods: [jocor]")
    scale = scale.replace("noises: [pairflip-40]", "noises: [human_worse]")
    (tmp_path / "other.yaml").write_text(scale)
    found = {entry.name: entry.source for entry in list_sources(study_of(str(tmp_path / "other.yaml")))}
    assert found["cifar_n"] == found["resnet50"] == "stand_in" and set(found.values()) == {"stand_in"}


# ---- assets


def test_every_file_of_the_package_counts_in_a_digest() -> None:
    """Templates and word vectors by ASSETS, embedded data by their own checksums; texts for people decide nothing."""
    sources = [*PACKAGE.rglob("*.py"), *(ROOT / "workflow" / "scripts").glob("*.py")]
    patterns = {pattern for source in sources for pattern in asset_patterns(ast.parse(source.read_text()))}
    counted = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    embedded = {PACKAGE / "assets" / name / file for name in warlab.data.names() for file in _embedded(name)}
    others = {p for p in PACKAGE.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc", ".md", ".typed")}
    assert {path for path in others - counted - embedded if path.name != "LICENSE"} == set()
    assert all(list(PACKAGE.glob(pattern)) for pattern in patterns)


def _embedded(name: str) -> list[str]:
    return [source.file for source in warlab.data.get(name).embedded]


def test_the_rate_that_owners_give_is_a_parameter_of_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of("smoke")
    assert study.settings.noise("real", "clothing1m") == {"own_noise": 0.3846}
    other = replace(warlab.data.get("clothing1m"), classes=Classes(own_noise=0.2))
    monkeypatch.setattr("warlab.data.sets.clothing1m.DATASET", other)
    assert study_of("smoke").settings.noise("real", "clothing1m") == {"own_noise": 0.2}
    assert study.settings.noise("asym-40", "fashion_mnist") == {}


# ---- the identity of a run


def edited(path: Path, **changes: Any) -> None:
    write_json(path, read_json(path) | changes)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (lambda folder: edited(folder / "data.json", mean=[0.4]), {"data_json"}),
        (lambda folder: edited(folder / "data.json", std=[0.4]), {"data_json"}),
        (lambda folder: edited(folder / "data.json", class_names=["a", "b", "c", "d"]), {"data_json"}),
        (lambda folder: edited(folder / "data.json", shards_sha256="0"), {"data_json"}),
        (lambda folder: edited(folder / "data.json", crop=28), {"data_json"}),
        (lambda folder: edited(folder / "noise.json", rate=0.3), {"noise_json"}),
        (lambda folder: edited(folder / "noise.json", kind="asym"), {"noise_json"}),
        (lambda folder: (folder / "initial.pth").write_bytes(b"other"), {"initial"}),
        # what decides no number: places, sentences, the words of costs
        (lambda folder: edited(folder / "data.json", shards="/elsewhere/resized", source="moved", words=["x"]), set()),
        (lambda folder: edited(folder / "data.json", train_files=["cat/renamed.png"]), set()),
        (lambda folder: edited(folder / "noise.json", file="renamed.csv"), set()),
    ],
)
def test_the_identity_of_a_run_has_what_decides_its_result(
    change: Callable[[Path], object], changed: set[str], tmp_path: Path
) -> None:
    (tmp_path / "initial.pth").write_bytes(b"weights")
    files = replace(write_files(tmp_path), initial=tmp_path / "initial.pth")
    before = files.checksums()
    change(tmp_path)
    after = files.checksums()
    assert {name for name in before if before[name] != after[name]} == changed


def stopped(run: dict, files: RunFiles, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train until the seventh batch."""
    request = MagicMock(received="SIGTERM")
    request.__enter__.return_value = request
    request.__bool__.side_effect = [False] * 6 + [True] * 9
    with monkeypatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr("warlab.engine.run.StopRequest", lambda: request)
        run_training(run, files, out)


def test_a_stopped_run_whose_mean_changed_starts_from_the_beginning_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, run = write_files(tmp_path / "files"), resolved("cce")
    stopped(run, files, tmp_path / "run", monkeypatch)
    edited(files.data.with_suffix(".json"), mean=[0.1])
    said = logged()
    run_training(run, files, tmp_path / "run")
    assert said[0] == (
        "starting from the beginning instead of the saved state: description of the data (mean, deviation, classes or "
        "shards) changed"
    )
    assert not any("resumed" in line for line in said) and len(metrics(tmp_path / "run")) == 4
    run_training(run, files, tmp_path / "whole")
    assert_same(tmp_path / "run", tmp_path / "whole")


def test_a_stopped_run_whose_data_were_prepared_again_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, run = write_files(tmp_path / "files"), resolved("cce")
    said = logged()
    stopped(run, files, tmp_path / "run", monkeypatch)
    write_files(tmp_path / "files")
    edited(files.data.with_suffix(".json"), source="the same, from another folder")
    run_training(run, files, tmp_path / "run")
    assert any("resumed" in line for line in said) and not any("beginning" in line for line in said)


# ---- weights of ResNet-50


def test_the_weights_behind_a_receipt_enter_the_network_and_the_identity(tmp_path: Path) -> None:
    receipt = tmp_path / "resnet50" / "stand_in" / "receipt.json"
    write_json(receipt, fetch(warlab.data.resource("resnet50"), receipt.parent, "stand_in"))
    named = {"data": "d.npz", "noise": "n.npz", "initial": str(receipt)}
    assert RunFiles.select(named).initial == receipt.parent / "resnet50-0676ba61.pth"
    from warlab import nets

    net = nets.build("resnet50", 3, 14, weights=str(RunFiles.select(named).initial))
    saved = torch.load(receipt.parent / "resnet50-0676ba61.pth", weights_only=True)
    assert torch.equal(net.body.conv1.weight, saved["conv1.weight"])
    write_json(receipt, read_json(receipt) | {"source": "real"})  # drawn weights that call themselves real
    with pytest.raises(WarlabError, match="are not the real files of ResNet-50 with ImageNet weights"):
        RunFiles.select(named)


def test_what_is_timed_or_drawn_needs_no_weights() -> None:
    study: Study = study_of("paper")
    assert study.settings.net("resnet50", "clothing1m") == {"weights": "imagenet"}
    assert study.settings.untrained_net("resnet50", "clothing1m") == {}
    assert "weights" not in json.dumps([study.plan.timing(cell.dataset, cell.net)["net"] for cell in study.plan.timed])


# ---- keys of the configuration that do not concern a study

PLACES = {"scale", "data_root", "results_root", "runs_from", "plugins"}  # each names another study or other files
UNCONCERNED = {
    "local_data": {"cifar100": "/nowhere", "fashion_mnist": "/nowhere"},  # the demo has its own part of the latter
    "noise_files": {"file_mine": "mine.csv"},
    "verify": 7,
    "log": "tensorboard",
    "container": "warlab.sif",
    "device": {"tf32": False, "channels_last": False, "compile": False},
    "overrides": {
        "training": {"cifar100": {"lr": 0.5}, "fashion_mnist@openset": {"lr": 0.5}, "fashion_mnist@gce": {"lr": 0.5}},
        "nets": {"resnet50": {"weights": "none"}, "cnn9@cifar10": {"width": 2.0}},
        "methods": {"gce": {"q": 0.5}, "war_01@cifar10": {"beta": 1.0}},
        "costs": {"random": {"seed": 5}, "w2v@cifar10": {"binary": True}},
        "noise": {},
    },
}


def answers(**config: Any) -> Any:
    """Everything that rules ask about data, noise, costs and trainings of the demo."""
    jobs = load_jobs({"scale": "demo", **config}, str(ROOT / "rules"), print)
    found: dict[str, Any] = {}
    for run in jobs.flow.study.plan.runs:
        names = SimpleNamespace(**vars(run), cost=jobs.flow.study.settings.cost_key(run) or "w2v")
        of_run = (jobs.runs.settings, jobs.runs.modules, jobs.runs.sources, jobs.runs.cost_use, jobs.runs.needed_run)
        of_data = (jobs.data.source, jobs.data.settings, jobs.data.noise_settings, jobs.data.label_file)
        of_cost = (jobs.data.cost_settings, jobs.data.features_of_cost)
        found[str(run)] = [ask(names) for ask in (*of_run, *of_data, *of_cost)]
    tables = [jobs.tables.spec(SimpleNamespace(experiment=name)) for name in jobs.flow.study.plan.tables]
    return found, tables, jobs.page.spec()


@pytest.mark.parametrize("key", UNCONCERNED)
def test_a_key_that_does_not_concern_a_study_changes_no_answer(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So Snakemake has nothing to do, which tests/workflow/test_edits.py sees for some of them."""
    monkeypatch.setattr("warlab.config.study.use_log", lambda kind: None)  # its package is not installed
    assert PLACES | UNCONCERNED.keys() == UserConfig.__annotations__.keys(), "a new key belongs to one of the two"
    assert UNCONCERNED["overrides"].keys() == Layer.__annotations__.keys()
    assert answers(**{key: UNCONCERNED[key]}) == answers()
