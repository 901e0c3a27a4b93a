"""Profiles and docs/cluster.md agree with the rules: which become jobs, and what they ask for."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests.conftest import ROOT
from tests.helpers.checkout import output_of, planned_jobs
from warlab.pipeline.jobs import load_jobs
from warlab.pipeline.run_times import load_run_times
from warlab.pipeline.workflow import PREPARING, TRAINING, Effort

RULES = "\n".join(path.read_text() for path in [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))])
BODIES = dict(re.findall(r"^rule (\w+):\n((?:(?:    .*)?\n)*)", RULES, re.MULTILINE))
BODIES |= {copy: BODIES[rule] for rule, copy in re.findall(r"^use rule (\w+) as (\w+) with:", RULES, re.MULTILINE)}
PAGE = (ROOT / "docs" / "cluster.md").read_text()


def local_rules() -> set[str]:
    """Return the rules that say so themselves, and those without a script, which only name files."""
    return {name for name, body in BODIES.items() if "    localrule: True\n" in body or "    script:\n" not in body}


def jobs() -> set[str]:
    return set(BODIES) - local_rules()


def profile(name: str) -> dict:
    return yaml.safe_load((ROOT / "profiles" / name / "profile.yaml").read_text())


def test_every_rule_is_read() -> None:
    assert len(BODIES) == len(re.findall(r"^(?:use )?rule ", RULES, re.MULTILINE)) and local_rules() < set(BODIES)


def test_the_page_names_the_rules_that_become_jobs() -> None:
    sentence = re.search(r"Jobs are (.*?)\. ", PAGE, re.DOTALL)
    assert sentence and set(re.findall(r"`(\w+)`", sentence[1])) == jobs()


def rules_with_gpu() -> set[str]:
    return {name for name, body in BODIES.items() if re.search(r"^        gpu=1,$", body, re.MULTILINE)}


def test_every_rule_that_asks_for_a_gpu_is_a_job_and_has_slots_on_a_workstation() -> None:
    assert rules_with_gpu() == set(profile("gpu")["set-resources"]) and rules_with_gpu() <= jobs()


def with_gres(text: str) -> str:
    """Uncomment the lines of a profile for sites with --gres, and that of the partition without GPUs."""
    plain = re.sub(r"^  (train|retrain): .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^  # (\w+: \{.*\})$", r"  \1", plain, flags=re.MULTILINE)


@pytest.mark.parametrize("name", ["slurm", "slurm-packed"])
def test_sites_with_gres_have_lines_to_uncomment(name: str, tmp_path: Path) -> None:
    """They replace `gpu`, which becomes --gpus, for every rule that asks for a GPU."""
    site = yaml.safe_load(with_gres((ROOT / "profiles" / name / "profile.yaml").read_text()))
    given = site["set-resources"]
    assert {rule for rule, asked in given.items() if "gres" in asked} == rules_with_gpu()
    assert set(given) - rules_with_gpu() == {"prepare"} == jobs() - rules_with_gpu()
    plain = profile(name)["set-resources"]
    assert {rule: {"slurm_extra": given[rule]["slurm_extra"]} for rule in plain} == plain
    local = {key: site[key] for key in site if "slurm" not in key and key not in ("executor", "groups")}
    (tmp_path / "profile.yaml").write_text(yaml.safe_dump(local))
    place = f"results_root={tmp_path} data_root={tmp_path}"
    plan = output_of(f"snakemake -n --cores 1 --nolock --workflow-profile {tmp_path} --config {place}", ROOT)
    asked = dict(re.findall(r"^rule (\w+):\n(?:    .*\n)*?    resources: (.*)$", plan, re.MULTILINE))
    for rule in set(asked) & rules_with_gpu():
        assert {"gpu=0", "gres=gpu:1"} <= set(asked[rule].split(", ")), rule
    assert "slurm_partition=cpu" in asked["prepare"] and "gres" not in asked["prepare"] and "gres" in asked["train"]


def test_the_plugin_makes_gres_of_these_lines_and_no_gpus() -> None:
    utils = pytest.importorskip("snakemake_executor_plugin_slurm.utils")
    make = lambda **asked: utils.set_gres_string(SimpleNamespace(resources=Resources(asked)))  # noqa: E731
    assert make(gpu=0, gres="gpu:1") == " --gres=gpu:1" and make(gpu=0, gres="gpu:a100:1") == " --gres=gpu:a100:1"
    assert make(gpu=1, gpu_model="a100") == " --gpus=a100:1" and make(gpu=1) == " --gpus=1" and make() == ""


class Resources(dict):
    __getattr__ = dict.get


@pytest.mark.parametrize("name", ["slurm", "slurm-packed"])
def test_a_profile_for_clusters_takes_no_memory_or_time_from_a_rule(name: str) -> None:
    """A value in a profile applies to all jobs of a rule, even to those that need more."""
    given = profile(name)["set-resources"]
    assert set(given) <= jobs() and given["train"] == given["retrain"]
    assert not {"mem_mb", "runtime"} & {key for settings in given.values() for key in settings}
    for job in jobs():
        assert re.search(r"^        mem_mb=", BODIES[job], re.MULTILINE), job
        assert re.search(r"^        runtime=", BODIES[job], re.MULTILINE), job


@pytest.mark.parametrize(
    ("row", "samples"), [("images", "images"), ("tiles of Vaihingen", "tiles"), ("Clothing1M", "stored")]
)
def test_the_page_says_what_a_training_asks_for(row: str, samples: str) -> None:
    """tests/pipeline/test_pipeline.py has the jobs that ask for it."""
    assert f"| {row} | {TRAINING[samples].mem_mb} MB | {TRAINING[samples].minutes} min |" in PAGE
    assert PREPARING["stored"] == Effort(8000, 1440, threads=4), "a million images take a day"


def test_a_training_requests_three_times_its_estimate_and_ten_minutes_but_no_more_than_the_page_says() -> None:
    jobs = load_jobs({"scale": "smoke"}, str(ROOT / "rules"), print).runs
    assert {jobs.minutes(SimpleNamespace(**vars(run)), 1) for run in jobs.study.plan.runs} == {11}  # a few seconds each
    jobs = load_jobs({"scale": "paper"}, str(ROOT / "rules"), print).runs
    asked = {run.dataset: jobs.minutes(SimpleNamespace(**vars(run)), 1) for run in jobs.study.plan.runs}
    assert asked["vaihingen"] == asked["clothing1m"] == 2160 and asked["cifar10"] == 720  # on one core of the reference


def test_the_limit_follows_the_times_of_finished_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = load_jobs({"scale": "paper"}, str(ROOT / "rules"), print).runs
    first, second = [run for run in jobs.study.plan.runs if (run.dataset, run.method) == ("cifar10", "cce")][:2]
    times = load_run_times(jobs.study, ROOT, {first: 1200.0})  # on a GPU
    monkeypatch.setattr(jobs, "_times", times)
    assert [jobs.minutes(SimpleNamespace(**vars(second)), attempt) for attempt in (1, 2, 30)] == [71, 142, 720]


def test_both_profiles_for_slurm_differ_in_the_packing_alone() -> None:
    plain, packed = profile("slurm"), profile("slurm-packed")
    extra = {"groups", "group-components", "set-resource-scopes", "resources"}
    assert {key: packed[key] for key in packed if key not in extra} == plain


@pytest.mark.parametrize(("scale", "together"), [("demo", "packed=8"), ("paper", "packed=4")])
def test_packed_trainings_can_be_planned(scale: str, together: str, tmp_path: Path) -> None:
    """Also where a training reads the predictions of another (`paper`): no group may depend on itself."""
    packed = profile("slurm-packed")
    assert packed["group-components"] == ["packed=4"] and "`--group-components packed=8`" in PAGE
    command = ["snakemake", "-n", "--quiet", "rules", "--cores", "1", "--nolock"]
    command += ["--groups", *packed["groups"], "--group-components", together]
    command += ["--set-resource-scopes", *packed["set-resource-scopes"], "--resources", *packed["resources"]]
    command += ["--config", f"scale={scale}", f"results_root={tmp_path}", f"data_root={tmp_path}"]
    assert planned_jobs(output_of(command, ROOT))["train"] > 0
