"""Clothing1M: the owners' lists, images resized once into shards, batches that stay on disk, the rule for epsilon."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import warlab.data
from tests.conftest import logged
from tests.helpers.artefacts import data_on_disk
from tests.helpers.runs import metrics, resolved, run_training
from tests.helpers.studies import study_of
from warlab.config.validate import validate
from warlab.data import in_place
from warlab.data.fetch import fetch
from warlab.data.formats import shards
from warlab.data.sets import clothing1m
from warlab.engine.build import RunFiles
from warlab.engine.images import TrainingData
from warlab.engine.stored import AHEAD, StoredImages
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.methods.war import EpsilonRule
from warlab.noise import make_noise
from warlab.noise.kinds.base import NoiseRequest
from warlab.ot.costs import make_cost
from warlab.ot.costs.base import CostInputs

DATASET = warlab.data.get("clothing1m")
SPEC = {"source": "stand_in", "train": 84, "test": 42, "pool": 8}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clothing1m")
    assert fetch(DATASET, folder, "stand_in")["data"] == "stand-in"
    return folder


@pytest.fixture(scope="module")
def files(root: Path) -> RunFiles:
    """All that a run reads, as the workflow writes it."""
    data = DATASET.prepare(root, SPEC)
    data.save(root / "data.npz")
    about = data.about
    settings = study_of("smoke").settings.noise("real", "clothing1m")
    request = NoiseRequest("clothing1m", "real", 0, about.class_names, about.data, settings)
    make_noise(request, data.arrays, {}).save(root / "noise.npz")
    make_cost("w2v", CostInputs(about.class_names, about.words), {}).save(root / "cost.csv")
    return RunFiles(root / "data.npz", root / "noise.npz", root / "cost.csv")


# ---- lists and shards


def test_the_owners_lists_become_labels_and_numbers_of_images(root: Path) -> None:
    arrays, meta = data_on_disk(DATASET.prepare(root, {"source": "stand_in", "pool": 8}))
    assert [len(arrays.train_y), len(arrays.val_y), len(arrays.test_y)] == [420, 70, 140]
    numbers = np.concatenate([arrays.train_i, arrays.val_i, arrays.test_i])
    assert numbers.tolist() == list(range(630)) and meta["samples"] == "stored"
    keys = (root / "clean_val_key_list.txt").read_text().split()
    known = dict(line.split() for line in (root / "clean_label_kv.txt").read_text().splitlines())
    assert arrays.val_y.tolist() == [int(known[key]) for key in keys]
    assert meta["shape"] == [3, 28, 28] and DATASET.pixels.shape == (3, 224, 224)
    part, meta = data_on_disk(DATASET.prepare(root, SPEC))  # it has every class and images of the whole
    assert len(part.train_y) == meta["n_train"] == 84 and set(part.train_y) == set(range(14))
    assert (arrays.train_y[part.train_i] == part.train_y).all() and len(part.val_y) == 42


def test_images_are_resized_once_and_resumed_where_it_stopped(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "PER_SHARD", 10)
    paths = [root / key for key in (root / "clean_val_key_list.txt").read_text().split()][:25]
    resize, seen = shards._resized, []

    def counted(path: Path, side: int) -> bytes:
        seen.append(path)
        if len(seen) == 15:
            raise KeyboardInterrupt
        return resize(path, side)

    monkeypatch.setattr(shards, "_resized", counted)
    with pytest.raises(KeyboardInterrupt):
        shards.pack(paths, 16, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0000.jpegs", "0000.npy"]
    before = len(seen)
    shards.pack(paths, 16, tmp_path)
    assert seen[before:] == paths[10:]
    shards.pack(paths, 16, tmp_path)
    assert len(seen) == before + 15
    found = shards.Pack(tmp_path)
    assert len(found) == 25
    with Image.open(paths[23]) as image:
        expected = np.asarray(image.resize((16, 16), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
    assert found[23].shape == (3, 16, 16) and abs(found[23].astype(int) - expected).mean() < 6  # once more as JPEG


def test_other_lists_get_other_shards(root: Path, tmp_path: Path) -> None:
    """Packing one list and then another must not leave the images of the first under the labels of the second."""
    owners = tmp_path / "owners"
    shutil.copytree(root, owners, ignore=shutil.ignore_patterns("resized-*", "*.npz", "*.json"))
    fetch(DATASET, tmp_path / "raw", "real", owners)
    _, first = data_on_disk(DATASET.prepare(tmp_path / "raw", {"source": "real", "pool": 8}))
    keys = (owners / "noisy_train_key_list.txt").read_text().split()
    (owners / "noisy_train_key_list.txt").write_text("\n".join(reversed(keys)) + "\n")
    _, second = data_on_disk(DATASET.prepare(tmp_path / "raw", {"source": "real", "pool": 8}))
    assert first["shards"] != second["shards"] and first["shards_sha256"] != second["shards_sha256"]
    packed = shards.Pack(Path(second["shards"]))
    np.testing.assert_array_equal(packed[0], shards.Pack(Path(first["shards"]))[len(keys) - 1])
    _, again = data_on_disk(DATASET.prepare(tmp_path / "raw", {"source": "real", "pool": 8}))
    assert again["shards"] == second["shards"]


def test_edited_lists_of_the_owners_are_noticed(root: Path, tmp_path: Path) -> None:
    for name in clothing1m.NEEDS[:-1]:
        shutil.copy(root / name, tmp_path)
    (tmp_path / "images").mkdir()
    before = in_place.content_digest(DATASET, tmp_path)
    (tmp_path / "images" / "new.jpg").write_bytes(b"")
    assert in_place.content_digest(DATASET, tmp_path) == before  # a million images are not looked at
    (tmp_path / "noisy_label_kv.txt").write_text("images/a.jpg 3\n")
    assert in_place.content_digest(DATASET, tmp_path) != before


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("noisy_label_kv.txt", "images/a.jpg 3\n", "has no label for"),
        ("noisy_label_kv.txt", "images/a.jpg three\n", "an image and a number in every line"),
        ("noisy_train_key_list.txt", "", "names no image"),
    ],
)
def test_wrong_lists_are_one_sentence(root: Path, tmp_path: Path, file: str, text: str, reason: str) -> None:
    for name in clothing1m.NEEDS[:-1]:
        (tmp_path / name).write_text((root / name).read_text())
    (tmp_path / file).write_text(text)
    with pytest.raises(WarlabError, match=reason):
        clothing1m.read_list(tmp_path, "noisy_train_key_list.txt", "noisy_label_kv.txt")


def test_a_damaged_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.jpg").write_bytes(b"no image")
    with pytest.raises(WarlabError, match=r"broken\.jpg cannot be read as an image"):
        shards.pack([tmp_path / "broken.jpg"], 16, tmp_path / "out")


def test_absent_data_say_where_to_get_them_and_how_to_do_without(tmp_path: Path) -> None:
    for local in (None, tmp_path / "nowhere"):
        with pytest.raises(WarlabError) as error:
            fetch(DATASET, tmp_path / "raw", "real", local)
        text = str(error.value)
        assert "ask for it at https://" in text and "local_data: {clothing1m: folder}" in text
        assert "noisy_train_key_list.txt" in text and "leave clothing1m out of the scale" in text
    (tmp_path / "half").mkdir()
    with pytest.raises(WarlabError, match="half has no noisy_train_key_list"):
        fetch(DATASET, tmp_path / "raw", "real", tmp_path / "half")


def test_the_owners_folder_is_not_copied(root: Path, tmp_path: Path) -> None:
    receipt = fetch(DATASET, tmp_path / "raw", "real", root)
    assert list(receipt["files"]) == ["place.json"]
    arrays, meta = data_on_disk(DATASET.prepare(tmp_path / "raw", {"source": "real", "pool": 16}))
    assert meta["data"] == "real" and meta["source"] == "Clothing1M, the owners' folder" and len(arrays.test_y) == 140


# ---- batches


def images(files: RunFiles, part: str = "train") -> StoredImages:
    data = files.read().data
    pack = shards.Pack(Path(data.about.shards))
    return StoredImages(pack, data.arrays[f"{part}_i"], data.about, torch.device("cpu"))


def test_batches_are_those_of_any_other_images_decoded_ahead(files: RunFiles) -> None:
    source = images(files)
    data = TrainingData(source, torch.zeros(len(source), dtype=torch.long), 16, seed=3)
    batches = data.epoch(1)
    assert sorted(torch.cat(batches).tolist()) == list(range(84))
    assert torch.equal(torch.cat(batches), torch.cat(replace(data, images=images(files)).epoch(1)))  # stateless
    assert not torch.equal(torch.cat(batches), torch.cat(data.epoch(2)))
    batches = data.epoch(1)
    first = data.batch(batches[0]).x
    assert list(source.begun) == list(range(1, AHEAD)) and len(source.announced) == len(batches) > AHEAD
    assert first.shape == (16, 3, 28, 28) and first.dtype == torch.float32
    torch.testing.assert_close(first, images(files)[batches[0].clone()])
    third = data.batch(batches[3]).x  # a resumed run skips what it has trained on
    torch.testing.assert_close(third, images(files)[batches[3].clone()])
    assert next(iter(source.begun)) == 4 and source.announced[4][0] is batches[4]


def test_an_image_is_its_middle_less_the_mean(files: RunFiles) -> None:
    source = images(files)
    expected = source.pack[int(source.numbers[5])][:, 2:30, 2:30] / 255 - np.array([0.485, 0.456, 0.406])[:, None, None]
    np.testing.assert_allclose(source[torch.tensor([5])][0].numpy(), expected, atol=1e-6)


# ---- runs


def run(method: str, epochs: int = 2, **settings: Any) -> dict[str, Any]:
    return resolved(method, epochs, 21, **settings) | {"dataset": "clothing1m", "noise": "real"}


def test_a_run_logs_validation_each_epoch_and_no_purity(files: RunFiles, tmp_path: Path) -> None:
    run_training(run("jocor"), files, tmp_path / "run")
    header = metrics(tmp_path / "run")[0].split(",")
    assert "val_accuracy" in header and "purity" not in header and len(metrics(tmp_path / "run")) == 3


# ---- the rule for epsilon


def rule_after(kind: str, losses: Iterator[float], epochs: int = 7) -> tuple[float, list[str]]:
    said = logged()
    rule = EpsilonRule(kind, 5, 0.5)
    for epoch in range(epochs):
        rule.start_epoch(epoch)
        rule.add(torch.tensor(next(losses)))
    return rule.epsilon, said


def test_epsilon_falls_only_if_the_loss_does_not() -> None:
    falling, rising = [9, 8, 7, 6, 5, 4, 3], [9, 8, 7, 6, 6, 1, 1]
    assert rule_after("loss", iter(falling))[0] == 0.5
    epsilon, said = rule_after("loss", iter(rising))
    assert epsilon == pytest.approx(0.05) and said == [
        "epsilon is 0.05 after epoch 5: mean losses of its last two epochs 6.0000 and 6.0000"
    ]
    assert rule_after("always", iter(falling))[0] == pytest.approx(0.05)
    assert rule_after("never", iter(rising)) == (0.5, [])


# ---- numbers


def test_the_schedules_of_the_paper() -> None:
    paper = study_of("paper")
    cells = {
        m: paper.settings.run(RunId("clothing1m", "real", "resnet50", m, 0))
        for m in ("cce", "jocor", "pencil", "war_w2v")
    }
    shared = {"optimiser": "sgd", "lr": 0.002, "momentum": 0.9, "weight_decay": 0.001, "batch_size": 64}
    for method, epochs, drops in (
        ("cce", 10, [5]),
        ("war_w2v", 10, [5]),
        ("jocor", 15, [3, 9]),
        ("pencil", 15, [3, 9]),
    ):
        training = cells[method].training
        assert (training["epochs"], training["drops"]) == (epochs, drops) and training.items() >= shared.items()
    war, pencil = cells["war_w2v"].method.settings, cells["pencil"].method.settings
    assert (war["epsilon"], war["warmup"], war["epsilon_rule"], war["epsilon_after"]) == (0.5, 0, "loss", 5)
    assert (pencil["stage2"], pencil["stage3"]) == (3, 9)


def test_noise_real_is_for_data_that_have_it() -> None:
    smoke = study_of("smoke")
    wrong = replace(smoke, scale={**smoke.scale, "experiments": {"clothing1m": {"datasets": ["cifar10"]}}})
    with pytest.raises(WarlabError, match="labels of cifar10 are not noisy by themselves"):
        validate(wrong.plan)
    embed = {"clothing1m": {"methods": ["war_embed"], "nets": ["cnn6"]}}
    with pytest.raises(WarlabError, match="The cost embed needs images in memory, unlike clothing1m"):
        validate(replace(smoke, scale={**smoke.scale, "experiments": embed}).plan)


def test_batches_are_decoded_from_numbers_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch's numbers on a GPU would make it wait for all its work: they are fetched at the start of an epoch."""
    asked = []
    monkeypatch.setattr(torch.Tensor, "cpu", lambda tensor: asked.append(len(tensor)) or tensor.to("cpu"))
    fetched: list[list[int]] = []
    images = StoredImages.__new__(StoredImages)
    images._begin = lambda places: fetched.append(list(places)) or []  # type: ignore[method-assign]
    batches = [torch.tensor([3, 1]), torch.tensor([0, 2]), torch.tensor([5])]
    images.announce(batches)
    for batch in batches:
        images._futures(batch)
    assert fetched == [[3, 1], [0, 2], [5]] and asked == [5]
