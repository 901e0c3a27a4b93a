"""Carry out docs/find-wrong-labels.md literally: its files, its commands, and its Python."""

import contextlib
import io
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.helpers.checkout import output_of
from tests.workflow.test_own_data import paint
from warlab.audit import auroc
from warlab.audit.report import COLUMNS, AuditResult

PAGE = (ROOT / "docs" / "find-wrong-labels.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def run(command: str, folder: Path) -> str:
    """Run a command as a user would type it; `warlab` is the command of this checkout."""
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / "warlab"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m warlab "$@" 2>&1\n')
    program.chmod(0o755)
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    offline = {"XDG_CACHE_HOME": str(folder / "cache"), "PIP_NO_INDEX": "1"}  # the weights cannot be fetched
    return output_of(command, folder, PATH=path, **offline)


def test_the_page_leads_from_a_folder_to_the_names_of_wrong_files(tmp_path: Path) -> None:
    photos = paint(tmp_path / "photos", 150)
    moved = sorted((photos / "truck").iterdir())[5:9]
    for file in moved:  # four trucks are called cats
        file.rename(photos / "cat" / f"truck_{file.name}")
    (command,) = blocks("sh")
    said = run(command, tmp_path)
    result = AuditResult.load(tmp_path / "photos-audit")
    wrong = np.isin(result.files, [f"cat/truck_{file.name}" for file in moved])
    assert len(result.files) == 150 and auroc(result.score, wrong) > 0.9
    assert "Without these weights" in said and f"Up to about {result.at_most} of 150 labels look wrong" in said
    written = {path.name for path in (tmp_path / "photos-audit").iterdir() if path.is_file()}
    assert all(name in PAGE for name in written if not name.startswith("."))
    assert all(f"`{name}`" in PAGE for name in COLUMNS)


def test_the_python_of_the_page_runs_and_finds_the_wrong_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for block in blocks("python"):
            exec(block, names)
            names.setdefault("listed", names["suspects"])
    listed = names["listed"]
    assert set(listed["index"][:20]) == set(range(20))
    np.testing.assert_array_equal(listed["suggested"][:20], (listed["label"][:20] - 1) % 3)
    assert len(names["table"]) == len(names["tasks"]) == len(listed) and (tmp_path / "review.html").is_file()
    assert "['combined', 'confident', 'loss', 'margin', 'transport']" in said.getvalue()


def test_no_block_of_the_page_is_left_out() -> None:
    languages = re.findall(r"^```(\w*)\n", PAGE, re.MULTILINE)
    assert sorted(set(languages)) == ["", "python", "sh"]  # the unnamed one is a picture of folders
