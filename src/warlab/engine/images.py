"""Images as samples: what the one loop trains on and is tested on, apart from tiles."""

import torch

from warlab.engine.batches import Images, Material, RunData, TrainingData
from warlab.engine.evaluate import Evaluator


def material(given: RunData) -> Material:
    arrays, about, labels = given.arrays, given.about, given.labels
    device = labels.device
    train, test = (Images(arrays[f"{split}_x"], about.mean, about.std, device) for split in ("train", "test"))
    return Material(
        channels=arrays["train_x"].shape[1],
        data=TrainingData(train, labels, given.training["batch_size"], given.seed),
        evaluate=Evaluator(test, torch.from_numpy(arrays["test_y"]).to(device), given.trusted),
    )
