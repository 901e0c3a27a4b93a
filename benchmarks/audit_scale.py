"""Time and memory of `warlab audit FOLDER`, for numbers of images.

    python benchmarks/audit_scale.py 300 1500
    python benchmarks/audit_scale.py 1000 10000 100000 --network pixels --size 32
    python benchmarks/audit_scale.py 10000 100000 200000 --judge

Each size is a process of its own, on one core, for which 32 × 32 PNG files of ten classes are painted, 5 % of them in a
wrong folder. With --judge there are no files: random numbers in 1280 columns stand for the features, and only what
follows them is measured. The last two lines are the cost of one more image, and from it a million images.

MB is the most memory that the process had of its own (anonymous). Pages of the file of features come on top, as long as
nobody else needs that memory.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from PIL import Image

CLASSES = 10
WIDTH = 1280
SIDE = 32


def paint(folder: Path, n: int) -> None:
    """Write noisy images around one pattern for each class."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(60, 196, (CLASSES, SIDE, SIDE, 3))
    for number in range(n):
        truth, given = number % CLASSES, (number + (number % 20 == 0)) % CLASSES
        picture = np.clip(patterns[truth] + rng.normal(0, 60, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8)
        place = folder / str(given)
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(place / f"{number:07}.png", compress_level=1)


def judge_random_features(n: int) -> None:
    from warlab.audit.heads import BLOCK, Table
    from warlab.audit.judge import judge
    from warlab.engine.device import device_settings

    device_settings(1)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, n)
    centres = rng.normal(size=(CLASSES, WIDTH)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.f16"
        with file.open("wb") as out:
            for start in range(0, n, BLOCK):
                part = labels[start : start + BLOCK]
                noise = rng.standard_normal((len(part), WIDTH), np.float32)
                out.write((0.1 * centres[part] + noise).astype(np.float16).tobytes())
        stored = np.memmap(file, np.float16, "r", shape=(n, WIDTH))
        began = time.process_time()
        judge(Table.standardise(stored, np.arange(n)), labels, CLASSES)
        print(time.process_time() - began)


def measure(command: list[str]) -> tuple[float, float]:
    """Return the processor seconds of a command, or those that it prints, and its peak of anonymous memory in MB."""
    peak, before = [0], resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as run:
        status = Path(f"/proc/{run.pid}/status")

        def watch() -> None:
            while run.poll() is None:
                if found := re.search(r"RssAnon:\s+(\d+)", status.read_text()):
                    peak[0] = max(peak[0], int(found[1]))
                time.sleep(0.05)

        watcher = threading.Thread(target=watch)
        watcher.start()
        said = run.communicate()[0]
        watcher.join()
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return float(said) if "--worker" in command else used, peak[0] / 1024


def run_size(n: int, options: argparse.Namespace) -> tuple[float, float]:
    if options.judge:
        return measure([sys.executable, __file__, str(n), "--worker"])
    with tempfile.TemporaryDirectory() as folder:
        photos = Path(folder) / "photos"
        paint(photos, n)
        how = ["--network", options.network, "--size", str(options.size), "--threads", "1"]
        return measure([sys.executable, "-m", "warlab", "audit", str(photos), *how])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=int, nargs="+")
    parser.add_argument("--network", default="efficientnet_lite0")
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--judge", action="store_true", help="only what follows the features")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        judge_random_features(options.images[0])
        return
    print("| images | processor seconds | MB |\n| --- | --- | --- |")
    found = []
    for n in options.images:
        found.append((n, *run_size(n, options)))
        print(f"| {n} | {found[-1][1]:.1f} | {found[-1][2]:.0f} |", flush=True)
    if len(found) > 1:
        (a, time_a, memory_a), (b, time_b, memory_b) = found[-2:]
        time_each, memory_each = (time_b - time_a) / (b - a), (memory_b - memory_a) / (b - a)
        print(f"\none more image: {1000 * time_each:.2f} ms, {1000 * memory_each:.2f} kB")
        hours, memory = ((end + (1_000_000 - b) * each) for end, each in ((time_b, time_each), (memory_b, memory_each)))
        print(f"a million, by extrapolation: {hours / 3600:.1f} h, {memory:.0f} MB")


if __name__ == "__main__":
    main()
