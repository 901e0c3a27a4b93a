"""`warlab doctor`: check whether this machine is ready for a scale, and say what to do if it is not."""

import fcntl
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from warlab import data
from warlab.config.study import Study
from warlab.engine.lock import UNSUPPORTED
from warlab.pipeline import sources
from warlab.pipeline.paths import Paths, snakemake_call
from warlab.pipeline.run_times import load_run_times

# MB of a run's weights and of its checkpoints (with the optimiser's moments, kept twice), estimated from the number of
# parameters at full width, for methods with two networks
MB_OF_RUN = {"unet": (250, 1500), "resnet50": (190, 760)}
MB_OF_OTHER_RUN = (40, 240)  # cnn9
PLUGIN, TESTED_PLUGIN = "snakemake-executor-plugin-slurm", "2.8.0"  # as pyproject.toml pins it


@dataclass(frozen=True)
class Finding:
    """`wrong` stops a study, `absent` must still be fetched, `note` is worth knowing."""

    topic: str
    state: Literal["good", "note", "absent", "wrong"]
    text: str


Check = Callable[[Study, Path], Iterator[Finding]]  # the path is that of the repository


def doctor(study: Study, root: Path, configfile: Path | None = None) -> tuple[str, bool]:
    """Return the findings as lines, and whether nothing is wrong."""
    findings = [finding for check in CHECKS for finding in check(study, root)]
    lines = [f"{finding.state:7}{finding.topic:12}{finding.text}" for finding in findings]
    counts = Counter(finding.state for finding in findings)
    if counts["absent"]:
        options = ["--configfile", str(configfile)] if configfile else []
        command = [
            *snakemake_call(root),
            "--cores",
            "1",
            "data",
            *options,
            "--config",
            f"scale={study.config['scale']}",
        ]
        lines.append(f"To fetch what is absent, run: {shlex.join(command)}")
    problems = ", ".join(f"{state}: {counts[state]}" for state in ("wrong", "absent") if counts[state])
    lines.append(f"{problems.capitalize()}; the lines above say what to do." if problems else "Nothing is wrong.")
    return "\n".join(lines), counts["wrong"] == 0


def python_version(_study: Study, _root: Path) -> Iterator[Finding]:
    wrong = not (3, 11) <= sys.version_info[:2] <= (3, 13)
    remedy = ", but warlab needs 3.11 to 3.13: run make clean, then make PYTHON=python3.11 setup" if wrong else ""
    yield Finding("python", "wrong" if wrong else "good", platform.python_version() + remedy)


def packages(_study: Study, root: Path) -> Iterator[Finding]:
    """Compare the installed versions with those of requirements.txt."""
    lock = root / "requirements.txt"
    lines = lock.read_text().splitlines() if lock.is_file() else []
    pins = dict(line.split("==") for line in lines if "==" in line)
    other = {name: installed for name, pin in pins.items() if (installed := _installed(name)) != pin}
    named = [f"{name} {installed or 'missing'} instead of {pins[name]}" for name, installed in other.items()]
    rest = f" and {len(named) - 5} more" if len(named) > 5 else ""
    if not pins:
        yield Finding("packages", "note", f"not compared, because there is no {lock}: run this in the repository")
    elif named:
        text = f"{', '.join(named[:5])}{rest}: run {sys.executable} -m pip install -r {shlex.quote(str(lock))}"
        yield Finding("packages", "wrong" if None in other.values() else "note", text)
    else:
        yield Finding("packages", "good", f"all {len(pins)} as requirements.txt pins them")


def _installed(name: str) -> str | None:
    try:
        return version(name).split("+")[0]  # torch calls itself 2.13.0+cpu
    except PackageNotFoundError:
        return None


def gpu(study: Study, root: Path) -> Iterator[Finding]:
    try:
        import torch
    except ImportError:
        yield Finding("gpu", "wrong", "torch cannot be imported: run make setup")
        return
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count())]
        yield Finding("gpu", "good", f"{', '.join(names)}: use --workflow-profile profiles/gpu")
    elif shutil.which("nvidia-smi"):
        text = "NVIDIA driver found, but torch does not see a GPU: install the torch build for your CUDA version"
        yield Finding("gpu", "wrong", text)
    else:
        times = load_run_times(study, root)
        hours, until = times.hours(), times.unknown(study.plan.runs)
        about = f"about {hours:,.{2 if hours < 100 else 0}f} core hours"  # as in the plan
        takes = f"the time of {study.name} is unknown until {until}" if until else f"{study.name} takes {about}"
        yield Finding("gpu", "note", f"none: {takes}, see snakemake plan")
    switches = ("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE")
    forced = next((name for name in switches if os.environ.get(name, "0") != "0"), None)
    if forced:
        yield Finding("tf32", "wrong", f"{forced} forces TF32, in which ε = 0.005 is lost: unset it")
    else:
        yield Finding("tf32", "good", "off unless device.tf32 allows it")


def disk(study: Study, _root: Path) -> Iterator[Finding]:
    """Check the folders for results and data: permission to write, space and file locks."""
    for key, default, need in (("results_root", "results", needed_mb(study)), ("data_root", "data", 0)):
        folder = Path(str(study.config.get(key, default)))
        nearest = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        free = shutil.disk_usage(nearest).free // 2**20
        try:
            with tempfile.NamedTemporaryFile(dir=nearest, prefix=".warlab-") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                text = f"{folder} is not writable ({error.strerror}): allow it, or set another {key}"
                yield Finding("disk", "wrong", text)
                continue
            # some mounts of Lustre and NFS
            text = f"{folder} is on a file system without file locks ({error.strerror}): a run is reserved by a file"
            yield Finding("locks", "note", f"{text} there, which you delete if its process was killed elsewhere")
        lack = f", {study.name} may need {need}: free some or set another {key}" if free < need else ""
        yield Finding("disk", "wrong" if lack else "good", f"{folder} has {free} MB free{lack}")


def needed_mb(study: Study) -> int:
    """Return an upper bound of the size of the results, which grows with the square of the networks' width."""
    runs = [(study.settings.width(run.net, run.dataset), run.net) for run in study.plan.runs]
    sizes = [[width**2 * size for size in MB_OF_RUN.get(net, MB_OF_OTHER_RUN)] for width, net in runs]
    at_once = sorted((checkpoints for _, checkpoints in sizes), reverse=True)[: os.cpu_count() or 1]
    return round(200 + sum(weights for weights, _ in sizes) + sum(at_once))


def data_present(study: Study, _root: Path) -> Iterator[Finding]:
    """Look for everything that `snakemake data` fetches."""
    for source in sources.list_sources(study):
        name, local = source.name, study.config.get("local_data", {}).get(source.name)
        if Path(Paths.of(study).receipt(source.name, source.folder)).is_file():
            yield Finding("data", "good", f"{name} ({source.source}) is there")
        elif source.source != "real":
            yield Finding("data", "good", f"{name} ({source.source}) is made without a network")
        elif local and Path(local).exists():
            yield Finding("data", "absent", f"{name} is taken from {local}")
        elif not sources.gated(name):
            yield Finding("data", "absent", f"{name} is fetched from the network")
        else:
            where = f"{local}, which local_data names, is not there" if local else "it cannot be downloaded"
            text = f"{name} needs a folder ({where}): see {data.resource(name).homepage}, then write"
            remedy = f"local_data: {{{name}: folder}} in the settings, or leave {name} out of the scale"
            yield Finding("data", "wrong", f"{text} {remedy}")


def programs(_study: Study, root: Path) -> Iterator[Finding]:
    if not shutil.which("pdflatex"):
        yield Finding("pdflatex", "note", "not found: install texlive-latex-recommended to get the tables as PDF")
    if shutil.which("sbatch") and (installed := _installed(PLUGIN)) != TESTED_PLUGIN:
        call = [sys.executable, "-m", "pip", "install", "-c", str(root / "requirements.txt"), "-e", f"{root}[slurm]"]
        have = f"and not {installed}, with which it was not tested" if installed else "which is not installed"
        yield Finding("slurm", "note", f"profiles/slurm needs {PLUGIN} {TESTED_PLUGIN}, {have}: run {shlex.join(call)}")


CHECKS: tuple[Check, ...] = (python_version, packages, gpu, disk, data_present, programs)
