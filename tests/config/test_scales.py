"""How a scale becomes runs: blocks of cells, shrinking schedules, and runs that other runs need."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.helpers.runs import study
from tests.helpers.studies import study_of
from warlab.config.study import Study, load_study
from warlab.config.validate import validate
from warlab.engine.build import RunFiles
from warlab.errors import WarlabError
from warlab.ids import RunId


def scaled(experiments: dict[str, Any], **changes: Any) -> Study:
    return replace(study(), scale={**study().scale, "experiments": experiments, **changes})


def test_a_scale_may_add_cells_to_a_table() -> None:
    chosen = {
        "datasets": ["fashion_mnist"],
        "noises": ["asym-40"],
        "methods": ["cce", "sl", "war_w2v"],
        "also": [{"datasets": ["fashion_mnist"], "noises": ["clean"], "methods": ["cce"]}],
    }
    own = scaled({"main_benchmark": chosen})
    assert [(c.noise, c.method) for c in own.plan.cells("main_benchmark")] == [
        ("asym-40", "cce"),
        ("asym-40", "sl"),
        ("asym-40", "war_w2v"),
        ("clean", "cce"),
    ]
    layout = own.plan.layout("main_benchmark")
    assert [row[1] for row in layout] == ["clean"] * 3 + ["asym-40"] * 3  # the paper's order
    assert [row[3] for row in layout] == ["cce", "sl", "war_w2v"] * 2
    assert len(own.plan.runs) == 4


@pytest.mark.parametrize(
    ("dataset", "text", "reason"),
    [
        ("cifar10", "0,1\n1,0\n", "has other classes than the data"),
        ("cifar10", "class,a,b\na,0,1\nb,1,0\n", "has other classes than the data"),
        ("image_folder", "0,1\n1\n", "cannot be read as a CSV of numbers"),
        ("image_folder", "class,a,b\na,0,1\n", "is not a square matrix"),
        ("image_folder", "class,a,b\na,0,1\nb,1,0\n", None),
        ("image_folder", "0,1\n1,0\n", None),
        ("image_folder", "0,1\n2,0\n", "fails the check 'symmetry'"),
        ("image_folder", "0,-1\n-1,0\n", "fails the check 'sign'"),
    ],
)
def test_a_wrong_cost_of_the_user_is_found_before_anything_runs(
    dataset: str, text: str, reason: str | None, tmp_path: Path
) -> None:
    """The names of the classes of own images are known only after these are read; their costs are made first."""
    (tmp_path / "cost.csv").write_text(text)
    block = {"datasets": [dataset], "noises": ["sym-40"], "methods": ["cce", "war+cost=file"]}
    costs = {"file": {"path": str(tmp_path / "cost.csv")}}
    own = scaled({"main_benchmark": block}, costs=costs, datasets={dataset: {"source": "real"}})
    with pytest.raises(WarlabError, match=reason) if reason else nullcontext():
        validate(own.plan)


CHOSEN = {"datasets": ["cifar10"], "noises": ["sym-40"], "nets": ["cnn6"], "methods": ["cce"], "add_methods": ["ar"]}


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"noises": ["clean"]}, [("cifar10", "clean", "cnn6", "cce"), ("cifar10", "clean", "cnn6", "ar")]),
        ({"datasets": ["fashion_mnist"], "methods": ["sl"]}, [("fashion_mnist", "sym-40", "cnn6", "sl")]),
        ({"nets": ["cnn9"], "methods": ["sl"]}, [("cifar10", "sym-40", "cnn9", "sl")]),
    ],
)
def test_more_cells_inherit_what_they_do_not_name(block: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    """Every key of the experiment in the scale, such as its network."""
    own = scaled({"main_benchmark": {**CHOSEN, "seeds": 1, "also": [block]}})
    cells = [cell.cell for cell in own.plan.cells("main_benchmark")]
    assert cells == [("cifar10", "sym-40", "cnn6", "cce"), ("cifar10", "sym-40", "cnn6", "ar"), *expected]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("war_w2v+beta=5", "war_w2v+beta=5.0"),
        ("war_w2v+epsilon=0.001", "war_w2v+epsilon=1e-3"),
        ("war_w2v+beta=5+warmup=2", "war_w2v+warmup=2+beta=5"),
    ],
)
def test_two_spellings_of_one_method_are_not_trained_twice(one: str, other: str) -> None:
    validate(scaled({"main_benchmark": {"methods": [one, "war_w2v+beta=6"]}}).plan)
    with pytest.raises(WarlabError) as caught:
        validate(scaled({"main_benchmark": {"methods": [one, other]}}).plan)
    assert str(caught.value) == f"The methods {one} and {other} are the same; write one of them everywhere."


@pytest.mark.parametrize(
    ("scale", "chosen", "expected"),
    [({}, {}, 3), ({"seeds": 1}, {}, 1), ({"seeds": 5}, {}, 5), ({"seeds": 5}, {"seeds": 2}, 2), ({}, {"seeds": 7}, 7)],
)
def test_seeds_of_a_scale_are_trained(scale: dict[str, int], chosen: dict[str, int], expected: int) -> None:
    """The experiment inside a scale wins over the scale, which wins over the 3 of experiments.yaml."""
    block = {"datasets": ["cifar10"], "noises": ["asym-40"], "methods": ["cce"], **chosen}
    own = scaled({"main_benchmark": block, "timing": {}})
    own.scale.pop("seeds", None)
    own.scale.update(scale)
    validate(own.plan)
    assert [cell.seed for cell in own.plan.runs] == list(range(expected))
    assert {cell.seed for cell in own.plan.timed} == {0}, "steps are timed once"


def test_seeds_of_timed_steps_are_refused() -> None:
    with pytest.raises(WarlabError, match="timing has no seeds"):
        validate(scaled({"timing": {"seeds": 2}}).plan)


def test_the_main_benchmark_has_the_columns_of_the_paper() -> None:
    printed = (ROOT / "config" / "published.csv").read_text().splitlines()
    paper = [line.split(",")[4] for line in printed if line.startswith("main_benchmark,fashion_mnist,clean")]
    assert study().experiments["main_benchmark"]["methods"] == paper and len(paper) == 12


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_every_larger_scale_has_all_columns_at_forty_percent(scale: str) -> None:
    own = study_of(scale)
    shown = {cell.method for cell in own.plan.cells("main_benchmark") if cell.noise == "asym-40"}
    assert set(own.experiments["main_benchmark"]["methods"]) <= shown


def test_the_demo_trains_what_shows_the_effect() -> None:
    """CCE, AR, WAR and a baseline of each sort on wrong labels, CCE on clean ones, and three maps."""
    runs = study_of("demo").plan.runs
    noisy = {cell.method for cell in runs if cell.noise == "asym-40"}
    assert noisy == {"cce", "ar", "war_w2v", "forward", "coteaching", "pencil"}
    assert [cell.method for cell in runs if cell.noise == "clean" and cell.net == "cnn9"] == ["cce"]
    assert sorted(str(cell.noise) + cell.method for cell in runs if cell.net == "unet") == [
        "cleancce",
        "objects-33cce",
        "objects-33war_w2v",
    ]
    assert len(runs) == 10


def test_the_paper_scale_has_the_runs_of_the_paper_and_none_twice() -> None:
    """12 methods, 9 settings, 3 seeds; 3 further variants of WAR; 20 weights β."""
    own = study_of("paper")
    names = ("main_benchmark", "ar_war_variants", "beta_sensitivity")
    main, variants, beta = (set(own.plan.cells(name)) for name in names)
    assert (len(main), len(variants - main), len(beta - main - variants)) == (324, 81, 20)
    # Clothing1M, open set, Co-Teaching+, two times twenty random costs: tests/config/test_experiments.py counts them
    smaller = {cell for cell in own.plan.runs if cell.dataset != "vaihingen"}
    early = {cell for cell in smaller if cell.method == "cce_early"}  # for Forward and Backward: once per row and seed
    assert len(early) == 27 and len(smaller - early) == 324 + 81 + 20 + 4 + 8 + 6 + 20 + 20
    assert len(own.plan.runs) == len(smaller) + 12  # six columns of two runs on tiles
    assert {cell.dataset for cell in smaller} == {"fashion_mnist", "cifar10", "cifar100", "clothing1m"}
    assert all(own.settings.data_spec(name).source == "real" for name in own.scale["datasets"])


def test_the_schedules_of_the_paper() -> None:
    own = study_of("paper")
    found = {name: own.settings.training(name) for name in ("fashion_mnist", "cifar10", "cifar100")}
    assert {name: (entry["epochs"], *entry["drops"]) for name, entry in found.items()} == {
        "fashion_mnist": (60, 20, 40),
        "cifar10": (120, 40, 80),
        "cifar100": (150, 80, 120),
    }
    assert {(e["optimiser"], e["lr"], e["batch_size"]) for e in found.values()} == {("adam", 0.001, 256)}
    run = own.settings.run(RunId("fashion_mnist", "asym-40", "cnn9", "war_w2v", 0))
    assert (run.method.settings["warmup"], run.method.settings["beta"], run.net.settings["width"]) == (15, 10, 1.0)


@pytest.mark.parametrize(
    "dataset, noise, reason",
    [
        ("cifar10", "human", "human belongs to cifar100, not to cifar10"),
        ("cifar10", "openset_svhn-40", "images of svhn; add it to the datasets of the scale"),
        ("cifar10", "file_mine", "file_mine has no file; name one in noise_files"),
    ],
)
def test_noise_that_lacks_its_files_is_found_before_anything_runs(dataset: str, noise: str, reason: str) -> None:
    alone = {dataset: study().scale["datasets"][dataset]}
    with pytest.raises(WarlabError, match=reason):
        validate(scaled({"main_benchmark": {"datasets": [dataset], "noises": [noise]}}, datasets=alone).plan)


def test_forward_needs_the_cce_run_of_its_cell() -> None:
    cell = RunId("fashion_mnist", "asym-40", "cnn9", "forward+percentile=99", 2)
    assert study().plan.needed_run(cell) == RunId("fashion_mnist", "asym-40", "cnn9", "cce_early", 2)
    assert study().plan.needed_run(RunId("fashion_mnist", "asym-40", "cnn9", "sl", 2)) is None
    own = scaled({"main_benchmark": {"datasets": ["cifar10"], "noises": ["asym-40"], "methods": ["forward"]}})
    assert [cell.method for cell in own.plan.runs] == ["cce_early", "forward"]


def test_a_run_takes_only_the_files_it_reads() -> None:
    files = RunFiles.select({"data": "d.npz", "noise": "n.npz", "verified": "v.json", "predictions": "p.npz"})
    assert files == RunFiles(Path("d.npz"), Path("n.npz"), None, Path("p.npz"))


def test_a_setting_of_one_dataset_leaves_the_others_alone() -> None:
    study = study_of("sixteenth")
    assert study.settings.cost("embed", "cifar10")["features"] == "efficientnet_lite0"
    assert study.settings.cost("embed", "fashion_mnist")["features"] == "pixels"
    changed = {"overrides": {"methods": {"war_w2v@cifar10": {"beta": 3}}, "nets": {"cnn9@cifar10": {"width": 0.5}}}}
    study = load_study({"scale": "sixteenth", **changed}, ROOT)
    assert [study.settings.method("war_w2v", name)["beta"] for name in ("cifar10", "fashion_mnist")] == [3, 10]
    assert [study.settings.net("cnn9", name)["width"] for name in ("cifar10", "fashion_mnist")] == [0.5, 0.25]
    with pytest.raises(WarlabError, match=r"nets.cnn9@cifar: 'cifar' is not a dataset; did you mean 'cifar10'"):
        study_of("sixteenth", overrides={"nets": {"cnn9@cifar": {"width": 0.5}}})
    with pytest.raises(WarlabError, match=r"nets.cnn9@: '' is not a dataset"):
        study_of("sixteenth", overrides={"nets": {"cnn9@": {"width": 0.5}}})
