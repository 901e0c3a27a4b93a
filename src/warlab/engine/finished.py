"""What a finished run says of its data by its weights: predictions, features and maps."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from warlab.artefacts.run_config import RunConfig
from warlab.common.files import write_arrays
from warlab.engine.build import build_trainer
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.device import device_settings
from warlab.engine.inputs import RunFiles, RunInputs
from warlab.engine.train import Trainer
from warlab.errors import WarlabError
from warlab.methods.base import evaluating, features

BATCH = 500  # images whose features are computed at once


def predict_run(run: RunConfig, files: RunFiles, weights: Path, out: Path, threads: int) -> None:
    """Write `probabilities` (N, C) of the training images by their number: softmax in evaluation mode, averaged over
    the networks. Other runs read them."""
    trainer = _finished(run, files.read(), weights, threads)
    with evaluating(*trainer.models):
        scores = [trainer.method.predict(trainer.models, batch.x) for batch in trainer.data.in_order()]
    write_arrays(out, probabilities=torch.cat([one.softmax(2).mean(0) for one in scores]).cpu().numpy())


def write_activations(run: RunConfig, files: RunFiles, weights: Path, out: Path, threads: int) -> None:
    """Write features (N, D) of the test images, the vector before the classifier; labels, class_names, and which run
    and data they are of."""
    inputs = files.read()
    trainer = _finished(run, inputs, weights, threads)
    evaluator: Any = trainer.evaluate
    net, images = trainer.models[0], evaluator.images
    with evaluating(net):
        found = [features(net, images[start : start + BATCH]) for start in range(0, len(images), BATCH)]
    write_arrays(
        out,
        features=torch.cat(found).cpu().numpy(),
        labels=inputs.data.arrays["test_y"],
        class_names=np.array(inputs.data.about.class_names),
        run=np.array(run.path),
        data=np.array(inputs.data.about.data),
    )


def map_run(run: RunConfig, files: RunFiles, weights: Path, threads: int) -> np.ndarray:
    """Classes of all pixels of the test tiles, flat (P,) uint8; of two networks the first one's."""
    trainer = _finished(run, files.read(), weights, threads)
    evaluator: Any = trainer.evaluate
    return np.concatenate([maps[0].reshape(-1) for maps in evaluator.maps(trainer.method, trainer.models)])


def _finished(run: RunConfig, inputs: RunInputs, path: Path, threads: int) -> Trainer:
    """The run with its final weights. A file that is a program, damaged, or of another network is refused and not run:
    only tensors are read."""
    device_settings(threads, run.device)
    trainer = build_trainer(run, inputs, CheckpointFolder(path.parent, ""))
    try:
        saved = torch.load(path, weights_only=True, map_location="cpu")
        for model, state in zip(trainer.models, saved, strict=True):
            model.load_state_dict(state)
    except Exception as error:  # such files raise anything
        reason = " ".join(str(error).split())[:200]
        raise WarlabError(f"{path} are not the weights of this run ({reason}); delete them and run again.") from error
    return trainer
