"""Messages: standard logging, shown by the scripts of the workflow, and to others only if they ask for it."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.runs import resolved
from warlab.artefacts.run_identity import RunIdentity
from warlab.artefacts.run_result import RunResult
from warlab.common import progress
from warlab.common.files import read_json, write_json
from warlab.common.progress import Progress
from warlab.errors import WarlabError
from warlab.pipeline.script import job

logger = logging.getLogger("warlab.engine.run")


def test_a_job_writes_log_and_history_with_the_time_and_the_terminal_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, history = tmp_path / "logs" / "job.log", tmp_path / "run" / "history.log"
    for text in ("one", "two"):
        log.unlink(missing_ok=True)  # as Snakemake does before each try
        with job(str(log), "cce 40 %s", history):
            logger.info(text)
    assert capsys.readouterr().err == "cce 40 %s: one\ncce 40 %s: two\n"
    (line,) = log.read_text().splitlines()
    assert line[19:] == " two" and [line[20:] for line in history.read_text().splitlines()] == ["one", "two"]


def test_after_a_job_nothing_is_left_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger("warlab")
    before = (root.level, list(root.handlers))
    with pytest.raises(SystemExit), job(str(tmp_path / "job.log")):
        raise WarlabError("wrong.")
    assert (root.level, root.handlers) == before
    logger.info("not shown")
    assert capsys.readouterr().err == "warlab: wrong.\n"


def test_an_error_of_a_plug_in_is_laid_to_it_and_not_to_us(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, error = compile("\n1 / 0", tmp_path / "methods" / "mine.py", "exec"), "warlab: unexpected ZeroDivisionError: "
    for folder, remedy in (
        ("", "please report it.\n"),
        (
            str(tmp_path / "other"),
            f"call warlab check-plugin {tmp_path}/other, or report it if your plug-ins are right.\n",
        ),
        (str(tmp_path), f"correct {tmp_path}/methods/mine.py, line 2.\n"),
    ):
        monkeypatch.setenv("WARLAB_PLUGINS", folder)
        with pytest.raises(ZeroDivisionError), job(str(tmp_path / "job.log")):
            exec(mine)
        assert capsys.readouterr().err == f"{error}division by zero; {remedy}"


@pytest.mark.parametrize(
    ("asked", "shown"), [("", ""), ("logging.basicConfig(level='INFO', format='%(message)s');", "epoch 1\n")]
)
def test_a_library_shows_progress_to_those_who_ask(asked: str, shown: str) -> None:
    code = f"import logging; {asked} logging.getLogger('warlab.engine.run').info('epoch 1')"
    done = subprocess.run([sys.executable, "-c", f"import warlab; {code}"], capture_output=True, text=True, check=True)
    assert done.stderr == shown


def test_progress_is_a_line_every_ten_seconds_and_one_at_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with caplog.at_level(logging.INFO, "warlab"):
        tell = Progress("resized {} of {} images", 100, start=20)
        for done in range(21, 101):
            now[0] += 1
            tell(done)
    assert caplog.messages[0] == "resized 30 of 100 images, remaining 1 min 10 s"
    assert len(caplog.messages) == 8 and caplog.messages[-1] == "resized 100 of 100 images, remaining 0 s"


def test_progress_may_count_in_another_unit(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "warlab"):
        Progress("x.gz: {:.1f} of {:.1f} MB", 2_500_000, unit=10**6)(2_500_000)
    assert caplog.messages == ["x.gz: 2.5 of 2.5 MB, remaining 0 s"]


# ---- result.json


def test_a_result_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    identity = RunIdentity(resolved("war_w2v"), {"data": {"train": 300}}, {"methods/war.py": "0"}, {"noise": "1"})
    result = RunResult(identity, {"noise": "../noise.npz"}, "real", {"last": 1.0}, {"git": "x"})
    result.save(tmp_path / "result.json")
    assert RunResult.load(tmp_path / "result.json") == result
    content = read_json(tmp_path / "result.json")
    assert content["id"] == identity.id and content["run"] == result.run.to_dict() == resolved("war_w2v")
    assert set(content) - {"id", *vars(identity)} == {"files", "data", "summary", "provenance", "finished"}


def test_what_is_no_result_is_one_sentence(tmp_path: Path) -> None:
    write_json(tmp_path / "result.json", {"id": "x"})
    with pytest.raises(WarlabError, match=r"result\.json lacks 'code'; delete it and run again\."):
        RunResult.load(tmp_path / "result.json")
