"""The user's own numbers: rows of a table or embeddings, from an npz file to a training."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import warlab.data
from tests.helpers.artefacts import data_on_disk
from tests.helpers.runs import resolved, run_training
from warlab.audit.audited_run import draw_numbers
from warlab.common.files import read_json
from warlab.data.fetch import fetch
from warlab.engine.build import RunFiles
from warlab.errors import WarlabError
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest


def clusters(n: int = 200, features: tuple[int, ...] = (6,)) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 3
    values = 4 * rng.standard_normal((3, *features))[labels] + rng.standard_normal((n, *features))
    return {"train_x": values, "train_y": labels}


def prepare(tmp_path: Path, **arrays: np.ndarray):
    np.savez(tmp_path / "own.npz", **arrays)  # type: ignore[arg-type]
    dataset = warlab.data.get("vectors")
    fetch(dataset, tmp_path / "raw", "real", tmp_path / "own.npz")
    return dataset.prepare(tmp_path / "raw", {"source": "real"})


@pytest.mark.parametrize("features", [(6,), (2, 5), (3, 4, 4)])
def test_floats_of_any_shape_are_kept_as_they_are(tmp_path: Path, features: tuple[int, ...]) -> None:
    given = clusters(features=features)
    arrays, about = data_on_disk(prepare(tmp_path, **given))
    assert arrays.train_x.dtype == np.float32 and about["shape"] == list(features) and about["samples"] == "vectors"
    assert len(arrays.train_y) == 158 and len(arrays.test_y) == 42 and about["clean_test"] is False
    both = np.concatenate([arrays.train_x, arrays.test_x])
    np.testing.assert_array_equal(np.sort(both.ravel()), np.sort(given["train_x"].astype(np.float32).ravel()))
    assert about["class_names"] == ["class 0", "class 1", "class 2"]


def with_bad_value() -> np.ndarray:
    values = clusters()["train_x"]
    values[7, 2] = np.nan
    return values


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"train_x": with_bad_value()}, "Row 7 of the vectors has a value that is not a finite number"),
        ({"train_x": np.zeros(200)}, r"numbers of shape \(N, features, …\), not float64 of \(200,\)"),
        ({"train_x": np.array([["a"]] * 200)}, "must be numbers"),
        ({"train_y": np.arange(199) % 3}, r"200 samples need one label each, but train_y has shape \(199,\)"),
        ({"train_y": np.arange(200) % 3 * 2}, "no sample of class 1"),
        ({"train_y": np.arange(200) % 3 * 10**12}, "has the label 2000000000000 but 200 samples"),
        ({"train_votes": np.array(3)}, "train_votes is a single value"),
        ({"train_x": np.array(3.0)}, "train_x is a single value"),
        ({"train_y": np.arange(200) % 3 - 1}, r"labels must lie in 0\.\.1, found -1"),
        ({"train_y": np.zeros(200, int)}, "only one class"),
        ({"train_y": np.r_[np.arange(199) % 2, 2]}, r"Class 2 \(classes count from 0\) has one sample, which would be"),
        ({"train_x": clusters()["train_x"].astype(object)}, "allow_pickle=False.*save the arrays by numpy.savez"),
        ({"test_x": np.zeros((3, 6))}, "test_x but no test_y"),
        ({"test_x": np.zeros((3, 5)), "test_y": np.arange(3)}, r"have shape \(6,\) but test samples have \(5,\)"),
    ],
)
def test_what_is_wrong_with_the_arrays_is_one_sentence(tmp_path: Path, changes: dict, reason: str) -> None:
    with pytest.raises(WarlabError, match=reason):
        prepare(tmp_path, **{**clusters(), **changes})


@pytest.mark.parametrize("noise", ["sym-40", "instance-40"])
def test_a_table_is_trained_on_to_the_same_bits_and_learns(tmp_path: Path, noise: str) -> None:
    data = prepare(tmp_path, **clusters())
    data.save(tmp_path / "data.npz")
    request = NoiseRequest("vectors", noise, 0, data.about.class_names, "real")
    make_noise(request, data.arrays, {}).save(tmp_path / "noise.npz")
    run = resolved("cce", epochs=12) | {"dataset": "vectors", "noise": noise}
    run["net"] = {"name": "mlp", "settings": {"width": 0.25, "dropout": 0.2}}
    files = RunFiles(tmp_path / "data.npz", tmp_path / "noise.npz")
    for out in ("one", "two"):
        run_training(run, files, tmp_path / out)
    for net in ("cnn9", "torchvision.resnet18"):
        with pytest.raises(WarlabError, match=rf"The network {net} cannot take vectors of 6 \(.*\); choose .* mlp"):
            run_training(run | {"net": {"name": net, "settings": {}}}, files, tmp_path / net)
    one, two = ((tmp_path / out / "weights.pt").read_bytes() for out in ("one", "two"))
    assert one == two and read_json(tmp_path / "one" / "result.json")["summary"]["best_on_test_diagnostic"] > 80


@pytest.mark.parametrize("write", [lambda path: np.save(path, np.eye(3)), lambda path: path.write_text("1,2\n3,4\n")])
def test_another_kind_of_file_is_one_sentence_that_deletes_nothing(tmp_path: Path, write: Callable) -> None:
    write(file := tmp_path / "own.npy")
    dataset = warlab.data.get("vectors")
    fetch(dataset, tmp_path / "raw", "real", file)
    with pytest.raises(WarlabError, match=r"own\.npy is no npz file; save the arrays by numpy.savez, see docs/your"):
        dataset.prepare(tmp_path / "raw", {"source": "real"})


@pytest.mark.parametrize(("first", "ordered"), [("# ordered\n", True), ("#Ordered\n", True), ("", False)])
def test_the_first_line_of_the_class_names_says_whether_they_are_ordered(
    tmp_path: Path, first: str, ordered: bool
) -> None:
    (tmp_path / "classes.txt").write_text(f"{first}poor\nfair\ngood\n")
    _, about = data_on_disk(prepare(tmp_path, **clusters()))
    assert about.get("ordered", False) is ordered and about["class_names"] == ["poor", "fair", "good"]


def test_what_needs_images_refuses_a_table(tmp_path: Path) -> None:
    np.savez(tmp_path / "own.npz", **clusters())  # type: ignore[arg-type]
    dataset = warlab.data.get("vectors")
    fetch(dataset, tmp_path / "raw", "real", tmp_path / "own.npz")
    with pytest.raises(WarlabError, match="`pool` makes images smaller"):
        dataset.prepare(tmp_path / "raw", {"source": "real", "pool": 2})
    with pytest.raises(WarlabError, match="`size` is for your own images"):
        dataset.prepare(tmp_path / "raw", {"source": "real", "size": 8})


def test_the_audit_draws_a_sample_as_a_square_of_grey_values() -> None:
    square = draw_numbers(np.arange(70, dtype=np.float32))
    assert square.shape == (1, 9, 9) and square.dtype == np.uint8
    assert square.ravel()[69] == 255 and square.ravel()[0] == 0 and (np.diff(square.ravel()[:70].astype(int)) > 0).all()
    assert (draw_numbers(np.zeros(5)) == 0).all()
