"""Time and memory that `warlab audit FOLDER` needs after the features, for numbers of images.

    python benchmarks/audit_scale.py 5000 20000 --classes 10

The features are random numbers on disk, in 1280 columns of float16, as the command keeps them. Each size is measured in
a process of its own, so that the memory is its own.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from warlab.audit.heads import BLOCK, Table
from warlab.audit.judge import judge

WIDTH = 1280


def measure(n: int, classes: int) -> str:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, n)
    centres = rng.normal(size=(classes, WIDTH)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.f16"
        with file.open("wb") as out:
            for start in range(0, n, BLOCK):
                part = labels[start : start + BLOCK]
                noise = rng.standard_normal((len(part), WIDTH), np.float32)
                out.write((0.1 * centres[part] + noise).astype(np.float16).tobytes())
        stored = np.memmap(file, np.float16, "r", shape=(n, WIDTH))
        began = time.process_time()
        judge(Table.standardise(stored, np.arange(n)), labels, classes)
        seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # with the pages of the file that are in memory
    return f"| {n} | {classes} | {seconds:.1f} | {memory:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=int, nargs="+")
    parser.add_argument("--classes", type=int, default=10)
    options = parser.parse_args()
    if len(options.images) == 1:
        print(measure(options.images[0], options.classes))
        return
    print("| images | classes | processor seconds | MB |\n| --- | --- | --- | --- |")
    for n in options.images:
        subprocess.run([sys.executable, __file__, str(n), "--classes", str(options.classes)], check=True)


if __name__ == "__main__":
    main()
