"""Artefacts: what is saved is loaded again, what is missing is one sentence, and identities stay what they were."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import blobs
from tests.helpers.artefacts import described
from warlab.artefacts.ground_cost import Check, GroundCost, Provenance, Verification
from warlab.artefacts.labelled_data import DataDescription, NoiseManifest, NoisyLabels, OpenSet, PreparedData
from warlab.common.files import digest, read_json, write_json
from warlab.errors import WarlabError
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest


def noisy() -> NoisyLabels:
    request = NoiseRequest("blobs", "sym-40", 0, list("abcd"), "stand-in")
    return make_noise(request, {"train_y": blobs(64, 4)[1]}, {})


def test_prepared_data_are_loaded_as_they_were_saved(tmp_path: Path) -> None:
    x, y = blobs(8, 4)
    data = PreparedData(described("abcd", train_files=[f"{k}.png" for k in range(8)]), {"train_x": x, "train_y": y})
    data.save(tmp_path / "data.npz")
    back = PreparedData.load(tmp_path / "data.npz")
    assert back.about == data.about and list(back.arrays) == ["train_x", "train_y"]
    np.testing.assert_array_equal(back.arrays["train_x"], x)
    assert "samples" not in read_json(tmp_path / "data.json"), "a default value is left out"


def test_noise_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    plain = noisy()
    open_set = OpenSet("svhn", "0", 2, [1, 1, 0, 0], "1", "2")
    both = replace(plain, manifest=replace(plain.manifest, open_set=open_set, rng_seed=None), by=np.arange(2))
    for number, noise in enumerate((plain, both)):
        noise.save(tmp_path / f"{number}.npz")
        back = NoisyLabels.load(tmp_path / f"{number}.npz")
        assert back.manifest == noise.manifest and (back.labels == noise.labels).all()
        assert (back.by is None) == (noise.by is None) and back.replaced is None
    assert read_json(tmp_path / "1.json")["rng_seed"] is None, "what has no default is always written"


def test_a_cost_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    about = Provenance(cost="random", settings={"variant": "raw"}, source="drawn", class_names=["a, b", "NA", "01"])
    cost = GroundCost(np.random.default_rng(0).standard_normal((3, 3)), about)
    cost.save(tmp_path / "cost.csv")
    back = GroundCost.load(tmp_path / "cost.csv")
    assert back.provenance == about and (back.matrix == cost.matrix).all() and back.signed
    check = Check("sign", 0.1, 0.0, "no negative cost")
    verification = Verification(0.05, 20, 16, "0.9", [check])
    verification.save(tmp_path / "verified.json")
    assert Verification.load(tmp_path / "verified.json") == verification
    assert read_json(tmp_path / "verified.json")["passed"] is False


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda content: content.pop("mean"), r"data\.json lacks 'mean'; delete it and run again\."),
        (lambda content: content.update(meen=1), r"data\.json has the unknown entry 'meen'; delete it and run again\."),
    ],
)
def test_a_description_of_other_entries_is_one_sentence(tmp_path: Path, change, sentence: str) -> None:
    described("ab").save(tmp_path / "data.npz")
    content = read_json(tmp_path / "data.json")
    change(content)
    write_json(tmp_path / "data.json", content)
    with pytest.raises(WarlabError, match=sentence):
        DataDescription.load(tmp_path / "data.npz")


@pytest.mark.parametrize("about", [described("ab"), noisy().manifest], ids=["data", "noise"])
def test_the_identity_is_that_of_the_file_without_places_and_sentences(
    about: DataDescription | NoiseManifest, tmp_path: Path
) -> None:
    """As runs of earlier versions have it: the checksum of the JSON's content."""
    about.save(tmp_path / "x.npz")
    silent = {"source", "licence", "words"}
    content = {key: value for key, value in read_json(tmp_path / "x.json").items() if key not in silent}
    assert about.identity() == digest(json.dumps(content, sort_keys=True).encode())
