"""Curves of running trainings for TensorBoard: `log: tensorboard` in the configuration."""

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from warlab.errors import WarlabError

LOG = "WARLAB_LOG"  # the variable that gives the setting `log` to the processes of jobs
FOLDER = "tensorboard"  # in the folder of a run


def use_log(kind: str) -> None:
    """Let the trainings that this process starts write curves, if the package for it is installed."""
    if find_spec(kind) is None:
        raise WarlabError(f"log: {kind} needs its package: pip install -c requirements.txt -e .[{kind}]")
    os.environ[LOG] = kind


def curves_of(out: Path) -> "Curves | None":
    """Return what writes the curves of the run in this folder, if they are asked for."""
    return Curves(out / FOLDER) if os.environ.get(LOG) else None


class Curves:
    """Called with all rows after every epoch. The first call replaces what an earlier process of the run has written,
    so that every epoch is there once."""

    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        shutil.rmtree(folder, ignore_errors=True)
        self.written = 0
        self.writer: Any = SummaryWriter(folder)

    def __call__(self, rows: Sequence[Mapping[str, float]]) -> None:
        for row in rows[self.written :]:
            for name, value in row.items():
                if name != "epoch" and value is not None:
                    self.writer.add_scalar(name, value, row["epoch"])
        self.written = len(rows)
        self.writer.flush()
