# %% [markdown]
# # See whether WAR helps on your own images
#
# You have images and labels. Some of the labels are wrong, and you do not know which. This page trains a small
# network with and without WAR on such data, with three seeds, and looks whether the difference is more than chance.
# Everything runs in a minute or two on one core.
#
# Here, "your images" are 2000 of the Fashion-MNIST images that come with warlab, as an array of bytes; replace them by
# your own. We make 40 % of the labels of five classes wrong, which is a fifth of all labels, and keep the true
# labels only to measure the accuracy.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy import stats
from torch import nn
from torch.nn.functional import cross_entropy

from warlab import WARLoss, word_cost
from warlab.data.images_in_memory import pool, subset
from warlab.data.sets.fashion_mnist import DATASET
from warlab.noise import transition_matrix

torch.set_num_threads(1)
arrays = pool(subset(DATASET.load(DATASET.asset_folder), 2000, 1000, seed=0), 4)
scaled = [torch.from_numpy(images).float() / 127.5 - 1 for images in (arrays.train_x, arrays.test_x)]
train_x, test_x = scaled
test_y = torch.from_numpy(arrays.test_y)

flips = transition_matrix("asym", 0.4, "fashion_mnist", 10)  # row: true class, column: label
rng = np.random.default_rng(0)
train_y = torch.tensor([rng.choice(10, p=flips[label]) for label in arrays.train_y])
print(tuple(train_x.shape), f"{(train_y.numpy() != arrays.train_y).mean():.0%} of the labels are wrong")

# %% [markdown]
# ## The ground cost
#
# WAR needs to know which classes resemble each other. Their names are enough: the cost is made from word vectors, and
# is large where the words are close. If your classes have no meaningful names, use `centroid_cost(train_x, train_y)`.

# %%
words = ["t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"]
cost = word_cost(words)
print(f"shirt and t-shirt {cost[6, 0]:.2f}, shirt and bag {cost[6, 8]:.2f}")

# %% [markdown]
# ## The training loop
#
# This is an ordinary loop. WAR is the one line below the comment; it is left out in the first epochs, the warm-up. The
# network has dropout, since with the paper's settings WAR does next to nothing without it; dropout alone does not mean
# that it helps ([Will it help me?](../loss.md#will-it-help-me)).


# %%
def network():
    return nn.Sequential(
        *(nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25)),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveMaxPool2d(2)),
        *(nn.Flatten(), nn.Dropout(0.25), nn.Linear(64 * 4, 10)),
    )


def train(seed, war=None, epochs=25, warm_up=4, beta=10):
    torch.manual_seed(seed)
    model, accuracy = network(), []
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    for epoch in range(epochs):
        model.train()
        for index in torch.randperm(len(train_x)).split(64):
            logits = model(train_x[index])
            loss = cross_entropy(logits, train_y[index])
            if war is not None and epoch >= warm_up:
                # the regulariser: no label, one more line
                loss = loss + beta * war(model, train_x[index], logits)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        with torch.no_grad():
            predicted = model.eval()(test_x).argmax(1)
        accuracy.append(100 * (predicted == test_y).float().mean().item())
    return accuracy


# %% [markdown]
# ## With and without, three seeds
#
# One pair of trainings says little: another seed moves the accuracy by some points. So each seed trains both from the
# same initial weights, and the differences give an interval, Student's t at 95 %.

# %%
seeds = range(3)
curves = {"cross entropy": [train(seed) for seed in seeds], "with WAR": [train(seed, WARLoss(cost)) for seed in seeds]}
ends = {name: np.array(runs)[:, -5:].mean(1) for name, runs in curves.items()}
for name, end in ends.items():
    print(f"{name:14} mean of the last five epochs {end.mean():.1f} %, by seed {end.round(1)}")
gaps = ends["with WAR"] - ends["cross entropy"]
low, high = stats.ttest_1samp(gaps, 0).confidence_interval()
print(f"WAR minus cross entropy: {gaps.mean():+.1f} points ({low:+.1f} to {high:+.1f})")

# %%
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for (name, runs), colour in zip(curves.items(), ("C0", "C1"), strict=True):
    axes.plot(range(1, 26), np.transpose(runs), colour, lw=0.7, alpha=0.5)
    axes.plot(range(1, 26), np.mean(runs, axis=0), colour, label=name)
axes.set(xlabel="epoch", ylabel="test accuracy (%)")
axes.legend(frameon=False)

# %% [markdown]
# The test labels are true. The accuracy falls when a network begins to memorise the wrong labels. An interval that
# contains 0 says that these runs cannot tell the two apart. One that lies below 0, as it did when this page was
# written (−10.8 to −2.4), says that WAR harms: it helps the paper's nine-layer network at the sizes of [our
# studies](../evidence/README.md), and not this small one. So make this comparison on your data before you decide.
# Without true test labels, hold out some of the labels that you have and compare on them: wrong labels make a
# difference smaller, and if they are asymmetric they may hide or reverse it.
#
# ## What to change for your data
#
# - `train_x` and `train_y`: your images, scaled to about mean 0 and standard deviation 1, and your labels.
# - `words`: the names of your classes in the order of their labels, or another [ground
#   cost](../loss.md#the-ground-cost).
# - `beta` and `warm_up`: the paper uses 10, and 15 of 60 to 150 epochs. A larger `beta` smooths more;
#   `WARLoss(cost).ratio(model, x, y)` says how much it adds to the cross entropy.
#
# To compare WAR with all other methods on a folder of images, use the workflow: [Your own
# data](../your-own-data.md).
