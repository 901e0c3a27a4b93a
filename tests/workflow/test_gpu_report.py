"""The report that whoever has a GPU sends back, in its small form on a CPU."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_the_small_report_is_good(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "gpu_report.py"), "--small", "--to", str(tmp_path / "report.txt")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    text = (tmp_path / "report.txt").read_text()
    assert done.returncode == 0, text[-3000:] + done.stderr[-1000:]
    assert "WRONG" not in text and text.count("good: ") == 4
    assert "WAR, direction clean" in text and '"processor_seconds"' in text
    assert [line for line in text.splitlines() if line.startswith("== ")] == [
        "== machine ==", "== precision ==", "== a short training ==", "== determinism ==", "== kill and resume ==",
        "== steps ==",
    ]  # fmt: skip
