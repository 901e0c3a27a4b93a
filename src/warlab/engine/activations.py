"""What a trained network sees in the test images: the vector before its classifier."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from warlab.artefacts.prepared_data import PreparedData
from warlab.common.files import write_arrays
from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.evaluate import Evaluator
from warlab.engine.run import Files, build_trainer, device_settings
from warlab.engine.validation import WithValidation
from warlab.engine.weights import load_weights
from warlab.methods.base import evaluating


def write_activations(
    run: dict[str, Any], files: Files, weights: Path, out: Path, threads: int, say: Callable[[str], None]
) -> None:
    """Write features (N, D), labels, class_names, and which run and data they are of."""
    device_settings(threads)
    trainer = build_trainer(run, files, CheckpointFolder(out.parent, "activations", say), say)
    net = trainer.models[0]
    load_weights(weights, trainer.models)
    test = trainer.evaluate.test if isinstance(trainer.evaluate, WithValidation) else trainer.evaluate
    assert isinstance(test, Evaluator)  # images in memory: the figure is of Fashion-MNIST
    images = test.images
    with evaluating(net):
        parts = [net.features(images[start : start + 500]) for start in range(0, len(images), 500)]  # type: ignore[operator]
    data = PreparedData.load(files.data)
    name = "/".join(str(part) for part in (run["dataset"], run["noise"], run["net"]["name"], run["method"]["id"]))
    write_arrays(
        out,
        features=torch.cat(parts).cpu().numpy(),
        labels=data.arrays["test_y"],
        class_names=np.array(data.about.class_names),
        run=np.array(f"{name}/seed{run['seed']}"),
        data=np.array(data.about.data),
    )
