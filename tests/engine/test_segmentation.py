"""Pixels as samples: patches, scores, and a training with every method of the table."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from tests.conftest import ROOT
from tests.helpers.nets import count_parameters
from tests.helpers.runs import make_trainer, method_ids, run_training, weights
from tests.helpers.studies import study_of
from tests.helpers.tiles import arrays, description, tile_run, write_tile_files
from warlab.artefacts.labelled_data import DataDescription
from warlab.artefacts.run_config import RunConfig
from warlab.common.files import read_json
from warlab.config.study import Study
from warlab.data.formats.flat_tiles import unflat
from warlab.data.sets import vaihingen
from warlab.engine.build import RunFiles
from warlab.engine.finished import map_run
from warlab.engine.images import confusion
from warlab.engine.tiles import Patches, PixelRows, TileEvaluator, Tiles, f1, orient, scores
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.nets import build
from warlab.reporting.images.label_maps import colour_labels, write_maps

CPU = torch.device("cpu")
METHODS = ["cce", "bootsoft", "coteaching", "ar", "war_w2v"]


def patches(seed: int = 0, **changes: int) -> Patches:
    content, training = arrays(), {"patch": 16, "steps": 5, "batch_size": 6} | changes
    labels = torch.from_numpy(content.train_y).long()
    tiles = Tiles(content.train_x, content.train_sizes, description()["mean"], description()["std"], CPU)
    return Patches(tiles, labels, training, seed)


# ---- network


def test_parameters_of_the_u_net() -> None:
    """By hand: two convolutions with batch norm per level, transposed convolutions with bias, the head."""
    sizes = [64, 128, 256, 512, 1024]
    down = sum(9 * (i * o + o * o) + 4 * o for i, o in zip([5, *sizes], sizes, strict=False))
    up = sum(4 * 2 * o * o + o + 9 * (2 * o * o + o * o) + 4 * o for o in sizes[:-1])
    expected = down + up + 64 * 6 + 6
    assert count_parameters(build("unet", 5, 6)) == expected == 31_039_110
    assert count_parameters(build("unet", 5, 6, width=0.125)) < expected / 60


def test_a_map_has_the_size_of_its_image() -> None:
    net = build("unet", 5, 6, width=0.0625)
    assert net(torch.randn(2, 5, 32, 48)).shape == (2, 6, 32, 48)
    with pytest.raises(WarlabError, match="multiples of 16"):
        net(torch.randn(1, 5, 40, 32))


def test_rows_of_pixels_are_the_maps_pixel_by_pixel() -> None:
    net = torch.nn.Conv2d(5, 6, 1)
    x = torch.randn(2, 5, 3, 4)
    torch.testing.assert_close(PixelRows(net)(x).view(2, 3, 4, 6), net(x).movedim(1, -1))


# ---- patches


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 50))
def test_image_and_label_of_a_patch_lie_alike(seed: int, epoch: int) -> None:
    data, content = patches(seed), arrays()
    images, truths = unflat(content.train_x, content.train_sizes), unflat(content.train_y, content.train_sizes)
    for index in data.epoch(epoch)[:2]:
        batch = data.batch(index)
        raw = (batch.x * 0.3 + 0.3) * 255
        for number, (tile, top, left, way) in enumerate(index.tolist()):
            part = np.s_[top : top + 16, left : left + 16]
            image, truth = torch.from_numpy(images[tile][:, *part].copy()), torch.from_numpy(truths[tile][part].copy())
            turned = torch.stack([orient(channel, way) for channel in image])
            torch.testing.assert_close(raw[number], turned.float(), atol=1e-3, rtol=0)
            assert torch.equal(batch.y.view(6, 16, 16)[number], orient(truth, way).long())


def test_there_are_eight_ways_to_lie_and_all_occur() -> None:
    square = torch.arange(9).view(3, 3)
    assert len({tuple(orient(square, way).flatten().tolist()) for way in range(8)}) == 8
    drawn = torch.cat(patches(steps=40).epoch(0))
    assert set(drawn[:, 3].tolist()) == set(range(8)) and set(drawn[:, 0].tolist()) == {0, 1}


def test_a_pixel_has_one_number_wherever_it_lies() -> None:
    data, content = patches(), arrays()
    batch = data.batch(data.epoch(0)[0])
    assert torch.equal(batch.y, torch.from_numpy(content.train_y).long()[batch.index])
    assert len(data) == len(content.train_y) == int(content.train_sizes.prod(1).sum())


def test_patches_follow_from_seed_epoch_and_step() -> None:
    one, same, other = (torch.cat(patches(seed).epoch(3)) for seed in (0, 0, 1))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert not torch.equal(one, torch.cat(patches().epoch(4)))
    assert torch.equal(torch.cat(patches(steps=2).epoch(3)), one[:12])  # a step does not depend on their number
    with pytest.raises(WarlabError, match="side of 40 pixels; set a patch"):
        patches(patch=48)


# ---- scores


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.booleans())
def test_scores_are_those_of_scikit_learn(seed: int, classes: int, rare: bool) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, classes - rare, (2, 13, 17))
    counts, every = confusion(truth, predicted, classes), list(range(classes))
    flat = truth.ravel(), predicted.ravel()
    np.testing.assert_array_equal(counts, confusion_matrix(*flat, labels=every))
    np.testing.assert_allclose(f1(counts), 100 * f1_score(*flat, labels=every, average=None, zero_division=1.0))
    assert scores(counts, {0: "f1_first"})["overall_accuracy"] == pytest.approx(100 * accuracy_score(*flat))


def test_a_perfect_map_scores_100_everywhere_and_clutter_is_not_among_the_scores() -> None:
    truth = arrays().train_y
    scored = vaihingen.DATASET.scored
    found = scores(confusion(truth, truth, 6), scored)
    assert set(found.values()) == {100.0} and len(found) == 7
    wrong = truth.copy()
    wrong[truth == 5] = 1  # clutter taken for buildings costs these their precision, and the average a fifth of it
    worse = scores(confusion(truth, wrong, 6), scored)
    assert worse["f1_buildings"] < 100 and worse["f1_cars"] == 100
    assert worse["f1_average"] == pytest.approx((400 + worse["f1_buildings"]) / 5)
    assert worse["overall_accuracy"] == pytest.approx(100 * (truth != 5).mean())


# ---- the loop


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    return write_tile_files(tmp_path_factory.mktemp("tiles"))


def study_of_tiles(folder: Path, method: str, net: str = "unet") -> Study:
    """Load the tiles of the smoke scale with this method."""
    smoke = (ROOT / "config" / "scales" / "smoke.yaml").read_text()
    block = {"methods": [method], "nets": [net], "also": [{"noises": ["clean"], "methods": [method], "nets": [net]}]}
    text = smoke.partition("experiments:")[0] + f"experiments: {{ vaihingen: {json.dumps(block)} }}\n"
    (folder / "own.yaml").write_text(text)
    return study_of(str(folder / "own.yaml"))


@pytest.mark.parametrize("method", [*method_ids(), "coteaching+forget=estimated"])
def test_every_method_trains_on_pixels_or_the_plan_refuses_it(method: str, files: RunFiles, tmp_path: Path) -> None:
    try:
        study_of_tiles(tmp_path, method)
    except WarlabError as error:
        assert "is for single samples, but vaihingen has tiles; choose another" in str(error)
        assert method not in METHODS
        return
    assert method not in ("jof", "war_unlabelled"), "it would train on targets that a pixel may not have"
    run_training(tile_run(method), files, tmp_path)
    last = pd.read_csv(tmp_path / "metrics.csv").iloc[-1]
    assert set(vaihingen.DATASET.scored.values()) | {"f1_average", "overall_accuracy"} <= set(last.index)
    assert last["test_accuracy"] == last["overall_accuracy"] and 0 <= last["f1_average"] <= 100
    assert ("purity" in last.index) >= (method == "coteaching") and 0 <= last["memorised"] <= 100


def test_a_network_of_the_wrong_kind_is_refused_by_the_plan(tmp_path: Path) -> None:
    with pytest.raises(WarlabError, match="cnn9 is for single samples, but vaihingen has tiles; choose from unet"):
        study_of_tiles(tmp_path, "cce", "cnn9")
    own = tmp_path / "images.yaml"
    own.write_text((ROOT / "config" / "scales" / "demo.yaml").read_text().replace("noises: [asym-40]", "nets: [unet]"))
    with pytest.raises(WarlabError, match=r"unet is for tiles, but fashion_mnist has single samples; choose.*cnn9"):
        study_of(str(own))


def test_a_network_learns_the_tiles(files: RunFiles, tmp_path: Path) -> None:
    run = tile_run("cce", epochs=4)
    run["training"] |= {"steps": 16, "batch_size": 4, "lr": 0.01}
    run_training(run, write_tile_files(tmp_path, "clean"), tmp_path / "run")
    accuracy = pd.read_csv(tmp_path / "run" / "metrics.csv")["overall_accuracy"]
    assert accuracy.iloc[-1] > max(70, accuracy[0] + 5)


def test_methods_that_ask_for_all_samples_are_told_so() -> None:
    with pytest.raises(WarlabError, match="for images only"):
        patches().ordered_batches()


# ---- maps


def test_the_maps_of_a_run_are_what_was_scored(files: RunFiles, tmp_path: Path) -> None:
    run = tile_run("coteaching")
    run_training(run, files, tmp_path / "run")
    labels = map_run(RunConfig.from_dict(run), files, tmp_path / "run" / "weights.pt", 1)
    trainer = make_trainer(run, files, tmp_path / "y")
    for model, state in zip(trainer.models, weights(tmp_path / "run"), strict=True):
        model.load_state_dict(state)
    assert isinstance(trainer.evaluate, TileEvaluator)
    both = next(trainer.evaluate.maps(trainer.method, trainer.models))
    truth = arrays().test_y
    np.testing.assert_array_equal(both[0].ravel(), labels)
    own = np.mean([scores(confusion(truth, one, 6), vaihingen.DATASET.scored)["f1_average"] for one in both])
    assert pd.read_csv(tmp_path / "run" / "metrics.csv")["f1_average"].iloc[-1] == pytest.approx(own)


@pytest.mark.parametrize("kind", ["stand-in", "real"])
def test_maps_have_the_owners_colours_a_world_file_and_say_if_they_are_procedural(kind: str, tmp_path: Path) -> None:
    content, about = arrays(), DataDescription(**description(kind))
    write_maps(tmp_path, content.test_y, content.test_sizes, "test", about)
    (path,) = tmp_path.glob("*.png")
    assert path.name == ("procedural_tiles_area12.png" if kind == "stand-in" else "area12.png")
    assert path.with_suffix(".pgw").read_text() == about.world["12"]
    size = tuple(content.test_sizes[0].tolist())
    np.testing.assert_array_equal(vaihingen.classes(path, size), unflat(content.test_y, content.test_sizes)[0])
    assert colour_labels(np.array([[4]]), about).tolist() == [[[255, 255, 0]]]


# ---- the experiment


def test_the_experiment_has_the_columns_and_the_schedule_of_the_paper() -> None:
    own = study_of("paper")
    layout = own.plan.layout("vaihingen")
    assert [(noise, method) for _, noise, _, method in layout] == [
        ("clean", "cce"),
        *(("objects-33", m) for m in METHODS),
    ]
    assert len(own.plan.cells("vaihingen")) == 12  # two runs each
    training = own.settings.training("vaihingen")
    assert (training["epochs"], training["lr"], training["drops"], training["overlap"]) == (300, 1e-4, [10], 200)
    printed = (ROOT / "config" / "published.csv").read_text().splitlines()
    rows = [line.split(",")[5] for line in printed if line.startswith("vaihingen,vaihingen,clean")]
    assert own.experiments["vaihingen"]["metrics"] == rows
    assert own.settings.method("coteaching", "vaihingen")["forget"] == "realised"
    cell = RunId("vaihingen", "objects-33", "unet", "war_w2v", 0)
    assert own.settings.cost_key(cell) == "w2v" and own.settings.method("war_w2v", "vaihingen")["iterations"] == 20


def test_forgetting_uses_the_share_of_changed_pixels(files: RunFiles, tmp_path: Path) -> None:
    trainer = make_trainer(tile_run("coteaching"), files, tmp_path)
    assert trainer.method.tau == read_json(files.noise.with_suffix(".json"))["realised_rate"]  # type: ignore[attr-defined]
