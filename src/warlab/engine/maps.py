"""The label maps of whole test tiles by the weights of a finished run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from warlab.engine.checkpoint import CheckpointFolder
from warlab.engine.run import Files, build_trainer, device_settings
from warlab.engine.tiles import TileEvaluator
from warlab.engine.weights import load_weights


def map_run(
    run: dict[str, Any], files: Files, weights: Path, out: Path, threads: int, say: Callable[[str], None]
) -> np.ndarray:
    """Classes of all test pixels, flat (P,) uint8; of two networks the first one's."""
    device_settings(threads)
    trainer = build_trainer(run, files, CheckpointFolder(out, "maps", say), say)
    load_weights(weights, trainer.models)
    assert isinstance(trainer.evaluate, TileEvaluator)
    return np.concatenate([maps[0].reshape(-1) for maps in trainer.evaluate.maps(trainer.method, trainer.models)])
