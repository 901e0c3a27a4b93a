"""Known vulnerabilities of the pinned packages: pip-audit on requirements.txt, in an environment of its own.

Needs the network, for pip-audit itself and for its advisory database. The exit code is 1 if a vulnerability is known,
and 2 if a package could not be checked.
"""

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

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
        options = ["--requirement", str(LOCK), "--no-deps", "--disable-pip", "--progress-spinner=off", "--format=json"]
        done = run([str(python), "-m", "pip_audit", *options])
    if done.returncode and not done.stdout and any(word in done.stderr for word in UNREACHABLE):
        return left_out("the advisory database does not answer", done.stderr)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return left_out("pip-audit ended with an error", done.stderr)
    print(summary(packages))
    if any(package.get("vulns") for package in packages):
        return 1
    return 2 if any("skip_reason" in package for package in packages) else 0


def summary(packages: list[dict[str, Any]]) -> str:
    """The known vulnerabilities, and how many packages were checked."""
    found = [
        f"{one['name']} {one['version']}: {entry['id']}, fixed in {' or '.join(entry['fix_versions']) or 'none'}"
        for one in packages
        for entry in one.get("vulns", [])
    ]
    checked = [package for package in packages if "skip_reason" not in package]
    skipped = sorted(package["name"] for package in packages if "skip_reason" in package)
    total = f"{len(checked)} of {len(packages)} packages checked, {len(found)} known vulnerabilities."
    rest = f" Not checked, because the database does not know them: {', '.join(skipped)}." if skipped else ""
    return "\n".join([*found, total + rest])


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True)


def left_out(reason: str, output: str) -> int:
    last = (output.strip().splitlines() or ["no message"])[-1]
    print(f"Nothing was checked: {reason} ({last}). Call make audit where there is a network.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
