"""Images as samples: what the one loop trains on and is tested on, apart from tiles."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from warlab.artefacts.run_config import Training
from warlab.engine.batches import Images, Material, TrainingData
from warlab.engine.evaluate import Evaluator
from warlab.engine.inputs import DataDescription


def material(
    arrays: Mapping[str, np.ndarray],
    about: DataDescription,
    labels: Tensor,
    trusted: Tensor,
    training: Training,
    seed: int,
) -> Material:
    device = labels.device
    train, test = (Images(arrays[f"{split}_x"], about.mean, about.std, device) for split in ("train", "test"))
    return Material(
        channels=arrays["train_x"].shape[1],
        data=TrainingData(train, labels, training["batch_size"], seed),
        evaluate=Evaluator(test, torch.from_numpy(arrays["test_y"]).to(device), trusted),
    )
