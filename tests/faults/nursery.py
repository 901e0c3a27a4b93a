"""`python -m tests.faults.nursery`: trainings as processes of their own, without the seconds that importing torch takes
each time.

Each line of input is one training, as for tests.helpers.train_process; a process is forked for it and its
number printed.
Input ends: the nursery ends. `exit <pid>` waits for a process and prints its exit code, negative for a signal.
"""

import json
import os
import sys
from pathlib import Path

import torch

from warlab.artefacts.run_config import RunConfig
from warlab.engine.build import RunFiles
from warlab.engine.run import train_run
from warlab.pipeline.script import job


def train(given: dict) -> None:
    torch.set_num_threads(1)
    out = Path(given["out"])
    with job(str(out / "log.txt")) as log:
        log.info("ready")
        train_run(
            RunConfig.from_dict(given["run"]),
            {},
            RunFiles(**{k: Path(v) for k, v in given["files"].items()}),
            out,
            1,
        )


def child(given: dict) -> None:
    code = 0
    try:
        train(given)
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        code = 99
    os._exit(code)


def main() -> None:
    for line in sys.stdin:
        if line.startswith("exit "):
            _, status = os.waitpid(int(line.split()[1]), 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            child(json.loads(line))
        print(pid, flush=True)


if __name__ == "__main__":
    main()
