"""`--sdm apptainer` with the image that the configuration names. Apptainer is a script here, without any image."""

import os
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.helpers.checkout import output_of, planned_jobs
from tests.helpers.rules import Rules
from warlab.pipeline.bare import prefer_own_source

APPTAINER = """#!/bin/bash
[ "$1" = --version ] && echo "apptainer version 1.4.5" && exit
echo "$APPTAINER_BIND $*" >>"$CALLS"
exec bash -c "${@: -1}"
"""
TARGET = "results/smoke/tables/hyperparameters.csv"
BINDS = ("APPTAINER_BIND", "SINGULARITY_BIND")


def test_an_image_is_used_only_on_request_and_a_run_in_it_counts_as_another(tmp_path: Path) -> None:
    (tmp_path / "apptainer").write_text(APPTAINER)
    (tmp_path / "apptainer").chmod(0o755)
    calls, path = tmp_path / "calls", f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = {"PATH": path, "CALLS": str(calls), "APPTAINER_BIND": "/site"}
    without = f"snakemake -s {ROOT}/Snakefile --cores 1 --config scale=smoke"
    named = f"{without} container={tmp_path}/warlab.sif"
    output_of(f"{without} -- {TARGET}", tmp_path, **variables)
    assert planned_jobs(output_of(f"{named} -n -- {TARGET}", tmp_path, **variables)) == {} and not calls.exists()
    said = output_of(f"{named} --sdm apptainer -- {TARGET}", tmp_path, **variables)
    binds, _, arguments = calls.read_text().partition(" ")
    assert "Software environment definition has changed" in said and f"{tmp_path}/warlab.sif" in arguments
    assert binds.split(",") == [str(ROOT), "/site"], "the job sees the source of this repository from any folder"
    assert planned_jobs(output_of(f"{named} --sdm apptainer -n -- {TARGET}", tmp_path, **variables)) == {}


def test_what_is_typeset_uses_the_latex_of_the_machine() -> None:
    rules = Rules(container="warlab.sif").workflow.rules
    assert {rule.name for rule in rules if rule.script and rule.container_img != "warlab.sif"} == {"typeset"}
    assert not any(rule.container_img for rule in Rules().workflow.rules)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [str(ROOT), str(ROOT)]),
        ({"SINGULARITY_BIND": "/site"}, [f"{ROOT},/site", f"{ROOT},/site"]),  # Apptainer would read only its own
        ({"APPTAINER_BIND": "/new", "SINGULARITY_BIND": "/old"}, [f"{ROOT},/new", f"{ROOT},/old"]),
    ],
)
def test_folders_that_a_site_binds_stay_bound(given: dict, expected: list, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", *BINDS):
        monkeypatch.setenv(name, given.get(name, ""))
    for _ in range(2):  # Snakemake reads the rules once more in each job of a cluster
        prefer_own_source()
        assert [os.environ[name] for name in BINDS] == expected
