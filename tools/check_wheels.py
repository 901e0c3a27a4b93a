"""Check that every pin of requirements.txt has a wheel for each Python that make accepts (`make check-wheels`).

    python tools/check_wheels.py 3.11 3.12 3.13

Needs the network. pip resolves the lock file for every version without installing anything. If the index serves no
metadata, pip downloads the wheels themselves, half a gigabyte for torch, into a temporary folder.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.txt"
VERSIONS = ("3.11", "3.12", "3.13")
SOURCE_ONLY = ("connection-pool",)  # needed by snakemake; pure Python without a wheel, which pip builds


def main(versions: list[str], lock: Path = LOCK) -> int:
    with tempfile.TemporaryDirectory(prefix="warlab-wheels-") as folder:
        pins = Path(folder) / "pins.txt"
        pins.write_text("\n".join(wanted(lock)) + "\n")
        found = [sentence(version, pins, Path(folder)) for version in versions]
    print("\n".join(text for text, _ in found))
    return 0 if all(good for _, good in found) else 1


def wanted(lock: Path) -> list[str]:
    pins = [line for line in lock.read_text().splitlines() if "==" in line]
    return [pin for pin in pins if pin.split("==")[0] not in SOURCE_ONLY]


def sentence(version: str, pins: Path, folder: Path) -> tuple[str, bool]:
    """A sentence about this version of Python, and whether all pins have wheels."""
    options = ["--dry-run", "--ignore-installed", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    target = ["--python-version", version, "--target", str(folder / "never"), "--requirement", str(pins)]
    call = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options, *target]
    done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(folder)})
    count = len(pins.read_text().split())
    if done.returncode == 0:
        return f"Python {version}: all {count} pins have wheels ({', '.join(SOURCE_ONLY)} is built from source).", True
    missing = re.search(r"No matching distribution found for (\S+)", done.stderr)
    reason = f"{missing[1]} has no wheel" if missing else (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    return f"Python {version}: {reason}; pin another version, or name it in SOURCE_ONLY if pip can build it.", False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(VERSIONS)))
