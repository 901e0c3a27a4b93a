"""Recorded numbers of the smoke scale.

`python -m tests.helpers.golden_runs results/smoke/runs.csv` records them again.
"""

import json
import re
import sys
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent / "golden"
MACHINE = ["seconds", "processor_seconds", "peak_memory_mb"]  # columns that no one can repeat
KEYS = ["dataset", "noise", "net", "method", "seed", "epoch"]


def processor() -> dict[str, str]:
    """Return what decides the order of floating-point sums, as far as it is known: the processor and torch."""
    import torch

    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    found = {key: re.search(rf"^{key}\s*: (.*)$", text, re.M) for key in ("vendor_id", "cpu family", "model")}
    named = {key: match[1] if match else "unknown" for key, match in found.items()}
    return named | {"capability": torch.backends.cpu.get_cpu_capability(), "torch": torch.__version__.split("+")[0]}


def read(path: Path) -> pd.DataFrame:
    runs = pd.read_csv(path)
    return runs.drop(columns=[name for name in MACHINE if name in runs]).set_index(KEYS).sort_index()


def recorded() -> tuple[pd.DataFrame, bool]:
    """Return the recorded numbers, and whether they were made by this kind of processor."""
    here = processor() == json.loads((FOLDER / "processor.json").read_text())
    return read(FOLDER / "smoke_runs.csv"), here


if __name__ == "__main__":
    read(Path(sys.argv[1])).to_csv(FOLDER / "smoke_runs.csv")
    (FOLDER / "processor.json").write_text(json.dumps(processor(), indent=2) + "\n")
