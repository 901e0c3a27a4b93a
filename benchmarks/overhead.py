"""Processor time of a training job outside its epochs: imports, reading, building, writing.

python benchmarks/overhead.py
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

JOB = """
import json, sys, time
from pathlib import Path
start = time.process_time()
import torch
torch_in = time.process_time()
from warlab.artefacts.run_config import RunConfig
from warlab.engine.build import RunFiles
from warlab.engine.run import train_run
warlab_in = time.process_time()
folder = Path(sys.argv[1])
run = json.loads((folder / "run.json").read_text())
train_run(RunConfig.from_dict(run), "code", RunFiles(folder / "data.npz", folder / "noise.npz"), folder / "out", 1)
end = time.process_time()
rows = (folder / "out" / "metrics.csv").read_text().splitlines()
epochs = sum(float(row.split(",")[rows[0].split(",").index("processor_seconds")]) for row in rows[1:])
print(json.dumps({"Python": start, "torch": torch_in - start, "warlab": warlab_in - torch_in,
                  "epochs": epochs, "rest": end - warlab_in - epochs}))
"""


def write_task(folder: Path) -> None:
    """Write a task of two batches."""
    import numpy as np

    from warlab.artefacts.labelled_data import DataDescription, PreparedData
    from warlab.common.files import write_json
    from warlab.config.study import load_study
    from warlab.noise import make_noise
    from warlab.noise.kinds.base import NoiseRequest

    names, labels = ["one", "two"], np.arange(64) % 2
    images = np.zeros((64, 1, 14, 14), np.uint8)
    about = DataDescription(
        dataset="few",
        data="stand-in",
        source="black images",
        class_names=names,
        words=names,
        mean=[0.5],
        std=[0.5],
        n_train=64,
        n_test=64,
        shape=[1, 14, 14],
        sha256={},
        licence="",
    )
    data = PreparedData(about, {"train_x": images, "train_y": labels, "test_x": images, "test_y": labels})
    data.save(folder / "data.npz")
    make_noise(NoiseRequest("few", "clean", 0, names, "stand-in"), data.arrays, {}).save(folder / "noise.npz")
    usual = load_study({"scale": "smoke"}, Path(__file__).parents[1]).settings.training("fashion_mnist")
    training = {**usual, "epochs": 1, "batch_size": 32, "drops": []}
    net, method = {"name": "cnn9", "settings": {"width": 0.25}}, {"id": "cce", "file": "cce", "settings": {}}
    run = {"dataset": "few", "noise": "clean", "net": net, "method": method, "training": training, "seed": 0}
    write_json(folder / "run.json", run)


def main() -> None:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        write_task(Path(folder))
        done = subprocess.run([sys.executable, "-c", JOB, folder], capture_output=True, text=True, check=True)
    for part, seconds in json.loads(done.stdout).items():
        print(f"{part:8}{seconds:6.2f} s")
    print(f"{time.monotonic() - started:.1f} s by the clock")


if __name__ == "__main__":
    main()
