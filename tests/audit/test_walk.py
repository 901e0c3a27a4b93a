"""A user walks: a folder with wrong labels, the audit, the page in Chromium, the fixed folder, a better network."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from tests.helpers.browser import CHROMIUM, Browser
from warlab.cli.audit import main
from warlab.data.images_in_memory import Arrays, subset
from warlab.data.sets.fashion_mnist import DATASET

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; Debian's package is called chromium")

NAMES = [name.replace("/", "-") for name in DATASET.classes.names]
FLIPPED = 0.3


def write(folder: Path, data: Arrays) -> None:
    """A folder per class, with 30 % of the images in a wrong one; the name of a file is its number."""
    rng = np.random.default_rng(0)
    flip = rng.random(len(data.train_y)) < FLIPPED
    given = np.where(flip, (data.train_y + rng.integers(1, 10, len(flip))) % 10, data.train_y)
    for number, (image, label) in enumerate(zip(data.train_x, given, strict=True)):
        (folder / NAMES[label]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image[0]).save(folder / NAMES[label] / f"{number:04}.png")


def read(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    files = sorted(folder.glob("*/*.png"), key=lambda file: file.stem)
    labels = [NAMES.index(file.parent.name) for file in files]
    return np.stack([np.asarray(Image.open(file)) for file in files])[:, None], np.array(labels)


def accuracy(folder: Path, data: Arrays) -> float:
    images, labels = read(folder)
    torch.manual_seed(0)
    x, test = (
        nn.functional.avg_pool2d(torch.from_numpy(part).float() / 127.5 - 1, 2) for part in (images, data.test_x)
    )
    model = nn.Sequential(nn.Flatten(), nn.Linear(196, 128), nn.ReLU(), nn.Linear(128, 10))
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(40):
        for index in torch.randperm(len(x)).split(32):
            loss = nn.functional.cross_entropy(model(x[index]), torch.from_numpy(labels)[index])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return float((model(test).argmax(1).numpy() == data.test_y).mean())


def decide(browser: Browser, truth: np.ndarray) -> int:
    """Decide about every suspect as one who knows the truth would; return the number of suspects."""
    total = int(browser.text("#place").split()[-1])
    for _ in range(total):
        name, given, suggested = browser.js(
            "['name', 'given', 'suggested'].map(id => document.getElementById(id).textContent)"
        )
        right = NAMES[truth[int(Path(name).stem)]]
        if right in (given, suggested):
            browser.press("k" if right == given else "a")
        else:
            browser.press("c", *right)
            browser.press("Enter")
    return total


def test_from_a_folder_with_wrong_labels_to_a_better_network(tmp_path: Path) -> None:
    data = subset(DATASET.load(DATASET.asset_folder), 500, 1000, seed=0)
    photos, audit = tmp_path / "photos", tmp_path / "photos-audit"
    write(photos, data)
    before = {path: path.stat().st_mtime_ns for path in photos.rglob("*")}
    assert main([str(photos), "--network", "pixels", "--size", "16", "--threads", "1"]) == 0
    with Browser(tmp_path / "chromium") as browser:
        browser.open(audit / "review.html")
        shown = decide(browser, data.train_y)
        browser.click("#export")
        decisions = browser.downloaded("decisions.csv")
        assert browser.problems() == []
    fixed = tmp_path / "photos-fixed"
    assert main([str(photos), "--apply", str(decisions), "--copy", str(fixed)]) == 0
    assert {path: path.stat().st_mtime_ns for path in photos.rglob("*")} == before
    wrong = {name: np.mean(read(folder)[1] != data.train_y) for name, folder in (("given", photos), ("fixed", fixed))}
    assert shown < 350 and wrong["given"] > 0.25 and wrong["fixed"] < 0.4 * wrong["given"]
    assert main([str(audit / "labels.csv"), "--network", "pixels", "--size", "16", "--threads", "1"]) == 0  # once more
    assert accuracy(fixed, data) > accuracy(photos, data) + 0.05
