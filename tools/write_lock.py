"""Write requirements.txt and envs/warlab.yaml from the packages of this Python environment (`make lock`).

torch's CUDA packages are left out: pip adds them if the torch wheel needs them. So are local version labels such as
+cpu, which exist only on one machine.
"""

from importlib.metadata import distributions
from pathlib import Path

HEADER = "# Written by `make lock` from pyproject.toml; pip installs exactly these.\n"
SKIP = ("warlab", "pip", "nvidia-", "cuda-", "triton")


def pins() -> list[str]:
    found = {d.metadata["Name"].lower().replace("_", "-"): d.version.split("+")[0] for d in distributions()}
    return [f"{name}=={version}" for name, version in sorted(found.items()) if not name.startswith(SKIP)]


def conda(pinned: list[str]) -> str:
    """The same pins for `snakemake --sdm conda`; the package itself is found through PYTHONPATH."""
    lines = [
        HEADER.rstrip(),
        "channels: [conda-forge]",
        "variables:",
        "  PYTHONPATH: src # jobs run in the repository",
        "dependencies:",
        "  - python=3.11",
        "  - pip",
        "  - pip:",
        *(f"      - {pin}" for pin in pinned),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path("requirements.txt").write_text(HEADER + "\n".join(pins()) + "\n")
    Path("envs/warlab.yaml").write_text(conda(pins()))
