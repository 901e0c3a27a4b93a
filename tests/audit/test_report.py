"""The files of an audit: what is written is what is read, whatever files and classes are called."""

import csv
from pathlib import Path

import numpy as np
import pytest

from warlab.audit.report import COLUMNS, SUSPECTS, AuditResult
from warlab.data.formats.image_list import from_cell, to_cell
from warlab.errors import WarlabError

HOSTILE = ("=cmd()", "'quoted", "a,b", '"', "new\nline", "<img src=x>", "@x", "caf\udce9", "-1", "'=x", "\r")


def result(names: tuple[str, ...] = HOSTILE) -> AuditResult:
    n = len(names)
    labels = np.arange(n)
    return AuditResult(
        folder=Path("photos").resolve(),
        classes=names,
        files=tuple(f"{name}/1.png" for name in names),
        labels=labels,
        suggested=(labels + 1) % n,
        score=np.linspace(1, 0, n),
        chance=np.linspace(0.99, 0.01, n).round(4),
        likely_wrong=labels < 3,
        unreadable={"caf\udce9/2.png": "not an image"},
        at_most=4,
        rates=np.full(n, 0.25),
        judged_by="pixels",
    )


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    before = result()
    before.save(tmp_path)
    after = AuditResult.load(tmp_path)
    for name, value in vars(before).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(getattr(after, name), value, rtol=1e-5, err_msg=name)
        else:
            assert getattr(after, name) == value, name
    assert after.matrix.sum() == 3 and after.matrix[0, 1] == 1


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    result().save(tmp_path)
    with (tmp_path / SUSPECTS).open(newline="", errors="surrogateescape") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert len(cells) == (len(HOSTILE) + 1) * len(COLUMNS)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert [from_cell(to_cell(name)) for name in HOSTILE] == list(HOSTILE)


def test_files_of_different_audits_are_refused(tmp_path: Path) -> None:
    result(("a", "b")).save(tmp_path / "one")
    result(("c", "d")).save(tmp_path / "two")
    (tmp_path / "one" / SUSPECTS).write_bytes((tmp_path / "two" / SUSPECTS).read_bytes())
    with pytest.raises(WarlabError, match="do not fit together"):
        AuditResult.load(tmp_path / "one")
    (tmp_path / "one" / SUSPECTS).write_text("rank,file\n1,x\n")
    with pytest.raises(WarlabError, match="no column 'label'"):
        AuditResult.load(tmp_path / "one")
