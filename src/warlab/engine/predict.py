"""What a finished run predicts on its training images, as a file that other runs read."""

from pathlib import Path

import torch

from warlab.artefacts.run_config import RunConfig
from warlab.common.files import write_arrays
from warlab.engine.build import Parts
from warlab.engine.inputs import RunFiles
from warlab.engine.weights import finished_run
from warlab.methods.base import evaluating


def predict_run(run: RunConfig, files: RunFiles, weights: Path, out: Path, threads: int) -> None:
    """Write `probabilities` (N, C) by the number of the sample."""
    parts = finished_run(run, files.read(), weights, threads)
    write_arrays(out, probabilities=probabilities(parts).cpu().numpy())


def probabilities(parts: Parts) -> torch.Tensor:
    """softmax of the scores in evaluation mode, averaged over the networks: (N, C)"""
    with evaluating(*parts.models):
        scores = [parts.method.predict(parts.models, batch.x) for batch in parts.data.in_order()]
    return torch.cat([one.softmax(2).mean(0) for one in scores])
