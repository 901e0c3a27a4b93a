"""Processor time and memory that `snakemake -n` takes to plan studies of three sizes.

    python benchmarks/plan.py                 about 700, 6 000 and 20 000 jobs
    python benchmarks/plan.py --seeds 4       one study, the main benchmark and the variants of WAR with four seeds

The studies differ only in the number of seeds. Limits: 3 s per 1 000 jobs, 1 GB.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SEEDS = (4, 35, 116)
SCALE = """
description: a study of many seeds, to be planned and not run
seeds: {seeds}
datasets:
  fashion_mnist: {{ source: stand_in, train: 300, test: 200, pool: 2 }}
  cifar10: {{ source: stand_in, train: 200, test: 100, pool: 2 }}
  cifar100: {{ source: stand_in, train: 200, test: 100, pool: 2 }}
experiments:
  main_benchmark: {{}}
  ar_war_variants: {{}}
"""


class Planned(NamedTuple):
    jobs: int
    seconds: float  # of processor time
    megabytes: float  # at most, of memory

    def __str__(self) -> str:
        per_1000 = 1000 * self.seconds / self.jobs
        return f"{self.jobs:>8}{self.seconds:>12.1f}{per_1000:>14.2f}{self.megabytes:>12.0f}"


def plan(seeds: int, folder: Path) -> Planned:
    """A dry run of a new study."""
    scale = folder / f"seeds{seeds}.yaml"
    scale.write_text(SCALE.format(seeds=seeds))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT)]
    command += ["--dry-run", "--quiet", "rules", "--cores", "1", "--nolock", "--config", f"scale={scale}"]
    command += ["results_root=planned", "data_root=planned"]  # do not exist, and a dry run does not make them
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
    text = (folder / "output").read_text()
    if status != 0:
        raise SystemExit(text)
    jobs = re.search(r"^total +(\d+)", text, re.MULTILINE)
    return Planned(int(jobs[1]) if jobs else 0, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    print(f"{'jobs':>8}{'seconds':>12}{'s per 1 000':>14}{'MB':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for seeds in parser.parse_args().seeds:
            print(plan(seeds, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
