# %% [markdown]
# # Find, review, fix, retrain
#
# A folder of images has wrong labels. This page finds them with one command, decides about each suspect, writes a
# corrected folder, and trains a network before and after. Everything takes about 40 seconds of one core.
#
# The folder has 1000 of the Fashion-MNIST images that come with warlab; a fifth of the images are moved to a wrong
# class. We know which, so that we can play the person who reviews the suspects, and measure what it is worth.

# %%
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn.functional import cross_entropy

from warlab.audit.report import AuditResult
from warlab.audit.review import Suspects
from warlab.data.images_in_memory import subset
from warlab.data.sets.fashion_mnist import DATASET

torch.set_num_threads(1)
data = subset(DATASET.load(DATASET.asset_folder), 1000, 1000, seed=0)
classes = [name.replace("/", "-") for name in DATASET.classes.names]  # T-shirt/top cannot be the name of a folder
work = Path(tempfile.mkdtemp())


def make_folder(folder, seed):
    """Write the images into a folder per class, a fifth of them into a wrong one."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(data.train_y)) < 0.2
    given = np.where(wrong, (data.train_y + rng.integers(1, 10, len(wrong))) % 10, data.train_y)
    for number, (image, label) in enumerate(zip(data.train_x, given, strict=True)):
        (folder / classes[label]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image[0]).save(folder / classes[label] / f"{number:04}.png")
    return wrong.sum()


print(make_folder(work / "photos", seed=0), "of 1000 labels are wrong")

# %% [markdown]
# ## Find
#
# One command, no configuration. These pictures are small and grey, so the pixels are enough; without these options the
# images are judged by the features of a pre-trained network, which photographs need, on all cores.


# %%
def warlab(*words):
    command = [sys.executable, "-m", "warlab", *map(str, words)]
    return subprocess.run(command, cwd=work, check=True, capture_output=True, text=True).stdout


print(warlab("audit", "photos", "--network", "pixels", "--size", 16, "--threads", 1))

# %% [markdown]
# ## Review
#
# `photos-audit/review.html` shows the suspects one at a time or as a grid. Open it in a browser; nothing leaves your
# machine. `A` accepts the suggested label, `K` keeps the given one, `C` chooses another class, `D` drops the image, `U`
# leaves it undecided and `Z` undoes. *Export* saves `decisions.csv`.
#
# Here the known truth decides, and writes the same file.


# %%
def review(name):
    """Decide about every suspect on the page by the truth; return how many labels were wrong, of how many."""
    shown = Suspects.of(AuditResult.load(work / f"{name}-audit"))
    rows = []
    for file, label in zip(shown.files, shown.labels, strict=True):
        truth = classes[data.train_y[int(Path(file).stem)]]
        given = shown.classes[label]
        rows.append([file, given, "keep", ""] if truth == given else [file, given, "relabel", truth])
    with (work / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["file", "label", "decision", "new_label"], *rows])
    return sum(row[2] == "relabel" for row in rows), len(rows)


print("{} of {} suspects have a wrong label".format(*review("photos")))

# %% [markdown]
# ## Fix
#
# `--apply` writes `photos-audit/labels.csv`, which the workflow reads, and with `--copy` also a corrected folder. Your
# folder stays as it is.

# %%
print(warlab("audit", "photos", "--apply", "photos.csv", "--copy", "photos-fixed"))

# %% [markdown]
# To train on it in the workflow, write `local_data: {image_folder: photos-audit/labels.csv}`
# ([Your own data](../your-own-data.md)).
#
# ## Retrain
#
# The same small network, trained on the folder before and after, and tested on 1000 images with true labels. We walk
# the whole circle for three seeds: other wrong labels, another audit, another network.


# %%
def read(folder):
    """Return the images and labels of a folder, in the order of the numbers of the images."""
    files = sorted(folder.glob("*/*.png"), key=lambda file: file.stem)
    images = np.stack([np.asarray(Image.open(file)) for file in files])
    return images[:, None], torch.tensor([classes.index(file.parent.name) for file in files])


def scaled(images):
    return nn.functional.avg_pool2d(torch.from_numpy(images).float() / 127.5 - 1, 2)


def accuracy(folder, seed, epochs=15):
    torch.manual_seed(seed)
    x, y = read(folder)
    x, test_x = scaled(x), scaled(data.test_x)
    model = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveMaxPool2d(3)),
        *(nn.Flatten(), nn.Linear(32 * 9, 10)),
    )
    optimiser = torch.optim.Adam(model.parameters(), 2e-3)
    for _ in range(epochs):
        for index in torch.randperm(len(x)).split(50):
            loss = cross_entropy(model(x[index]), y[index])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    with torch.no_grad():
        return 100 * (model.eval()(test_x).argmax(1) == torch.from_numpy(data.test_y)).float().mean().item()


before, after = [], []
for seed in range(3):
    name = f"walk{seed}"
    wrong = make_folder(work / name, seed)
    warlab("audit", name, "--network", "pixels", "--size", 16, "--threads", 1)
    found, seen = review(name)
    warlab("audit", name, "--apply", f"{name}.csv", "--copy", f"{name}-fixed")
    before.append(accuracy(work / name, seed))
    after.append(accuracy(work / f"{name}-fixed", seed))
    print(f"seed {seed}: {found} of {wrong} wrong labels among {seen} suspects; {before[-1]:.1f} → {after[-1]:.1f} %")

# %%
gains = np.subtract(after, before)
half = 4.303 * gains.std(ddof=1) / np.sqrt(3)  # Student's t of three seeds, 95 %
print(f"test accuracy {np.mean(before):.1f} → {np.mean(after):.1f} %: {gains.mean():+.1f} ± {half:.1f} points")

# %% [markdown]
# The interval is that of the mean gain at 95 %, from three seeds. A person decides less well than the known truth, so
# this is what a careful review can gain at most. [Find wrong labels](../find-wrong-labels.md) explains the scores.
