"""Images as samples: what the one loop trains on and is tested on, apart from tiles."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from warlab.engine.batches import Images, Material, TrainingData
from warlab.engine.evaluate import Evaluator
from warlab.engine.inputs import DataInfo
from warlab.engine.settings import Training


def material(
    arrays: Mapping[str, np.ndarray],
    info: DataInfo,
    labels: Tensor,
    trusted: Tensor,
    training: Training,
    seed: int,
) -> Material:
    device = labels.device
    train, test = (Images(arrays[f"{split}_x"], info.mean, info.std, device) for split in ("train", "test"))
    return Material(
        channels=arrays["train_x"].shape[1],
        data=TrainingData(train, labels, training.batch_size, seed),
        evaluate=Evaluator(test, torch.from_numpy(arrays["test_y"]).to(device), trusted),
    )
