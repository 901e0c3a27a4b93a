"""The workflow where nothing but Snakemake is installed, as the workflow catalog and `--sdm conda` run it."""

import os
import re
import shutil
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import warlab
from tests.conftest import ROOT
from tests.helpers.checkout import output_of, planned_jobs
from tests.helpers.environments import closure, linked_environment, run
from warlab.common.files import read_json

# What Snakemake calls of conda. The environment gets the packages that its file pins, as links to the installed ones.
CONDA = f"""#!{sys.executable}
import json, re, sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from tests.helpers.environments import linked_environment
match sys.argv[1:]:
    case ["info", "--json"]:
        print(json.dumps({{"conda_prefix": {{base!r}}, "platform": "linux-64"}}))
    case ["--version"]:
        print("conda 25.1.0")
    case ["clean", *_]:
        pass
    case ["config", *_]:
        print(json.dumps({{"get": {{"channel_priority": "strict"}}}}))
    case ["env", "create", *_, "--file", file, "--prefix", prefix]:
        pins = re.findall(r"^ +- ([a-z0-9-]+)==", Path(file).read_text(), re.MULTILINE)
        linked_environment(Path(prefix), set(pins))
    case call:
        sys.exit(f"conda has no {{call}}")
"""
ACTIVATE = 'export CONDA_PREFIX="$1" PATH="$1/bin:$PATH"\n'
RUN = "fashion_mnist/asym-40/cnn9/war_w2v/seed0"
RUNTIME = yaml.safe_load((ROOT / "envs" / "warlab.yaml").read_text())["dependencies"][-1]["pip"]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the variables of a shell whose Python has Snakemake and its dependencies; conda is there, torch is not."""
    folder = tmp_path_factory.mktemp("bare")
    python = linked_environment(folder, closure("snakemake"))
    (folder / "bin" / "snakemake").write_text(f'#!/bin/sh\nexec {python} -m snakemake "$@"\n')
    (folder / "bin" / "conda").write_text(CONDA.replace("{base!r}", repr(str(folder))))
    (folder / "bin" / "activate").write_text(ACTIVATE)
    for name in ("snakemake", "conda"):
        (folder / "bin" / name).chmod(0o755)
    absent = (
        "from importlib.util import find_spec as f; print([n for n in ('warlab', 'numpy', 'torch', 'PIL') if f(n)])"
    )
    assert run([python, "-c", absent], folder) == "[]\n"
    return {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": ""}


def test_it_lints_and_plans_the_same_jobs_from_any_folder(bare: dict[str, str], tmp_path: Path) -> None:
    assert "good condition" in output_of(f"snakemake -s {ROOT}/workflow/Snakefile --lint", tmp_path, **bare)
    plans = [
        planned_jobs(output_of(f"snakemake -n {arguments}", tmp_path, **variables))
        for arguments, variables in (
            (f"-s {ROOT}/workflow/Snakefile --sdm conda", bare),
            (f"-s {ROOT}/Snakefile --directory {tmp_path / 'elsewhere'}", bare),
            (f"-s {ROOT}/Snakefile", {}),
        )
    ]
    assert plans[0].pop("default") == plans[1].pop("all") == plans[2].pop("all") == 1
    assert plans[0] == plans[1] == plans[2] and plans[0]["train"] > 1


def test_a_run_is_trained_in_the_environment_of_envs_from_another_folder(bare: dict[str, str], tmp_path: Path) -> None:
    """Fetched, prepared, corrupted, verified and trained by jobs whose environment has no warlab."""
    target = f"results/smoke/runs/{RUN}/result.json"
    call = f"snakemake -s {ROOT}/workflow/Snakefile --sdm conda --config scale=smoke --cores 2"
    output_of(f"{call} --directory {tmp_path / 'study'} -- {target}", tmp_path, **bare)
    versions = read_json(tmp_path / "study" / target)["provenance"]["versions"]
    versions.pop("timm", None)  # an extra
    assert versions["warlab"] == warlab.__version__ and "not installed" not in versions.values()
    (environment,) = (tmp_path / "study" / ".snakemake" / "conda").glob("*/packages")
    assert (environment / "torch").exists() and not (environment / "warlab").exists()
    # With numpy and an installed warlab, the plan has the same parameters.
    call = f"snakemake -s {ROOT}/Snakefile --config scale=smoke -n --rerun-triggers mtime params input -- {target}"
    assert planned_jobs(output_of(call, tmp_path / "study")) == {}


def test_the_jobs_get_what_the_workflow_needs_and_no_tool_of_developers() -> None:
    pins = dict(tuple(pin.split("==")) for pin in RUNTIME)
    locked = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    assert pins.items() <= locked.items()
    tools = {Requirement(line).name for line in requires("warlab") or [] if "dev" in line} - {"warlab"}
    assert closure("warlab", extra="workflow") - {"warlab"} <= set(pins) and "snakemake" in pins
    assert not (tools - closure("warlab", extra="workflow")) & set(pins) and "pytest" in tools


def test_the_configuration_is_that_of_the_working_folder_or_our_own(tmp_path: Path) -> None:
    """As in `snakemake --directory .test`, where the catalog looks for a small configuration."""
    snakemake, plan = f"snakemake -s {ROOT}/Snakefile -n -- runs", f"{sys.executable} -m warlab plan"
    demo, said = planned_jobs(output_of(snakemake, tmp_path)), output_of(plan, tmp_path)
    assert re.search(r"^demo .*this scale", said, re.MULTILINE)
    shutil.copytree(ROOT / ".test" / "config", tmp_path / "config")
    smoke, said = planned_jobs(output_of(snakemake, tmp_path)), output_of(plan, tmp_path)
    assert re.search(r"^smoke .*this scale", said, re.MULTILINE) and smoke["train"] > demo["train"]
