"""Noise on objects: whole components, plausible classes, the share that was asked for, training tiles alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from tests.helpers.artefacts import noise_on_disk
from tests.helpers.runs import study
from tests.helpers.tiles import NAMES, arrays, wanted
from warlab import noise
from warlab.data.formats.flat_tiles import unflat
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise import make_noise
from warlab.noise.kinds.objects import EIGHT, corrupt_objects, flip_chances, probability

FLIPS = study().settings.noise("objects-33", "vaihingen")["flips"]


def test_a_third_is_a_third_and_other_rates_are_themselves() -> None:
    assert probability(NoiseId("objects", "33")) == 1 / 3 and probability(NoiseId("objects", "20")) == 0.2
    assert (
        noise.module("objects-33") == "warlab.noise.kinds.objects"
        and noise.label("objects-33") == "33 % of all objects"
    )


def test_the_papers_example_and_no_flip_of_a_car_to_a_building() -> None:
    chances = flip_chances(FLIPS, NAMES, 1 / 3)
    car, building, impervious, tree = (NAMES.index(name) for name in ("car", "building", "impervious surfaces", "tree"))
    assert chances[car, impervious] == pytest.approx(1 / 3) and chances[car, [building, tree]].tolist() == [0, 0]
    assert chances[NAMES.index("clutter"), NAMES.index("clutter")] == 1
    np.testing.assert_allclose(chances.sum(1), 1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 24), st.integers(3, 24))
def test_components_change_as_wholes_and_to_plausible_classes(seed: int, height: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 6, (height, width), np.uint8)
    chances, noisy = flip_chances(FLIPS, NAMES, 0.5), truth.copy()
    counts = corrupt_objects(truth, noisy, chances, rng)
    changed = 0
    for label in range(6):
        components, n = ndimage.label(truth == label, EIGHT)
        assert counts[0, label] == n
        for number in range(1, n + 1):
            (given_class,) = set(noisy[components == number].tolist())
            assert chances[label, given_class] > 0
            changed += given_class != label
    assert counts[1].sum() == changed


def test_pixels_that_touch_at_a_corner_are_one_object() -> None:
    truth = np.full((4, 4), 2, np.uint8)
    truth[0, 0] = truth[1, 1] = 4
    counts = corrupt_objects(truth, truth.copy(), flip_chances(FLIPS, NAMES, 1 / 3), np.random.default_rng(0))
    assert counts[0].tolist() == [0, 0, 1, 0, 1, 0]


def test_the_share_of_objects_is_the_one_asked_for() -> None:
    truth = np.zeros((200, 200), np.uint8)
    truth[::4, ::4] = 4
    counts = corrupt_objects(truth, truth.copy(), flip_chances(FLIPS, NAMES, 1 / 3), np.random.default_rng(0))
    assert counts[0, 4] == 2500 and abs(counts[1, 4] / 2500 - 1 / 3) < 4 * np.sqrt(2 / 9 / 2500)


def test_the_manifest_has_both_shares_and_the_test_tiles_stay() -> None:
    content = vars(arrays())
    before = content["test_y"].copy()
    made, manifest = noise_on_disk(make_noise(wanted(), content, {}))
    labels, objects = made["labels"], manifest["objects"]
    assert labels.shape == content["train_y"].shape and (content["test_y"] == before).all()
    assert manifest["realised_rate"] == pytest.approx(float((labels != content["train_y"]).mean()))
    assert objects["changed"] == sum(entry["changed"] for entry in objects["per_class"].values()) > 0
    assert objects["realised_share"] == pytest.approx(objects["changed"] / objects["objects"])
    again, _ = noise_on_disk(make_noise(wanted(), content, {}))
    other, _ = noise_on_disk(make_noise(wanted(seed=1), content, {}))
    assert (again["labels"] == labels).all() and (other["labels"] != labels).any()
    assert [part.shape for part in unflat(labels, content["train_sizes"])] == [(48, 64), (56, 40)]


def test_wrong_maps_of_classes_are_one_sentence() -> None:
    with pytest.raises(WarlabError, match="names 'boat'"):
        flip_chances({"car": ["boat"]}, NAMES, 0.3)
    with pytest.raises(WarlabError, match="turns 'car' into itself"):
        flip_chances({"car": ["car"]}, NAMES, 0.3)
    with pytest.raises(WarlabError, match="needs maps"):
        make_noise(wanted(), {"train_y": np.zeros(3, np.int64)}, {})
