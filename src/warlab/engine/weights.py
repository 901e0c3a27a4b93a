"""The weights of a finished run, put back into its networks."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from warlab.errors import WarlabError


def load_weights(path: Path, models: Sequence[nn.Module]) -> None:
    """Tensors only: a file that is a program, damaged, or of another network is refused and not run."""
    try:
        saved = torch.load(path, weights_only=True, map_location="cpu")
        for model, state in zip(models, saved, strict=True):
            model.load_state_dict(state)
    except Exception as error:  # such files raise anything
        reason = " ".join(str(error).split())[:200]
        raise WarlabError(f"{path} are not the weights of this run ({reason}); delete them and run again.") from error
