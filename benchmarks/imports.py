"""What the core of warlab adds to torch: import time, packages and megabytes.

    python benchmarks/imports.py --repeats 5

Every import runs in a fresh interpreter after that of torch, which is also timed. The times are medians.
"""

import argparse
import importlib.metadata as metadata
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

IMPORTS = {
    "torch": "import torch",
    "warlab": "import warlab",
    "warlab.war": "import warlab.war",
    "all names": "from warlab import *",
    "a word cost": "from warlab import word_cost; word_cost(['cat', 'dog', 'truck'])",
}
TIMED = "import time{first}; start = time.perf_counter(); {line}; print(time.perf_counter() - start)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    for name, line in IMPORTS.items():
        spent = statistics.median(seconds(line, "" if name == "torch" else ", torch") for _ in range(repeats))
        print(f"{name:12} {spent:7.3f} s{'' if name == 'torch' else ' beyond torch'}")
    added = sorted({"warlab"} | (closure("warlab") - closure("torch") - {"torch"}))
    print(f"packages beyond torch's own: {len(added)} ({', '.join(f'{name} {size(name):.0f} MB' for name in added)})")


def seconds(line: str, first: str) -> float:
    code = TIMED.format(first=first, line=line)
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def closure(name: str) -> set[str]:
    """All packages that this one needs without extras, directly or indirectly."""
    todo, found = [name], set[str]()
    while todo:
        for text in requirements(todo.pop()):
            one = Requirement(text)
            if (one.marker is None or one.marker.evaluate({"extra": ""})) and one.name not in found:
                found.add(one.name)
                todo.append(one.name)
    return found


def requirements(name: str) -> list[str]:
    """The requirements of a package; those of warlab come from pyproject.toml, as an editable install may be older."""
    if name == "warlab":
        project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
        return list(project["dependencies"])
    return metadata.requires(name) or []


def size(name: str) -> float:
    """Megabytes of the installed files."""
    if name == "warlab":
        folder = Path(__file__).parents[1] / "src" / "warlab"
        files = [path for path in folder.rglob("*") if "__pycache__" not in path.parts]
    else:
        files = [Path(str(file.locate())) for file in metadata.files(name) or []]
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
