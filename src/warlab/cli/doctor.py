"""`warlab doctor`: checks whether this machine is ready for a scale, and says what to do if it is not."""

import fcntl
import os
import platform
import shutil
import subprocess
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
from warlab.pipeline.paths import Paths
from warlab.pipeline.run_times import core_hours, measured

# MB of a run's weights and of its checkpoints (with the optimiser's moments, kept twice), estimated from the number of
# parameters at full width, for methods with two networks
MB_OF_RUN = {"unet": (250, 1500), "resnet50": (190, 760)}
MB_OF_OTHER_RUN = (40, 240)  # cnn9
PLUGIN = "snakemake-executor-plugin-slurm"


@dataclass(frozen=True)
class Finding:
    """`wrong` stops a study, `absent` must still be fetched, `note` is worth knowing."""

    topic: str
    state: Literal["good", "note", "absent", "wrong"]
    text: str


Check = Callable[[Study, Path], Iterator[Finding]]  # the path is that of the repository


def doctor(study: Study, root: Path) -> tuple[str, bool]:
    """The findings as lines, and whether nothing is wrong."""
    findings = [finding for check in CHECKS for finding in check(study, root)]
    lines = [f"{finding.state:7}{finding.topic:12}{finding.text}" for finding in findings]
    counts = Counter(finding.state for finding in findings)
    left = ", ".join(f"{state}: {counts[state]}" for state in ("wrong", "absent") if counts[state])
    lines.append(f"{left.capitalize()}; the lines above say what to do." if left else "Nothing is wrong.")
    return "\n".join(lines), counts["wrong"] == 0


def python_version(_study: Study, _root: Path) -> Iterator[Finding]:
    python = platform.python_version()
    if sys.version_info[:2] == (3, 11):
        yield Finding("python", "good", python)
    else:
        yield Finding("python", "wrong", f"{python}, but the lock file is for 3.11: call make PYTHON=python3.11 setup")


def packages(_study: Study, root: Path) -> Iterator[Finding]:
    """Compare the installed versions with those of requirements.txt."""
    lock = root / "requirements.txt"
    if not lock.is_file():
        yield Finding("packages", "note", f"{lock} is not here, so versions are not compared: call this in the project")
        return
    pins = dict(line.split("==") for line in lock.read_text().splitlines() if "==" in line)
    other = {name: found for name, pin in pins.items() if (found := _installed(name)) != pin}
    if not other:
        yield Finding("packages", "good", f"all {len(pins)} as requirements.txt pins them")
        return
    named = ", ".join(f"{name} {found or 'missing'} instead of {pins[name]}" for name, found in list(other.items())[:5])
    rest = f" and {len(other) - 5} more" if len(other) > 5 else ""
    state: Literal["note", "wrong"] = "wrong" if None in other.values() else "note"
    yield Finding("packages", state, f"{named}{rest}: call make setup, or pip install -r requirements.txt")


def _installed(name: str) -> str | None:
    try:
        return version(name).split("+")[0]  # torch calls itself 2.13.0+cpu
    except PackageNotFoundError:
        return None


def gpu(study: Study, root: Path) -> Iterator[Finding]:
    try:
        import torch
    except ImportError:
        yield Finding("gpu", "wrong", "torch cannot be imported: call make setup")
        return
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count())]
        yield Finding("gpu", "good", f"{', '.join(names)}: use --workflow-profile profiles/gpu")
    elif shutil.which("nvidia-smi"):
        yield Finding("gpu", "wrong", "a driver is here but torch sees no GPU: install the torch wheel of its CUDA")
    else:
        hours = core_hours(study, measured(root))
        rounded = f"{hours:,.{2 if hours < 100 else 0}f}"  # as in the plan
        yield Finding("gpu", "note", f"none: {study.name} takes about {rounded} core hours, see snakemake plan")
    yield _tf32()


def _tf32() -> Finding:
    from warlab.common.precision import float32_precision, tf32_allowed

    for name in ("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"):
        if os.environ.get(name, "0") != "0":
            return Finding("tf32", "wrong", f"{name} forces TF32, in which ε = 0.005 is lost: unset it")
    parts = ", ".join(f"{name} {precision}" for name, precision in float32_precision().items())
    text = f"torch allows it by default ({parts})" if tf32_allowed() else f"off by default ({parts})"
    return Finding("tf32", "good", f"{text}; every training switches it off")


def disk(study: Study, _root: Path) -> Iterator[Finding]:
    results, raw = Path(study.config.get("results_root", "results")), Path(study.config.get("data_root", "data"))
    for folder, need, key in ((results, needed_mb(study), "results_root"), (raw, 0, "data_root")):
        try:
            tempfile.NamedTemporaryFile(dir=_nearest(folder), prefix=".warlab-").close()
        except OSError as error:
            text = f"{folder} cannot be written ({error.strerror}): change its permissions, or set another folder"
            yield Finding("disk", "wrong", text)
            continue
        free = shutil.disk_usage(_nearest(folder)).free // 2**20
        if free < need:
            text = f"{folder} has {free} MB, {study.name} may need {need}: free some or set {key}"
            yield Finding("disk", "wrong", text)
        else:
            yield Finding("disk", "good", f"{folder} has {free} MB free")


def needed_mb(study: Study) -> int:
    """Size of the results: an upper bound, which grows with the square of the networks' width."""
    sizes = []
    for cell in study.plan.runs:
        width = study.settings.width(cell.net, cell.dataset)
        sizes.append([width**2 * size for size in MB_OF_RUN.get(cell.net, MB_OF_OTHER_RUN)])
    at_once = sorted((checkpoints for _, checkpoints in sizes), reverse=True)[: os.cpu_count() or 1]
    return round(200 + sum(run for run, _ in sizes) + sum(at_once))


def _nearest(folder: Path) -> Path:
    """The folder, or the closest one above it that exists."""
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())


def locks(study: Study, _root: Path) -> Iterator[Finding]:
    """Whether files can be locked, so that no two processes train the same run; some Lustre and NFS mounts cannot."""
    folder = Path(study.config.get("results_root", "results"))
    try:
        with tempfile.NamedTemporaryFile(dir=_nearest(folder), prefix=".warlab-") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in UNSUPPORTED:
            text = f"{folder} is on a file system without file locks ({error.strerror}): a run is reserved by a file"
            yield Finding("locks", "note", f"{text} there, which you delete if its process was killed elsewhere")


def data_present(study: Study, _root: Path) -> Iterator[Finding]:
    """Whether everything that `snakemake data` fetches is here."""
    for needed in sources.needed(study):
        if Path(needed.receipt(Paths.of(study))).is_file():
            yield Finding("data", "good", f"{needed.name} ({needed.source}) is there")
        elif needed.source != "real":
            yield Finding("data", "good", f"{needed.name} ({needed.source}) is made without a network")
        else:
            yield _absent(study, needed.name)


def _absent(study: Study, name: str) -> Finding:
    call = f"snakemake data --cores 1 --config scale={study.config['scale']}"
    local = study.config.get("local_data", {}).get(name)
    if local and Path(local).exists():
        return Finding("data", "absent", f"{name} is not there: {call} takes it from {local}")
    if not sources.gated(name):
        return Finding("data", "absent", f"{name} is not there: {call}, where there is a network")
    if data.resource(name).homepage.startswith("docs/"):
        return Finding("data", "wrong", f"{name} needs a place: write local_data: {{{name}: path}} in the settings")
    where = f"{local}, which local_data names, is not there" if local else "no address gives it to a program"
    return Finding(
        "data",
        "wrong",
        f"{name} needs a folder from its owners ({where}): see {data.resource(name).homepage}, then write "
        f"local_data: {{{name}: folder}} in the settings, or leave {name} out of the scale",
    )


def programs(_study: Study, _root: Path) -> Iterator[Finding]:
    wanted = {"pdflatex": "texlive-latex-recommended, for tables as PDF", "chromium": "chromium, to check the report"}
    for name, package in wanted.items():
        if shutil.which(name):
            yield Finding(name, "good", "is here")
        else:
            yield Finding(name, "note", f"is not here and not needed for results: install {package}")


def slurm(_study: Study, _root: Path) -> Iterator[Finding]:
    if shutil.which("sbatch") is None:
        yield Finding("slurm", "note", "is not here: on a cluster, call this on its login node")
        return
    try:
        done = subprocess.run(["sinfo", "-h", "-o", "%P"], capture_output=True, text=True, timeout=15)
        problem = done.stderr.strip().splitlines()[-1] if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired, IndexError) as error:
        problem = type(error).__name__
    if problem:
        yield Finding("slurm", "note", f"is installed but does not answer ({problem}): ask who runs it")
        return
    yield Finding("slurm", "good", f"partitions {', '.join(done.stdout.split())}")
    if _installed(PLUGIN) is None:
        yield Finding("slurm", "wrong", f"{PLUGIN} is missing: pip install -e .[slurm]")


CHECKS: tuple[Check, ...] = (python_version, packages, gpu, disk, locks, data_present, programs, slurm)
