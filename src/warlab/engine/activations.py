"""The features of the test images in a trained network: the vector before its classifier."""

from pathlib import Path

import numpy as np
import torch

from warlab.artefacts.run_config import RunConfig
from warlab.common.files import write_arrays
from warlab.engine.evaluate import Evaluator
from warlab.engine.inputs import RunFiles
from warlab.engine.validation import WithValidation
from warlab.engine.weights import finished_run
from warlab.methods.base import evaluating, features


def write_activations(run: RunConfig, files: RunFiles, weights: Path, out: Path, threads: int) -> None:
    """Write features (N, D), labels, class_names, and which run and data they are of."""
    inputs = files.read()
    parts = finished_run(run, inputs, weights, threads)
    test = parts.evaluate.test if isinstance(parts.evaluate, WithValidation) else parts.evaluate
    assert isinstance(test, Evaluator)  # images in memory: the figure is of Fashion-MNIST
    net, images = parts.models[0], test.images
    with evaluating(net):
        found = [features(net, images[start : start + 500]) for start in range(0, len(images), 500)]
    write_arrays(
        out,
        features=torch.cat(found).cpu().numpy(),
        labels=inputs.data.arrays["test_y"],
        class_names=np.array(inputs.data.about.class_names),
        run=np.array(run.path),
        data=np.array(inputs.data.about.data),
    )
