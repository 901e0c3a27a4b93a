"""A network trained from scratch judges the labels that it is trained on, in two rounds: `warlab audit FOLDER --train`.

`LabelAudit` records each round before the network memorises wrong labels. The very first epochs say how many labels
look wrong at most, and whether flips are one-sided; somewhat later ones predict better. The second round trains on the
kept samples only, but its predictions for all are recorded.

Each round has a checkpoint, written after each epoch and kept at the end: a training that was stopped continues to the
same bits, and one that is finished is not repeated.
"""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from warlab.audit import LabelAudit
from warlab.audit.judge import FEW, Judgement, Predictions, at_temperature, drop_suspects, weigh
from warlab.common.files import digest
from warlab.common.progress import Progress
from warlab.common.seeds import derive_seed
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.device import best_device, place
from warlab.nets.cnn9 import Net

logger = logging.getLogger(__name__)
EPOCHS = 8
FIRST, LATER = range(5), range(3, 8)  # epochs that are recorded
BATCH = 64
WIDTH = 1 / 8  # of the network of the paper
Images = Callable[[np.ndarray], np.ndarray]  # numbers (B,) → uint8 (B, 3, H, W)


def judge_by_training(images: Images, labels: np.ndarray, classes: int, folder: Path, contents: bytes) -> Judgement:
    """Judge all labels by the predictions of a small network during its training.

    `folder` gets the checkpoints, and `contents` identifies the images.
    """

    def trained(kept: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        code = Path(__file__).read_bytes()
        same = b"".join([code, contents, labels.tobytes(), kept.tobytes(), f"{classes} {number}".encode()])
        return train(images, labels, classes, kept, number, CheckpointFolder(folder, digest(same)))

    if len(labels) < FEW:
        logger.info(
            f"{len(labels)} images are too few to train on from scratch; this order is hardly better than chance"
        )
    logger.info(f"judging {len(labels)} labels, first round")
    first, later = trained(np.ones(len(labels), bool), 1)
    joint, _ = drop_suspects(first, labels)
    _, kept = drop_suspects(later, labels)
    logger.info("second round, without the suspects of the first")
    _, second = trained(kept, 2)
    tempered = at_temperature(np.log(second + 1e-9), labels, kept)
    return weigh(Predictions(joint, kept, later, tempered, second), labels, round(len(labels) - np.trace(joint)))


def train(
    images: Images, labels: np.ndarray, classes: int, kept: np.ndarray, number: int, checkpoints: CheckpointFolder
) -> tuple[np.ndarray, np.ndarray]:
    """Train on the kept samples. Return the mean probabilities (N, classes) for all in the FIRST and LATER epochs."""
    torch.manual_seed(derive_seed("audit", "train", number))
    audits = [LabelAudit(len(labels), classes, epochs) for epochs in (FIRST, LATER)]
    device = best_device()
    net: torch.nn.Module = place(Net(3, classes, width=WIDTH, dropout=0.0, head_dropout=0.0), device).train()
    optimiser = torch.optim.Adam(net.parameters(), 1e-3)
    start = 0
    if state := checkpoints.load():
        start = state["epochs"]
        net.load_state_dict(state["net"])
        optimiser.load_state_dict(state["optimiser"])
        for audit, sums in zip(audits, state["audits"], strict=True):
            audit.load_state_dict(sums)
        torch.set_rng_state(state["random"])
    progress = Progress(f"round {number} of 2: {{}} of {{}} images", EPOCHS * len(labels), start * len(labels))
    for epoch in range(start, EPOCHS):
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
        checkpoints.save(
            {
                "epochs": epoch + 1,
                "net": net.state_dict(),
                "optimiser": optimiser.state_dict(),
                "audits": [audit.state_dict() for audit in audits],
                "random": torch.get_rng_state(),
            }
        )
    first, later = (audit.means().probabilities for audit in audits)
    return first, later
