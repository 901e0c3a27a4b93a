"""One experiment of the smoke scale through a real Slurm, and everything that a cluster does to jobs.

tests/cluster/slurm.sh starts Slurm on this machine; a Slurm that is already configured is never touched. `make test`
runs the first test where Slurm is installed, `make test-cluster` all of them.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.faults.counting import count
from tests.faults.workflow import (
    METHODS,
    TABLE,
    assert_same_results,
    assert_trained_once,
    call,
    finish,
    planned,
    project,
    provenance,
    start,
    trainer_of,
    training_log,
)
from tests.helpers.runs import wait_for
from tests.project.test_cluster_docs import with_gres

SCRIPT = ROOT / "tests" / "cluster" / "slurm.sh"
EPOCHS = 25  # long enough to be interrupted


def missing() -> str | None:
    tools = [tool for tool in ("sbatch", "slurmctld", "slurmd", "munged") if shutil.which(tool, path=_path()) is None]
    if tools:
        return f"Slurm was left out: {', '.join(tools)} not installed (Debian: slurm-wlm munge)"
    if os.getuid() != 0:
        return "Slurm was left out: only root can start one"
    if find_spec("snakemake_executor_plugin_slurm") is None:
        return "Slurm was left out: pip install -e .[slurm]"
    return None


def _path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin"


pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")
everything = pytest.mark.slow


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("slurm")
    started = subprocess.run(
        [SCRIPT, "up", folder], env={**os.environ, "PATH": _path()}, capture_output=True, text=True
    )
    if started.returncode == 3:
        pytest.skip("Slurm was left out: this machine has one that is configured")
    assert started.returncode == 0, started.stderr
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("WARLAB_DEVICE", "cpu")  # this Slurm hands out GPUs that do not exist
        yield
    subprocess.run([SCRIPT, "down", folder], env={**os.environ, "PATH": _path()}, check=True)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same experiment without a cluster, undisturbed."""
    folder = project(tmp_path_factory.mktemp("calm"), EPOCHS)
    call(folder, "--cores", "2", TABLE)
    return folder


def cluster(folder: Path, profile: str = "slurm", retries: int = 5, gres: bool = False, **changes: object) -> list[str]:
    """Write the profile for this site (no account, short waits, small jobs) and return the arguments that use it."""
    text = (folder / "profiles" / profile / "profile.yaml").read_text()
    content = yaml.safe_load(with_gres(text) if gres else text)
    content["default-resources"].pop("slurm_account")
    content["default-resources"]["mem_mb"] = 500
    content["set-resources"].pop("prepare", None)  # this Slurm has no partition for CPUs
    for rule in content["set-resources"].values():
        rule |= {"mem_mb": 500, "runtime": 20}
    content |= {
        "retries": retries,
        "slurm-no-account": True,
        "slurm-init-seconds-before-status-checks": 2,
        "latency-wait": 10,
    }
    content["set-resources"]["train"] |= changes
    site = folder / "profiles" / "site"
    site.mkdir(exist_ok=True)
    (site / "profile.yaml").write_text(yaml.safe_dump(content))
    return ["--workflow-profile", "profiles/site", TABLE]


def slurm_jobs(folder: Path) -> list[str | None]:
    """Return the Slurm jobs that finished the runs of METHODS."""
    return [provenance(folder, method)["slurm_job"] for method in METHODS]


def job_of(folder: Path, method: str) -> str:
    """Return the job whose process holds the lock of a run."""
    variables = Path(f"/proc/{trainer_of(folder, method)}/environ").read_text()
    match = re.search(r"SLURM_JOB_ID=(\d+)", variables.replace("\0", "\n"))
    assert match
    return match[1]


def resumed(folder: Path, method: str) -> int:
    """Return the last epoch from which the log says that the run resumed."""
    log = training_log(folder, method).read_text()
    epochs = re.findall(r"resumed from epoch (\d+)", log)
    assert epochs, log
    return int(epochs[-1])


def test_an_experiment_goes_through_sbatch_to_the_same_bits(slurm: None, tmp_path: Path) -> None:
    """On two GPUs that Slurm numbers; the same command then has nothing left to do."""
    folder, local = (project(tmp_path / name, 4) for name in ("cluster", "local"))
    call(local, "--cores", "2", TABLE)
    call(folder, *cluster(folder))
    assert_same_results(local, folder, *METHODS)
    jobs = slurm_jobs(folder)
    assert None not in jobs and len(set(jobs)) == 2
    assert {provenance(folder, method)["visible_gpus"] for method in METHODS} <= {"0", "1"}
    assert planned(folder, TABLE) == {}
    count("experiment through sbatch")


@everything
def test_gpus_by_gres_in_an_array_are_requested_as_such_and_train_the_same_bits(slurm: None, tmp_path: Path) -> None:
    """The profile's lines for --gres, uncommented, and one sbatch for the two trainings that are ready together."""
    methods = ("cce", "ar")
    folder, local = (project(tmp_path / name, 4, methods) for name in ("cluster", "local"))
    call(local, "--cores", "2", TABLE)
    call(folder, *cluster(folder, gres=True), "--slurm-array-jobs", "train")
    assert_same_results(local, folder, *methods)
    made = [provenance(folder, method) for method in methods]
    assert {one["visible_gpus"] for one in made} <= {"0", "1"}
    told = [
        subprocess.run(["scontrol", "show", "job", "-o", one["slurm_job"]], capture_output=True, text=True).stdout
        for one in made
    ]
    assert all("TresPerNode=gres:gpu:1" in job and "TresPerJob" not in job for job in told), told
    assert len({re.findall(r"ArrayJobId=(\d+)", job)[0] for job in told}) == 1, told
    count("experiment through sbatch")


def start_training(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a snakemake, wait for the third epoch of WAR, and return the Slurm job that trains it."""
    snakemake = start(project(folder, EPOCHS), *cluster(folder))
    wait_for(training_log(folder, "war_w2v"), "epoch 3/")
    return snakemake, job_of(folder, "war_w2v")


@everything
def test_a_cancelled_job_is_submitted_again_and_resumes(slurm: None, calm: Path, tmp_path: Path) -> None:
    folder = tmp_path
    snakemake, job = start_training(folder)
    subprocess.run(["scancel", job], check=True)
    finish(snakemake, folder)
    assert resumed(folder, "war_w2v") >= 2 and slurm_jobs(folder)[1] != job
    assert_same_results(calm, folder, *METHODS)
    count("scancel")


@everything
def test_a_preempted_job_is_requeued_and_resumes(slurm: None, calm: Path, tmp_path: Path) -> None:
    """A job of the higher partition takes both GPUs; Slurm puts ours back and starts it again under its number."""
    folder = tmp_path
    snakemake, job = start_training(folder)
    subprocess.run(["sbatch", "-p", "high", "--gpus=2", "-o", "/dev/null", "--wrap", "sleep 4"], check=True)
    wait_for(training_log(folder, "war_w2v"), "received: saved epoch")
    hurry(job)
    finish(snakemake, folder)
    assert resumed(folder, "war_w2v") >= 2 and slurm_jobs(folder)[1] == job
    assert_same_results(calm, folder, *METHODS)
    count("preemption")


def hurry(job: str) -> None:
    """Start requeued jobs at once, which Slurm would hold for two minutes. The processes of the job's first start must
    have ended: Slurm takes a node out of service that is given a job which it still has."""
    end = time.monotonic() + 60
    while _has_processes(job) and time.monotonic() < end:
        time.sleep(0.5)
    time.sleep(2)  # Slurm counts the age of credentials in whole seconds
    waiting = ["squeue", "-h", "-t", "PD", "-o", "%i"]
    while time.monotonic() < end:
        requeued = subprocess.run(waiting, capture_output=True, text=True).stdout.split()
        for one in requeued:
            subprocess.run(["scontrol", "update", f"JobId={one}", "StartTime=now"], capture_output=True)
        if job in requeued:
            return
        time.sleep(0.5)


def _has_processes(job: str) -> bool:
    return subprocess.run(["pgrep", "-f", rf"slurmstepd: \[{job}\."], capture_output=True).returncode == 0


@everything
def test_a_node_that_goes_down_and_comes_back_costs_nothing(slurm: None, calm: Path, tmp_path: Path) -> None:
    """Slurm holds requeued jobs for two minutes, and here it may: a node that gets a job back in the second in which it
    revoked the job's credentials can refuse it. Slurm then drains the node and holds the job."""
    folder = tmp_path
    snakemake, _ = start_training(folder)
    node = subprocess.run(["hostname", "-s"], capture_output=True, text=True).stdout.strip()
    subprocess.run(["scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test"], check=True)
    time.sleep(3)
    # refused if the node has reported back by itself (ReturnToService=2)
    subprocess.run(["scontrol", "update", f"NodeName={node}", "State=RESUME"], capture_output=True)
    finish(snakemake, folder)
    log = training_log(folder, "war_w2v").read_text()
    assert "resumed from epoch" in log or "its result" in log, "a lost process may also have finished"
    assert_same_results(calm, folder, *METHODS)
    count("node down")


@everything
def test_snakemake_waits_for_its_running_jobs_after_a_kill(slurm: None, calm: Path, tmp_path: Path) -> None:
    """The second copy of a job waits for the first and uses its result: no run is trained twice."""
    folder = project(tmp_path, EPOCHS)
    snakemake = start(folder, *cluster(folder))
    log = training_log(folder, "war_w2v")
    wait_for(log, "epoch 2/")
    job = job_of(folder, "war_w2v")
    training = trainer_of(folder, "war_w2v")
    os.kill(training, signal.SIGSTOP)  # so that it cannot end before the second one waits
    snakemake.kill()
    snakemake.wait()
    call(folder, "--unlock")
    second = start(folder, *cluster(folder))
    wait_for(log, "already being trained by process")
    os.kill(training, signal.SIGCONT)
    finish(second, folder)
    assert_trained_once(log.read_text(), EPOCHS)
    assert slurm_jobs(folder)[1] == job
    assert_same_results(calm, folder, *METHODS)
    count("SIGKILL of snakemake")


@everything
def test_a_job_near_its_time_limit_saves_and_continues_in_the_next_job(slurm: None, tmp_path: Path) -> None:
    """One minute for a training of about one, more on a busy machine: TERM 25 s before, exit 75, a new job."""
    epochs = 300
    folder = project(tmp_path / "cluster", epochs, methods=("cce",))
    call(folder, *cluster(folder, retries=30, runtime=1, slurm_extra="'--signal=TERM@25'"), seconds=1500)
    log = training_log(folder, "cce").read_text()
    assert "SIGTERM received: saved epoch" in log and resumed(folder, "cce") > 0
    local = project(tmp_path / "local", epochs, methods=("cce",))
    call(local, "--cores", "2", TABLE)
    assert_same_results(local, folder, "cce")
    count("time limit")


@everything
def test_short_trainings_share_an_allocation(slurm: None, calm: Path, tmp_path: Path) -> None:
    folder = project(tmp_path, EPOCHS)
    call(folder, *cluster(folder, "slurm-packed"))
    assert len(set(slurm_jobs(folder))) == 1
    assert_same_results(calm, folder, *METHODS)
    count("experiment through sbatch")


def test_the_profiles_poll_with_squeue_and_keep_retries_out_of_the_rules() -> None:
    """Facts that cost days if they are forgotten; the comments in the profiles explain them."""
    default = yaml.safe_load((ROOT / "profiles" / "default" / "profile.yaml").read_text())
    for name in ("slurm", "slurm-packed"):
        profile = yaml.safe_load((ROOT / "profiles" / name / "profile.yaml").read_text())
        # With --profile instead of --workflow-profile, the default profile overrides what both of them set.
        assert {key for key in default if profile.get(key, default[key]) != default[key]} == set()
        assert profile["slurm-status-command"] == "squeue" and profile["retries"] >= 1 and profile["rerun-incomplete"]
        assert "code" not in profile["rerun-triggers"] and "TERM@" in profile["set-resources"]["train"]["slurm_extra"]
    assert "retries" not in (ROOT / "rules" / "train.smk").read_text()
