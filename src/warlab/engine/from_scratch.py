"""A network trained from scratch judges the labels that it is trained on, in two rounds: `warlab audit FOLDER --train`.

`LabelAudit` records each round before the network memorises wrong labels. The very first epochs say how many labels
look wrong at most, and whether flips are one-sided; somewhat later ones predict better. The second round trains on the
kept samples only, but its predictions for all are recorded.
"""

import logging
from collections.abc import Callable

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from warlab.audit import LabelAudit
from warlab.audit.judge import Judgement, Predictions, at_temperature, drop_suspects, weigh
from warlab.common.progress import Progress
from warlab.common.seeds import derive_seed
from warlab.engine.device import best_device, place
from warlab.nets.cnn9 import Net

logger = logging.getLogger(__name__)
EPOCHS = 8
FIRST, LATER = range(5), range(3, 8)  # epochs that are recorded
BATCH = 64
WIDTH = 1 / 8  # of the network of the paper
Images = Callable[[np.ndarray], np.ndarray]  # numbers (B,) → uint8 (B, 3, H, W)


def judge_by_training(images: Images, labels: np.ndarray, classes: int) -> Judgement:
    """Judge all labels by the predictions of a small network during its training."""
    logger.info(f"judging {len(labels)} labels, first round")
    first, later = train(images, labels, classes, np.ones(len(labels), bool), 1)
    joint, _ = drop_suspects(first, labels)
    _, kept = drop_suspects(later, labels)
    logger.info("second round, without the suspects of the first")
    _, second = train(images, labels, classes, kept, 2)
    tempered = at_temperature(np.log(second + 1e-9), labels, kept)
    return weigh(Predictions(joint, kept, later, tempered, second), labels, round(len(labels) - np.trace(joint)))


def train(
    images: Images, labels: np.ndarray, classes: int, kept: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Train on the kept samples. Return the mean probabilities (N, classes) for all in the FIRST and LATER epochs."""
    torch.manual_seed(derive_seed("audit", "train", number))
    audits = [LabelAudit(len(labels), classes, epochs) for epochs in (FIRST, LATER)]
    device, progress = best_device(), Progress(f"round {number} of 2: {{}} of {{}} images", EPOCHS * len(labels))
    net: torch.nn.Module = place(Net(3, classes, width=WIDTH, dropout=0.0, head_dropout=0.0), device).train()
    optimiser = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(EPOCHS):
        done = epoch * len(labels)
        for part in torch.randperm(len(labels)).split(BATCH):
            index = part.numpy()
            logits, given = net(torch.from_numpy(images(index)).to(device).float() / 127.5 - 1), labels[index]
            for audit in audits:
                audit.update(logits, given, index, epoch=epoch)
            inside = torch.from_numpy(np.flatnonzero(kept[index])).to(device)
            if len(inside):
                loss = cross_entropy(logits[inside], torch.from_numpy(given).to(device)[inside])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            progress(done := done + len(index))
    first, later = (audit.means().probabilities for audit in audits)
    return first, later
