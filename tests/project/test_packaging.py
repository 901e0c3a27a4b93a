"""The wheel and the sdist, the core in an environment of its own, and the environment that make sets up."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.helpers.checkout import planned_jobs
from tests.helpers.environments import closure, core, core_environment, install, linked_environment, run
from tests.project.test_documents import BEFORE

ASSETS = {
    f"warlab/{path.relative_to(ROOT / 'src' / 'warlab').as_posix()}"
    for path in (ROOT / "src" / "warlab" / "assets").rglob("*")
    if path.is_file()
}
BUILD = """
import sys
from setuptools import build_meta

out = sys.argv[1]  # setuptools overwrites the arguments
build_meta.build_wheel(out)
build_meta.build_sdist(out)
"""


def source(folder: Path) -> Path:
    """What a build reads; a copy, because setuptools writes into it."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and sdist."""
    out = tmp_path_factory.mktemp("built")
    run([sys.executable, "-c", BUILD, str(out)], source(tmp_path_factory.mktemp("source")))
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def test_wheel_and_sdist_hold_all_modules_and_assets(built: tuple[Path, Path]) -> None:
    package = ROOT / "src"
    modules = {path.relative_to(package).as_posix() for path in (package / "warlab").rglob("*.py")}
    reporting = package / "warlab" / "reporting"
    templates = [*reporting.rglob("*.html"), *(reporting / "templates").iterdir()]
    pages = {path.relative_to(package).as_posix() for path in templates}
    pages |= {f"warlab/audit/review.{kind}" for kind in ("html", "css", "js")}
    expected = modules | pages | ASSETS | {"warlab/py.typed", "warlab/reporting/warlab.mplstyle"}
    in_wheel = set(zipfile.ZipFile(built[0]).namelist())
    with tarfile.open(built[1]) as archive:
        in_sdist = {name.split("/src/", 1)[1] for name in archive.getnames() if "/src/" in name}
    assert len(ASSETS) >= 8 and expected <= in_wheel and expected <= in_sdist


def test_the_sdist_builds_the_same_wheel(built: tuple[Path, Path], tmp_path: Path) -> None:
    with tarfile.open(built[1]) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    run([sys.executable, "-c", BUILD, str(tmp_path)], folder)
    again = zipfile.ZipFile(next(tmp_path.glob("*.whl")))
    assert sorted(again.namelist()) == sorted(zipfile.ZipFile(built[0]).namelist())


@pytest.fixture(scope="module")
def environment(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and nothing but what the wheel asks for."""
    folder = tmp_path_factory.mktemp("environment")
    done = install(core_environment(folder), "--no-deps", str(built[0]))
    assert done.returncode == 0, done.stderr
    return folder


def readme_snippet() -> str:
    """The loop of the README."""
    (snippet,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    return snippet


AFTER = """
import sys
others = ("snakemake", "pandas", "gensim", "scipy", "ot", "matplotlib", "yaml", "torchvision", "sklearn")
print(torch.isfinite(loss).item(), [name for name in others if name in sys.modules])
"""


def test_the_readmes_loop_runs_on_nothing_but_the_core(environment: Path) -> None:
    python, snippet = str(environment / "bin" / "python"), readme_snippet()
    assert "from warlab import WARLoss, word_cost" in snippet and "word_cost([" in snippet
    assert "snakemake" not in core() and len(core()) < 20
    assert run([python, "-I", "-c", BEFORE + snippet + AFTER], environment).split() == ["True", "[]"]
    found = run([python, "-I", "-c", "import warlab; print(warlab.__file__, warlab.__all__)"], environment)
    assert found.startswith(str(environment)) and "sinkhorn" in found


def test_the_workflows_command_says_what_it_needs(environment: Path) -> None:
    done = subprocess.run([environment / "bin" / "warlab", "status"], capture_output=True, text=True, cwd=environment)
    assert done.returncode == 1 and "pip install '.[workflow]'" in done.stderr and "Traceback" not in done.stderr


# ---- the image, and the commands of the README elsewhere


def test_the_steps_of_the_containerfile_make_an_environment_that_plans_the_demo(tmp_path: Path) -> None:
    """In a plain folder with links to the installed packages: pip finds everything there that it is told to install."""
    image, work = tmp_path / "opt" / "warlab", tmp_path / "work"
    python = linked_environment(tmp_path / "environment", closure("warlab", extra="workflow") - {"warlab"})
    tools = Path(python).parent
    pip, snakemake = f"{sys.executable} -m pip --python {python}", f"{python} -m snakemake"
    for name, command in (("pip", pip), ("snakemake", snakemake)):
        (tools / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (tools / name).chmod(0o755)
    variables = {"PATH": f"{tools}:/usr/bin:/bin", "PIP_NO_INDEX": "1", "HOME": str(tmp_path)}
    steps = re.findall(r"^([A-Z]+) (.*)$", (ROOT / "Containerfile").read_text(), re.MULTILINE)
    assert steps[0] == ("FROM", "python:3.11-slim") and steps[-1][0] == "CMD"
    for step, text in steps[1:]:
        if step == "WORKDIR":
            here = tmp_path / text.removeprefix("/")
            here.mkdir(parents=True, exist_ok=True)
        elif step == "COPY":
            *files, to = text.split()
            for file in files:
                copy = shutil.copytree if (ROOT / file).is_dir() else shutil.copy
                copy(ROOT / file, here / to)
        elif step == "ENV":
            variables = dict(pair.split("=", 1) for pair in text.split()) | variables
        elif step == "RUN":
            run(["sh", "-ec", text], here, **variables)
    (image / "pins.txt").read_text().index("torch==")
    call = [str(part).replace("/opt/warlab", str(image)) for part in json.loads(steps[-1][1])]
    assert here == work and planned_jobs(run([*call, "-n"], work, **variables))["train"] > 1
    assert run([python, "-c", "import warlab; print(warlab.__file__)"], work, **variables).startswith(str(image))


@pytest.mark.slow
def test_the_image_runs_for_any_user_and_writes_only_results(tmp_path: Path) -> None:
    """As Docker runs it with `--user`: the id has no name and no home. The image is the last that was built here."""
    podman = shutil.which("podman")
    if not podman or subprocess.run([podman, "image", "exists", "localhost/warlab"], check=False).returncode:
        pytest.skip("podman has no image warlab; build it with podman build -t warlab .")
    tmp_path.chmod(0o777)
    call = [podman, "run", "--rm", "--read-only", "--network=none", f"--volume={tmp_path}:/work"]
    call += ["--user=12345:12345", "--passwd=false", "localhost/warlab"]
    call += ["snakemake", "-s", "/opt/warlab/Snakefile", "--cores", "1", "--config", "scale=smoke"]
    target = "results/smoke/runs/fashion_mnist/asym-40/cnn9/war_w2v/seed0/result.json"
    for again in (False, True):
        done = subprocess.run([*call, "--", target], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        assert ("Nothing to be done" in done.stdout + done.stderr) == again
    assert (tmp_path / target).is_file()
    assert {path.name for path in tmp_path.iterdir()} == {".snakemake", "data", "results"}


def test_ci_calls_the_commands_of_the_readme() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    called = {step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    assert called == set(re.findall(r"^    (make \w+) +#", (ROOT / "README.md").read_text(), re.MULTILINE))


# ---- make


def made(folder: Path, *pythons: tuple[str, str], dry: bool = True) -> str:
    """Return what `make setup` prints if only these interpreters are found; `dry`: without installing anything."""
    tools = folder / "bin"
    tools.mkdir()
    for name, script in pythons:
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    make = shutil.which("make")
    assert make is not None
    shutil.copy(ROOT / "Makefile", folder / "Makefile")
    for name in ("requirements.txt", "pyproject.toml"):
        (folder / name).touch()
    call, path = [make, "-n" if dry and pythons else "-s", "setup"], str(tools) if dry else f"{tools}:/usr/bin:/bin"
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, env={"PATH": path})
    return done.stdout


WORKS, SHIM, OLD = f'exec {sys.executable} "$@"', "echo command not found >&2; exit 127", "exit 1"


@pytest.mark.parametrize(
    ("pythons", "chosen"),
    [
        ([("python3.11", WORKS), ("python3.13", WORKS)], "python3.11"),
        ([("python3.11", SHIM), ("python3.12", WORKS)], "python3.12"),
        ([("python3.13", WORKS)], "python3.13"),
        ([("python3.11", SHIM), ("python3", WORKS)], "python3"),
    ],
)
def test_make_takes_the_first_python_that_runs(pythons: list, chosen: str, tmp_path: Path) -> None:
    assert f"{chosen} -m venv .venv" in made(tmp_path, *pythons)


def test_without_a_python_make_says_what_to_install(tmp_path: Path) -> None:
    assert "warlab needs Python 3.11 or newer" in made(tmp_path)


def test_make_repairs_an_environment_whose_creation_was_interrupted(tmp_path: Path) -> None:
    creates_pip = "mkdir -p .venv/bin && echo '#!/bin/sh' >.venv/bin/pip && chmod +x .venv/bin/pip"
    (tmp_path / ".venv" / "lib").mkdir(parents=True)
    made(tmp_path, ("python3.11", f'[ "$2" != venv ] || {{ {creates_pip}; }}'), dry=False)
    assert (tmp_path / ".venv" / ".ready").is_file() and not (tmp_path / ".venv" / "lib").exists()
