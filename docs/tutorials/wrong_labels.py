# %% [markdown]
# # Finding wrong labels in real human annotations
#
# CIFAR-10N (Wei et al., 2022) contains the labels that paid annotators gave to the images of CIFAR-10. In its set
# `worse`, about 40 % of them differ from the original labels. We train a small network on these human labels, let
# `LabelAudit` watch, and see which labels it suspects. The original labels are used only at the end, to judge the
# suspects.
#
# The data (140 MB) are downloaded into `data/` on first use. If that fails, the page continues with the part
# of Fashion-MNIST that comes with warlab and with labels that were made wrong on purpose. The first output says which
# data you see.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from warlab import WarlabError, WARLoss, word_cost
from warlab.audit import SCORES, LabelAudit, auroc, precision_at_errors
from warlab.data.auxiliary import cifar_n
from warlab.data.fetch import fetch
from warlab.data.images_in_memory import choose, subset
from warlab.data.sets import cifar10, fashion_mnist
from warlab.noise import transition_matrix

torch.set_num_threads(1)
torch.manual_seed(0)


def human_labels(n):
    """Images of CIFAR-10, the labels that people gave them, and the original labels."""
    folders = {one.name: Path("data", one.name, "real") for one in (cifar10.DATASET, cifar_n.RESOURCE)}
    for resource in (cifar_n.RESOURCE, cifar10.DATASET):
        fetch(resource, folders[resource.name], "real")
    arrays = cifar10.DATASET.load(folders["cifar10"])
    part = choose(arrays.train_y, n, seed=0, split="training")
    labels = cifar_n.read(folders["cifar_n"], "cifar10", real=True)["worse_label"][part]
    return arrays.train_x[part], labels, arrays.train_y[part], cifar10.DATASET


def made_labels(n):
    """Images of Fashion-MNIST, with some labels flipped to a similar class."""
    arrays = subset(fashion_mnist.DATASET.load(fashion_mnist.DATASET.asset_folder), n, None, seed=0)
    flips, rng = transition_matrix("asym", 0.4, "fashion_mnist", 10), np.random.default_rng(0)
    labels = np.array([rng.choice(10, p=flips[label]) for label in arrays.train_y])
    return arrays.train_x, labels, arrays.train_y, fashion_mnist.DATASET


try:
    images, labels, original, dataset = human_labels(6000)
    print("CIFAR-10N: labels given by people")
except WarlabError as error:
    images, labels, original, dataset = made_labels(3000)
    print("Fashion-MNIST with labels made wrong on purpose, because CIFAR-10N cannot be had here:", error)
wrong = labels != original
print(f"{len(images)} images, {wrong.mean():.0%} of their labels differ from the original ones")

# %% [markdown]
# ## The training loop, with one line for the audit
#
# `index` holds the index of each sample in the batch. The audit records the logits that the loss uses; it
# needs no extra forward pass. We train with WAR; cross entropy alone gives a list of about the same quality, as
# [this study](../evidence/audit/README.md) shows.

# %%
x = torch.from_numpy(images).float() / 127.5 - 1
x = nn.functional.avg_pool2d(x, 2)  # half the size is enough for a quick look
y = torch.from_numpy(labels)
channels = x.shape[1]
model = nn.Sequential(
    *(nn.Conv2d(channels, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)),
    *(nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveMaxPool2d(3)),
    *(nn.Flatten(), nn.Dropout(0.25), nn.Linear(64 * 9, 10)),
)
optimiser = torch.optim.Adam(model.parameters(), 2e-3)
cost = word_cost(dataset.classes.words)
war = WARLoss(cost)
audit = LabelAudit(n_samples=len(x), n_classes=10)

for epoch in range(12):
    for index in torch.randperm(len(x)).split(64):
        logits = model(x[index])
        audit.update(logits, y[index], index)  # the line for the audit
        loss = cross_entropy(logits, y[index])
        if epoch >= 3:
            loss = loss + 10 * war(model, x[index], logits)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

# %% [markdown]
# ## The suspects
#
# A suspect is a sample for which the network suggests a label other than the given one. Suspects are sorted, the most
# suspicious first.

# %%
suspects = audit.suspects(cost=cost)
print(len(suspects), "suspects; the first five:")
for row in suspects[:5]:
    given, suggested = (dataset.classes.names[row[name]] for name in ("label", "suggested"))
    print(f"  image {row['index']:5}: labelled {given}, suggested {suggested}")

# %%
figure, grid = plt.subplots(3, 8, figsize=(9, 4.2), layout="constrained")
for axes, row in zip(grid.ravel(), suspects, strict=False):
    axes.imshow(images[row["index"]].transpose(1, 2, 0).squeeze(), cmap="gray")
    given, suggested = (dataset.classes.names[row[name]] for name in ("label", "suggested"))
    right = wrong[row["index"]]
    axes.set_title(f"{given}\n→ {suggested}", fontsize=8, color="tab:green" if right else "tab:red")
    axes.axis("off")

# %% [markdown]
# Each title shows the given label → the suggested label. It is green if the given label differs from the original
# label, and red if the two agree.
#
# ## How good is the order?
#
# AUROC is the probability that a wrong label gets a higher score than a right one. If k labels are wrong, the
# precision is the share of wrong labels among the k most suspicious samples; for a random order it is the share of
# wrong labels in the data.

# %%
scores = audit.scores(cost=cost)
print(f"{'score':10} AUROC  precision")
for name in SCORES:
    print(f"{name:10} {auroc(scores[name], wrong):.3f}  {precision_at_errors(scores[name], wrong):.1%}")
print(f"{'random':10} 0.500  {wrong.mean():.1%}")

# %% [markdown]
# This is a demonstration with one small network and one seed. [Find wrong labels](../find-wrong-labels.md) explains the
# scores, and how to get the list for a folder of your own images without writing any code. Look at the suspects before
# you change a label: not all original labels of CIFAR-10 are right either.
