"""A network trained from scratch judges the labels that it is trained on, in two rounds: `warlab audit FOLDER --train`.

One network for each of two folds predicts the samples of the other fold, so that none knows its own labels. The mean
predictions of the second half of the epochs, in which the network changes less, are recorded by `LabelAudit`.
"""

import logging
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from warlab.audit import LabelAudit
from warlab.audit.heads import folds
from warlab.audit.judge import Judgement, Predictions, at_temperature, drop_suspects, weigh
from warlab.common.progress import Progress
from warlab.common.seeds import derive_seed
from warlab.engine.device import best_device, place
from warlab.nets.cnn9 import Net

logger = logging.getLogger(__name__)
FOLDS = 2
EPOCHS = 20
BATCH = 64
WIDTH = 1 / 8  # of the network of the paper
Images = Callable[[np.ndarray], np.ndarray]  # numbers (B,) → uint8 (B, 3, H, W)


def judge_by_training(images: Images, labels: np.ndarray, classes: int) -> Judgement:
    """Judge all labels by predictions of networks that were trained on other images of the same folder."""
    logger.info(f"judging {len(labels)} labels, first round")
    first = predict(images, labels, classes, np.ones(len(labels), bool), 1)
    joint, kept = drop_suspects(first, labels)
    logger.info("second round, without the suspects of the first")
    second = predict(images, labels, classes, kept, 2)
    tempered = at_temperature(np.log(second + 1e-9), labels, kept)
    return weigh(Predictions(joint, kept, first, tempered, second), labels)


def predict(images: Images, labels: np.ndarray, classes: int, kept: np.ndarray, number: int) -> np.ndarray:
    """Return probabilities (N, classes) for all samples by networks trained on kept ones of the other fold."""
    audit, fold = LabelAudit(len(labels), classes), folds(labels, FOLDS)
    progress = Progress(f"round {number} of 2: epoch {{}} of {{}}", FOLDS * EPOCHS)
    device = best_device()

    def batch(index: np.ndarray) -> Tensor:
        return torch.from_numpy(images(index)).to(device).float() / 127.5 - 1

    for each in range(FOLDS):
        torch.manual_seed(derive_seed("audit", "train", number, each))
        net: torch.nn.Module = place(Net(3, classes, width=WIDTH), device)
        optimiser = torch.optim.Adam(net.parameters(), 1e-3)
        inside, others = np.flatnonzero(kept & (fold != each)), np.flatnonzero(fold == each)
        for epoch in range(EPOCHS):
            net.train()
            for part in torch.randperm(len(inside)).split(BATCH):
                index = inside[part.numpy()]
                loss = cross_entropy(net(batch(index)), torch.from_numpy(labels[index]).to(device))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            net.eval()
            if epoch >= EPOCHS // 2:
                with torch.inference_mode():
                    for index in np.array_split(others, -(-len(others) // 256)):
                        audit.update(net(batch(index)), labels[index], index)
            progress(each * EPOCHS + epoch + 1)
    return audit.means().probabilities
