"""Time and memory that `warlab audit FOLDER` needs after the features, for numbers of images.

    python benchmarks/audit_scale.py 5000 20000 --classes 10
    python benchmarks/audit_scale.py --features 256

The features are random numbers on disk, in 1280 columns of float16, as the command keeps them. Each size is measured in
a process of its own, so that the memory is its own.
"""

import argparse
import io
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from warlab.audit.heads import BLOCK, Table
from warlab.audit.judge import judge
from warlab.data.auxiliary._weights import CLASSES
from warlab.engine.device import device_settings
from warlab.engine.features import BATCH, features_of
from warlab.nets.efficientnet_lite0 import Net

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


def measure_features(n: int) -> float:
    """Return the processor seconds per 1000 images; random weights take as long as those of ImageNet."""
    device_settings(1)
    net = Net(3, CLASSES)
    buffer = io.BytesIO()
    torch.save(net.state_dict(), buffer)
    compute = features_of("efficientnet_lite0", buffer.getvalue(), 128)
    images = np.random.default_rng(0).integers(0, 256, (BATCH, 3, 128, 128)).astype(np.uint8)
    compute(images)
    began = time.process_time()
    for _ in range(0, n, BATCH):
        compute(images)
    return (time.process_time() - began) * 1000 / (-(-n // BATCH) * BATCH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=int, nargs="*")
    parser.add_argument("--features", type=int, metavar="N", help="time of the features of N random images, instead")
    parser.add_argument("--classes", type=int, default=10)
    options = parser.parse_args()
    if options.features:
        print(f"{measure_features(options.features):.1f} processor seconds per 1000 images of 128 pixels")
        return
    if len(options.images) == 1:
        print(measure(options.images[0], options.classes))
        return
    print("| images | classes | processor seconds | MB |\n| --- | --- | --- | --- |")
    for n in options.images:
        subprocess.run([sys.executable, __file__, str(n), "--classes", str(options.classes)], check=True)


if __name__ == "__main__":
    main()
