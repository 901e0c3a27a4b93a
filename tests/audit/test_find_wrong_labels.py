"""Carry out docs/find-wrong-labels.md literally: its files, its commands, and its Python."""

import contextlib
import io
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.conftest import ROOT
from tests.helpers.checkout import link_repository, output_of
from tests.workflow.test_own_data import NAMES, paint
from warlab.audit.audited_run import read_suspects

PAGE = (ROOT / "docs" / "find-wrong-labels.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def run(command: str, folder: Path) -> str:
    """Run a command as a user would type it; `warlab` is the command of this checkout."""
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / "warlab"
    program.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from warlab.cli.main import main; raise SystemExit(main())' \"$@\"\n"
    )
    program.chmod(0o755)
    return output_of(command, folder, PATH=f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}")


def test_the_page_leads_from_a_folder_to_the_names_of_wrong_files(tmp_path: Path) -> None:
    link_repository(tmp_path)
    photos = paint(tmp_path / "photos", 150)
    moved = sorted((photos / "truck").iterdir())[5:9]
    for file in moved:  # four trucks are called cats
        file.rename(photos / "cat" / f"truck_{file.name}")
    for name, text in zip(("my.yaml", "my_scale.yaml"), blocks("yaml"), strict=True):
        (tmp_path / name).write_text(text)
    (command,) = blocks("sh")
    said = run(command, tmp_path)
    folder = re.search(r"`(results/my_scale/audit/.*)/`", PAGE)
    assert folder is not None
    listed = read_suspects(tmp_path / folder[1] / "suspects.csv")
    assert all((photos / row["sample"]).exists() and row["label"] in NAMES and row["wrong"] == "" for row in listed)
    found = {row["sample"] for row in listed if row["suggested"] == "truck" and row["label"] == "cat"}
    hidden = {f"cat/truck_{file.name}" for file in moved} - held_out(photos)
    assert hidden and len(hidden & found) >= 0.5 * len(hidden), (hidden, listed[:5])
    assert f"{folder[1]}/suspects.csv" in said and listed[0]["sample"] in said
    assert Image.open(tmp_path / folder[1] / "suspects.png").width > 1000


def held_out(photos: Path) -> set[str]:
    """Every fifth image of a class is in the test set."""
    return {f"cat/{file.name}" for file in sorted((photos / "cat").iterdir())[::5]}


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
    assert sorted(set(languages)) == ["", "python", "sh", "yaml"]  # the unnamed one is a picture of folders
