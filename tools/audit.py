"""Known vulnerabilities of the pinned packages: pip-audit on requirements.txt, in an environment of its own.

Needs the network: the packages' registry for pip-audit itself, and its advisory database. Where one of them does not
answer, this says so and ends with code 2, since nothing was checked.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.txt"
UNREACHABLE = (
    "ConnectionError",
    "Connection refused",
    "Max retries",
    "Temporary failure",
    "ServiceError",
    "timed out",
    "Could not find a version",
    "403",
    "404",
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="warlab-audit-") as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        installed = run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pip-audit"])
        if installed.returncode:
            return left_out("pip-audit could not be installed", installed.stderr)
        options = ["--requirement", str(LOCK), "--no-deps", "--disable-pip", "--progress-spinner", "off"]
        done = run([str(python), "-m", "pip_audit", *options])
    if done.returncode and not done.stdout and any(word in done.stderr for word in UNREACHABLE):
        return left_out("the advisory database does not answer", done.stderr)
    print(done.stdout + done.stderr, end="")
    return done.returncode


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True)


def left_out(reason: str, words: str) -> int:
    last = (words.strip().splitlines() or ["no message"])[-1]
    print(f"Nothing was checked: {reason} ({last}). Call make audit where there is a network.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
