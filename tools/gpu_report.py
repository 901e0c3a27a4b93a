"""Checks, benchmarks and one short training on a GPU, written into one text file to send to us.

    python tools/gpu_report.py                     everything; about half an hour on a GPU
    python tools/gpu_report.py --small --to FILE   the same in small, as the tests run it on a CPU

Checks: driver and versions, precision of a convolution, a training twice with equal bits, a training that is killed and
resumed with equal bits. A check that fails is reported and does not stop the others.
"""

import argparse
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from warlab.common.precision import float32_precision
from warlab.engine.device import device_settings

ROOT = Path(__file__).resolve().parent.parent
RUN = "fashion_mnist/asym-40/cnn9/war_w2v/seed0"
Lines = Iterator[str]


class Study:
    """One training of a scale by the workflow, in its own folder."""

    def __init__(self, folder: Path, scale: str) -> None:
        self.folder, self.scale = folder, scale
        self.run = folder / "results" / scale / "runs" / RUN
        self.again = folder / "results" / scale / "verify" / RUN
        self.log = folder / "results" / scale / "logs" / "verify" / f"{RUN}.log"

    def start(self, target: Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT)]
        command += ["--cores", "1", "--nolock", "--rerun-incomplete", "--config", f"scale={self.scale}"]
        command += [f"results_root={self.folder / 'results'}", f"data_root={self.folder / 'data'}", "--"]
        environment = {**os.environ, "WARLAB_CHECKPOINT_SECONDS": "0"}
        output = (self.folder / "output").open("w")
        return subprocess.Popen(
            [*command, str(target)], stdout=output, stderr=output, env=environment, start_new_session=True, text=True
        )

    def make(self, folder: Path) -> float:
        started = time.monotonic()
        if self.start(folder / "result.json").wait() != 0:
            raise RuntimeError((self.folder / "output").read_text()[-1500:])
        return time.monotonic() - started

    def forget(self) -> None:
        shutil.rmtree(self.again, ignore_errors=True)

    def same_bits(self) -> bool:
        one, two = (torch.load(folder / "weights.pt", weights_only=True) for folder in (self.run, self.again))
        return all(
            a.keys() == b.keys() and all(map(torch.equal, a.values(), b.values()))
            for a, b in zip(one, two, strict=True)
        )


def machine(_study: Study, _small: bool) -> Lines:
    yield f"{platform.platform()}, Python {platform.python_version()}, torch {torch.__version__}"
    yield f"CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.device_count()} GPU(s) seen"
    if shutil.which("nvidia-smi"):
        yield run(["nvidia-smi"])
    commit = run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"])
    yield f"warlab {commit}"


def precision(_study: Study, _small: bool) -> Lines:
    device_settings(torch.get_num_threads())
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    x, weights = torch.randn(8, 64, 16, 16), torch.randn(64, 64, 3, 3)
    exact = torch.nn.functional.conv2d(x.double(), weights.double())
    found = torch.nn.functional.conv2d(x.to(device), weights.to(device)).double().cpu()
    error = float((found - exact).abs().max() / exact.abs().max())
    yield f"settings of a training: {float32_precision()}"
    yield f"{verdict(error < 1e-5)}: largest error of a convolution {error:.1e} (float32 1e-7, TF32 1e-3)"


def training(study: Study, _small: bool) -> Lines:
    seconds = study.make(study.run)
    rows = (study.run / "metrics.csv").read_text().splitlines()
    yield f"{study.scale} {RUN}: {len(rows) - 1} epochs, {seconds:.0f} s with data, noise and cost"
    yield from (rows[0], rows[-1])
    yield (study.run / "result.json").read_text()


def determinism(study: Study, _small: bool) -> Lines:
    study.forget()
    study.make(study.again)
    yield f"{verdict(study.same_bits())}: the same training twice gives the same weights to the last bit"


def resume(study: Study, _small: bool) -> Lines:
    study.forget()
    study.log.unlink(missing_ok=True)
    process = study.start(study.again / "result.json")
    while process.poll() is None and "epoch 1/" not in (study.log.read_text() if study.log.exists() else ""):
        time.sleep(0.02)
    killed = process.poll() is None
    os.killpg(process.pid, signal.SIGKILL) if killed else None
    process.wait()
    study.make(study.again)
    resumed = "resumed from" in (study.again / "history.log").read_text()
    yield f"{verdict(killed and resumed)}: killed after its first epoch, it continued from its checkpoint"
    yield f"{verdict(study.same_bits())}: and reached the same weights to the last bit"


def benchmark(_study: Study, small: bool) -> Lines:
    size = ["--width", "0.125", "--batch", "8", "--repeats", "1"] if small else ["--classes", "10", "100", "1000"]
    ways = [[], ["--tf32"], ["--channels-last"], ["--compile"]] if torch.cuda.is_available() else [[]]
    for way in ways:
        yield run([sys.executable, str(ROOT / "benchmarks" / "step.py"), *size, *way])
    if not small:
        yield run([sys.executable, str(ROOT / "benchmarks" / "step.py"), "--memory"])
        yield run([sys.executable, str(ROOT / "benchmarks" / "transport.py")])
    if not torch.cuda.is_available():
        yield "There is no GPU here: TF32, channels last and compile were not measured."


SECTIONS: dict[str, Callable[[Study, bool], Lines]] = {
    "machine": machine,
    "precision": precision,
    "a short training": training,
    "determinism": determinism,
    "kill and resume": resume,
    "steps": benchmark,
}


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout + (done.stderr[-1500:] if done.returncode else "")).strip()


def verdict(good: bool) -> str:
    return "good" if good else "WRONG"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--to", type=Path, default=Path("gpu-report.txt"))
    options = parser.parse_args()
    wrong = False
    with options.to.open("w") as file, tempfile.TemporaryDirectory() as folder:
        study = Study(Path(folder), "smoke" if options.small else "demo")
        for title, section in SECTIONS.items():
            for line in section_lines(title, section, study, options.small):
                wrong |= line.startswith("WRONG")
                print(line, file=file, flush=True)
                print(line, flush=True)
    print(f"Written to {options.to}; please send it with a note about the machine.")
    return int(wrong)


def section_lines(title: str, section: Callable[[Study, bool], Lines], study: Study, small: bool) -> Lines:
    """A section with its title; errors in it are part of the report."""
    yield f"\n== {title} =="
    try:
        yield from section(study, small)
    except Exception as error:
        yield f"WRONG: {type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main())
