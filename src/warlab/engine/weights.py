"""A finished run: its networks with their weights."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from warlab.artefacts.run_config import RunConfig
from warlab.engine.build import Parts, build_parts
from warlab.engine.device import device_settings
from warlab.engine.inputs import RunInputs
from warlab.errors import WarlabError


def finished_run(run: RunConfig, inputs: RunInputs, weights: Path, threads: int) -> Parts:
    device_settings(threads, run.device)
    parts = build_parts(run, inputs)
    load_weights(weights, parts.models)
    return parts


def load_weights(path: Path, models: Sequence[nn.Module]) -> None:
    """Tensors only: a file that is a program, damaged, or of another network is refused and not run."""
    try:
        saved = torch.load(path, weights_only=True, map_location="cpu")
        for model, state in zip(models, saved, strict=True):
            model.load_state_dict(state)
    except Exception as error:  # such files raise anything
        reason = " ".join(str(error).split())[:200]
        raise WarlabError(f"{path} are not the weights of this run ({reason}); delete them and run again.") from error
