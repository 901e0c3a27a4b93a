"""Predictions, features and maps of a finished run, computed with its weights."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from warlab.artefacts.run_config import RunConfig
from warlab.common.files import write_arrays
from warlab.engine.build import RunFiles, RunInputs, build_parts
from warlab.engine.device import device_settings
from warlab.engine.images import Evaluator, SampleSet
from warlab.engine.tiles import TileEvaluator
from warlab.errors import WarlabError, reason
from warlab.methods.base import Method, evaluating, features

BATCH = 500  # images whose features are computed at once


def predict_run(run: RunConfig, files: RunFiles, weights: Path, out: Path, threads: int) -> None:
    """Write the `probabilities` (N, C) of all training images, in their order: softmax in evaluation mode, averaged
    over the networks. Other runs read them. Images that the run has held out are among them."""
    whole = replace(run, training={**run.training, "validation": 0.0})
    samples, method, models = _load_trained(whole, files.read(), weights, threads)
    with evaluating(*models):
        scores = [method.predict(models, batch.x) for batch in samples.data.ordered_batches()]
    write_arrays(out, probabilities=torch.cat([one.softmax(2).mean(0) for one in scores]).cpu().numpy())


def write_activations(run: RunConfig, files: RunFiles, weights: Path, out: Path, threads: int) -> None:
    """Write the features (N, D) of the test images, the vector before the classifier, with labels, class_names, run
    and data."""
    inputs = files.read()
    samples, _, models = _load_trained(run, inputs, weights, threads)
    if not isinstance(samples.evaluate, Evaluator):
        raise WarlabError("Features of test images need a dataset of images; this one has tiles.")
    net, images = models[0], samples.evaluate.images
    with evaluating(net):
        vectors = [features(net, images[start : start + BATCH]) for start in range(0, len(images), BATCH)]
    write_arrays(
        out,
        features=torch.cat(vectors).cpu().numpy(),
        labels=inputs.data.arrays["test_y"],
        class_names=np.array(inputs.data.about.class_names),
        run=np.array(run.path),
        data=np.array(inputs.data.about.data),
    )


def map_run(run: RunConfig, files: RunFiles, weights: Path, threads: int) -> np.ndarray:
    """Return the classes of all pixels of the test tiles, flat (P,) uint8, predicted by the first network."""
    samples, method, models = _load_trained(run, files.read(), weights, threads)
    if not isinstance(samples.evaluate, TileEvaluator):
        raise WarlabError("Maps need a dataset of tiles; this one has images.")
    return np.concatenate([maps[0].reshape(-1) for maps in samples.evaluate.maps(method, models)])


def _load_trained(
    run: RunConfig, inputs: RunInputs, weights: Path, threads: int
) -> tuple[SampleSet, Method, Sequence[nn.Module]]:
    """Return the samples, method and networks of a run, with its final weights. Only tensors are read: a file that is a
    program, damaged, or of another network is refused and not run."""
    device_settings(threads, run.device)
    samples, method, networks = build_parts(run, inputs)
    models = networks(0)
    try:
        saved = torch.load(weights, weights_only=True, map_location="cpu")
        for model, state in zip(models, saved, strict=True):
            model.load_state_dict(state)
    except Exception as error:  # such files raise anything
        raise WarlabError(
            f"{weights} are not the weights of this run ({reason(error)}); delete them and run again."
        ) from error
    return samples, method, models
