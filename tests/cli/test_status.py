"""`warlab status`, `warlab doctor` and `warlab plan`."""

import errno
import fcntl
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.helpers.checkout import PATIENCE
from tests.helpers.runs import resolved, wait_for
from tests.helpers.studies import study_of
from warlab.artefacts.run_identity import RunIdentity
from warlab.artefacts.run_result import RunResult
from warlab.cli import doctor, main
from warlab.cli.status import CLEAR, run_state, status, watch
from warlab.common.files import write_json, write_text
from warlab.common.progress import duration
from warlab.config.study import Study, load_study
from warlab.engine.lock import only_writer
from warlab.errors import Interrupted, WarlabError
from warlab.ids import RunId
from warlab.pipeline.paths import Paths
from warlab.pipeline.run_times import PER_RUN, RunTimes, load_run_times, overview
from warlab.pipeline.script import job
from warlab.pipeline.sources import list_sources

CELL = RunId("fashion_mnist", "asym-40", "cnn9", "war_w2v", 0)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """The smoke scale without files. Results are up to date: tests/workflow/test_edits.py has the comparison."""
    monkeypatch.setattr("warlab.cli.status.find_changes", lambda *_: [])
    return load_study({"scale": "smoke", "results_root": str(tmp_path), "data_root": str(tmp_path / "raw")}, ROOT)


def folder(study: Study) -> Path:
    return Path(study.config["results_root"]) / "smoke"


def begin(study: Study, epochs: int = 2) -> Path:
    """A run of which some epochs are saved."""
    run = folder(study) / "runs" / str(CELL)
    rows = [f"{k + 1},{60 + k},{10 * (k + 1)}" for k in range(epochs)]
    write_text(run / "checkpoint" / "0123" / "metrics.csv", "\n".join(["epoch,test_accuracy,seconds", *rows]))
    return run


def log(study: Study) -> Path:
    return folder(study) / "logs" / "train" / f"{CELL}.log"


def test_a_run_waits_runs_and_stops_with_its_epochs(study: Study) -> None:
    run = folder(study) / "runs" / str(CELL)
    assert run_state(study, ROOT, CELL).state == "waiting"
    with only_writer(run):
        assert run_state(study, ROOT, CELL).epochs == "0/4"
    begin(study)
    write_text(log(study), "2026-01-01 00:00:00 warlab: disk full\n")  # in an earlier attempt
    with only_writer(run) as announce:
        announce("0123")
        state = run_state(study, ROOT, CELL)
    assert (state.state, state.epochs, state.accuracy) == ("running", "2/4", 61.0)
    assert state.left == 2 * 15  # two epochs of 15 seconds


@pytest.mark.parametrize(
    ("error", "code", "state", "note"),
    [
        (WarlabError("The loss is not finite."), 1, "failed", "The loss is not finite."),
        (ZeroDivisionError("division by zero"), None, "failed", "unexpected ZeroDivisionError: division by zero"),
        (Interrupted("SIGTERM received: saved epoch 3, batch 1."), 75, "stopped", "saved epoch 3"),
    ],
)
def test_the_last_line_of_the_log_says_how_a_run_ended(
    error: Exception, code: int | None, state: str, note: str, study: Study
) -> None:
    begin(study)
    with pytest.raises((SystemExit, ZeroDivisionError)) as end, job(str(log(study))):
        raise error
    assert getattr(end.value, "code", None) == code
    assert run_state(study, ROOT, CELL).state == state and note in run_state(study, ROOT, CELL).note


def test_ctrl_c_is_one_sentence_and_no_traceback(tmp_path: Path) -> None:
    """Of the jobs that save nothing, such as figures."""
    with_job = "with job(sys.argv[1]) as log: log.info('in'), time.sleep(60)"
    code = f"import sys, time\nfrom warlab.pipeline.script import job\n{with_job}"
    command = [sys.executable, "-c", code, str(tmp_path / "log.txt")]
    # A shell starts what it runs in the background with SIGINT ignored, and the suite may be run like that.
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    wait_for(tmp_path / "log.txt", "in")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said.splitlines() == ["in", "stopped by Ctrl-C. Run the same command again to resume."]


def test_the_table_counts_every_state(study: Study) -> None:
    save_result(study, CELL)
    text = status(study, ROOT)
    assert re.search(rf"^done +{CELL} +3/4 +70\.00 %$", text, re.MULTILINE)
    assert text.endswith(f"smoke: {len(study.plan.runs)} runs, 1 done, {len(study.plan.runs) - 1} waiting")
    assert len({line.index("epoch") for line in text.splitlines() if "epoch" in line}) == 1


def test_a_result_that_will_be_trained_again_is_outdated_with_its_own_epochs(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_result(study, CELL)
    monkeypatch.setattr("warlab.cli.status.find_changes", lambda *_: ["epochs: 3 → 4", "methods/war.py changed"])
    assert re.search(rf"^outdated +{CELL} +3/4 +70\.00 % +epochs: 3 → 4 and 1 more$", status(study, ROOT), re.MULTILINE)
    assert "remaining: " in status(study, ROOT) and ", 1 outdated, " in status(study, ROOT)
    write_json(folder(study) / "runs" / str(CELL) / "result.json", {"id": "0", "data": "real"})
    state = run_state(study, ROOT, CELL)
    assert state.state == "outdated" and "result.json lacks 'code'" in state.note


def test_a_run_may_end_while_its_epochs_are_read(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(study)
    monkeypatch.setattr(Path, "glob", lambda folder, _: iter([folder / "removed" / "metrics.csv"]))
    assert run_state(study, ROOT, CELL).state == "waiting"


def test_watching_shows_what_is_in_progress_until_all_is_done(
    study: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin(study)
    first, *others = study.plan.runs
    save_result(study, first)
    finish = iter([lambda: [save_result(study, run) for run in others], lambda: pytest.fail("all runs are done")])
    monkeypatch.setattr("time.sleep", lambda _: next(finish)())
    assert watch(study, ROOT) == f"smoke: {len(study.plan.runs)} runs, {len(study.plan.runs)} done"
    _, picture, end, _ = capsys.readouterr().out.split(CLEAR)
    assert re.search(rf"^█{{10}}·{{10}}  50 %  stopped  {CELL} +2/4", picture, re.MULTILINE)
    assert str(others[-1]) not in picture and "remaining: about" in picture and ", 1 done, 1 stopped" in picture
    assert end.startswith("█" * 20 + " 100 % of all runs are done")


def test_a_picture_of_many_runs_is_no_longer_than_the_terminal(
    study: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its long lines take two lines each, and the last of all says the most."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "20")
    for run in study.plan.runs:
        write_text(Path(Paths.of(study).train_log(run)), "2026-01-01 00:00:00 warlab: the data are missing\n")
    monkeypatch.setattr("time.sleep", lambda _: signal.raise_signal(signal.SIGINT))
    watch(study, ROOT)
    picture = capsys.readouterr().out.split(CLEAR)[1].splitlines()
    assert sum(-(-len(line) // 60) for line in picture) < 20 and "failed" in picture[1] and "failed" in picture[-1]


def test_ctrl_c_ends_the_watch_with_the_summary(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: signal.raise_signal(signal.SIGINT))
    assert watch(study, ROOT).endswith(f"smoke: {len(study.plan.runs)} runs, {len(study.plan.runs)} waiting")


def test_checkpoints_of_another_configuration_are_not_taken_for_those_of_the_last(study: Study) -> None:
    """They stay where they are; the run that began last has no epoch yet."""
    run = begin(study)
    with only_writer(run) as announce:
        announce("4567")
        assert run_state(study, ROOT, CELL).epochs == "0/4"
    assert run_state(study, ROOT, CELL).state == "waiting"
    with only_writer(run) as announce:
        announce("0123")
        assert run_state(study, ROOT, CELL).epochs == "2/4"


# ---- doctor


def findings(check: object, study: Study, root: Path = ROOT) -> dict[str, doctor.Finding]:
    return {finding.text: finding for finding in check(study, root)}  # type: ignore[operator]


def test_another_version_is_named_and_a_missing_package_is_wrong(study: Study, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy==1.0\n")
    (one,) = doctor.packages(study, tmp_path)
    assert one.state == "note" and re.search(
        r"numpy 2\S+ instead of 1\.0: run .* -m pip install -r \S*/requirements.txt", one.text
    )
    (tmp_path / "requirements.txt").write_text("no-such-package==1.0\n")
    (one,) = doctor.packages(study, tmp_path)
    assert one.state == "wrong" and "no-such-package missing instead of 1.0" in one.text


def test_forced_tf32_is_wrong(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    assert all(finding.state != "wrong" for finding in doctor.gpu(study, ROOT) if finding.topic == "tf32")
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    assert any(finding.state == "wrong" and "unset it" in finding.text for finding in doctor.gpu(study, ROOT))


def test_a_full_disk_is_wrong_and_says_how_much_is_needed(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    assert all(finding.state == "good" for finding in doctor.disk(study, ROOT))
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 2**20}))
    first, second = doctor.disk(study, ROOT)
    assert first.state == "wrong" and f"has 1 MB free, smoke may need {doctor.needed_mb(study)}" in first.text
    assert second.state == "good"


def test_a_folder_that_cannot_be_written_is_wrong(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.tempfile, "NamedTemporaryFile", refuse)
    assert all(f.state == "wrong" and "Permission denied" in f.text for f in doctor.disk(study, ROOT))


def test_a_file_system_without_locks_is_a_note_and_no_fault(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings then reserve a run by a file."""

    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    notes = [finding for finding in doctor.disk(study, ROOT) if finding.topic == "locks"]
    assert len(notes) == 2 and all("without file locks (No locks available)" in finding.text for finding in notes)
    assert all(finding.state == "good" for finding in doctor.disk(study, ROOT) if finding.topic == "disk")


def test_data_that_needs_a_network_is_said(study: Study, tmp_path: Path) -> None:
    paper = load_study({"scale": "paper", "data_root": str(tmp_path)}, ROOT)
    found = {finding.text.split()[0]: finding for finding in doctor.data_present(paper, ROOT)}
    assert list(found) == [entry.name for entry in list_sources(paper)] and {"svhn", "resnet18", "resnet50"} < set(
        found
    )
    for name, finding in found.items():
        asked = name in ("clothing1m", "imagenet32", "vaihingen")
        assert finding.state == ("wrong" if asked else "absent")
        assert re.search(f"local_data: {{{name}: folder}}" if asked else "is fetched from the network", finding.text)
    write_json(tmp_path / "cifar10" / "real" / "receipt.json", {})
    assert "cifar10 (real) is there" in findings(doctor.data_present, paper)
    assert all(finding.state == "good" for finding in doctor.data_present(study, ROOT))


def test_an_absent_source_keeps_the_doctor_from_saying_that_nothing_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "CHECKS", (doctor.data_present,))
    (tmp_path / "own").mkdir()
    places = {name: str(tmp_path / "own") for name in ("clothing1m", "imagenet32", "vaihingen")}
    config = {"scale": "paper", "data_root": str(tmp_path / "raw")}
    text, good = doctor.doctor(load_study(config, ROOT), ROOT)
    assert not good and text.endswith("Wrong: 3, absent: 6; the lines above say what to do.")
    study = load_study(config | {"local_data": places}, ROOT)
    text, good = doctor.doctor(study, ROOT, Path("my settings.yaml"))
    assert good and text.endswith("Absent: 9; the lines above say what to do.") and f"is taken from {tmp_path}" in text
    assert "run: snakemake --cores 1 data --configfile 'my settings.yaml' --config scale=paper" in text
    for entry in list_sources(study):
        write_json(Path(Paths.of(study).receipt(entry.name, entry.folder)), {})
    assert doctor.doctor(study, ROOT)[0].endswith("Nothing is wrong.")
    gone = load_study(config | {"local_data": {"imagenet32": str(tmp_path / "gone")}}, ROOT)
    (tmp_path / "raw" / "imagenet32" / "real" / "receipt.json").unlink()
    assert f"({tmp_path / 'gone'}, which local_data names, is not there)" in doctor.doctor(gone, ROOT)[0]


@pytest.mark.parametrize(
    ("programs", "plugin", "notes"),
    [
        ([], None, ["pdflatex"]),
        (["pdflatex", "sbatch"], None, ["slurm"]),
        (["pdflatex", "sbatch"], "2.7.0", ["slurm"]),
        (["pdflatex", "sbatch"], doctor.TESTED_PLUGIN, []),
    ],
)
def test_missing_programs_are_notes(
    programs: list[str], plugin: str | None, notes: list[str], monkeypatch: pytest.MonkeyPatch, study: Study
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name in programs else None)
    monkeypatch.setattr(doctor, "_installed", lambda name: plugin)
    found = list(doctor.programs(study, ROOT))
    assert [finding.topic for finding in found] == notes and {finding.state for finding in found} <= {"note"}
    assert f'"{doctor.PLUGIN}=={doctor.TESTED_PLUGIN}"' in (ROOT / "pyproject.toml").read_text()
    assert all(
        shlex.split(one.text.split(": run ")[1])[-1] == f"{ROOT}[slurm]" for one in found if one.topic == "slurm"
    )


@pytest.mark.parametrize(("python", "good"), [((3, 10), False), ((3, 11), True), ((3, 13), True), ((3, 15), False)])
def test_all_pythons_of_the_readme_are_good(
    python: tuple[int, int], good: bool, monkeypatch: pytest.MonkeyPatch, study: Study
) -> None:
    monkeypatch.setattr("sys.version_info", (*python, 0))
    (finding,) = doctor.python_version(study, ROOT)
    assert finding.state == ("good" if good else "wrong") and ("make clean" in finding.text) != good


def test_a_wrong_scale_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("doctor", "plan"):
        assert main.main(["--root", str(ROOT), "--scale", "smok", command]) == 1
        said = capsys.readouterr().err
        assert said.startswith("warlab: There is no scale 'smok'") and said.count("\n") == 1


@pytest.mark.parametrize("command", ["plan", "--help"])
def test_a_reader_that_stops_reading_is_no_error(command: str, tmp_path: Path) -> None:
    """As in `warlab status | head`; the reader is gone before the first line."""
    warlab = [sys.executable, "-m", "warlab", *command.split()]
    process = subprocess.Popen(warlab, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait(PATIENCE)


def test_doctor_and_plan_agree_on_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = next(doctor.gpu(study_of("demo"), ROOT)).text
    hours = re.findall(r"^demo +\d+ +\d+ +([\d.]+)", overview({"scale": "demo"}, ROOT), re.MULTILINE)
    said = re.search(r"demo takes about ([\d,.]+) core hours", found)
    assert said and float(said[1].replace(",", "")) == pytest.approx(float(hours[0]), rel=0.05)


# ---- the time of the whole scale


def remaining(study: Study) -> str:
    (line,) = [line for line in status(study, ROOT).splitlines() if line.startswith("remaining: ")]
    return line


def planned(study: Study) -> RunTimes:
    return load_run_times(study, ROOT, observed={})


def save_result(study: Study, run: RunId, took: float = 1.0) -> None:
    """Save the result of a run of three epochs."""
    result = RunResult(RunIdentity(resolved("cce"), {}, {}, {}), {}, "real", {"last": 70.0}, {"seconds": took})
    result.save(folder(study) / "runs" / str(run) / "result.json")


def test_the_rest_is_what_plan_says_corrected_by_the_runs_so_far(study: Study) -> None:
    times, runs = planned(study), study.plan.runs
    hours = times.hours()
    assert f"about {duration(3600 * hours)} of training" in remaining(study)
    assert remaining(study).endswith("(by the reference machine)")
    with only_writer(folder(study) / "runs" / str(runs[0])), only_writer(folder(study) / "runs" / str(runs[1])):
        assert f"{duration(1800 * hours)} with 2 at a time as now" in remaining(study)
    for run in runs[:2]:
        save_result(study, run, 3 * times.reference_seconds(run))
    left = sum(PER_RUN + 3 * times.reference_seconds(run) for run in runs[2:])
    assert f"about {duration(left)} of training" in remaining(study)
    assert remaining(study).endswith("(by the times of 2 runs)")
    for run in runs:
        save_result(study, run)
    assert "remaining: " not in status(study, ROOT)


def test_a_run_that_has_begun_counts_with_the_rest_of_its_own_epochs(study: Study) -> None:
    begin(study)  # two of four epochs, of 15 seconds
    times = planned(study)
    slower = 4 * 15 / times.reference_seconds(CELL)
    others = [run for run in study.plan.runs if run != CELL]
    left = 2 * 15 + sum(PER_RUN + slower * times.reference_seconds(run) for run in others)
    assert f"about {duration(left)} of training" in remaining(study)


# ---- plan
