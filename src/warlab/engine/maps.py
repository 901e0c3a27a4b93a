"""The label maps of whole test tiles by the weights of a finished run."""

from pathlib import Path

import numpy as np

from warlab.artefacts.run_config import RunConfig
from warlab.engine.inputs import RunFiles
from warlab.engine.tiles import TileEvaluator
from warlab.engine.weights import finished_run


def map_run(run: RunConfig, files: RunFiles, weights: Path, threads: int) -> np.ndarray:
    """Classes of all test pixels, flat (P,) uint8; of two networks the first one's."""
    parts = finished_run(run, files.read(), weights, threads)
    assert isinstance(parts.evaluate, TileEvaluator)
    return np.concatenate([maps[0].reshape(-1) for maps in parts.evaluate.maps(parts.method, parts.models)])
