"""What a finished run predicts on its training images, as a file that other runs read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from warlab.common.files import write_arrays
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.run import Files, build_trainer, device_settings
from warlab.engine.train import Trainer
from warlab.engine.weights import load_weights
from warlab.methods.base import evaluating


def predict_run(
    run: dict[str, Any], files: Files, weights: Path, out: Path, threads: int, say: Callable[[str], None]
) -> None:
    """Write `probabilities` (N, C) by the number of the sample."""
    device_settings(threads)
    trainer = build_trainer(run, files, CheckpointFolder(out.parent, "predictions", say), say)
    load_weights(weights, trainer.models)
    write_arrays(out, probabilities=probabilities(trainer).cpu().numpy())


def probabilities(trainer: Trainer) -> torch.Tensor:
    """softmax of the scores in evaluation mode, averaged over the networks: (N, C)"""
    with evaluating(*trainer.models):
        parts = [trainer.method.predict(trainer.models, batch.x) for batch in trainer.data.in_order()]
    return torch.cat([scores.softmax(2).mean(0) for scores in parts])
