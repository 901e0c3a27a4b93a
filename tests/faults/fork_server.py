"""`python -m tests.faults.fork_server`: start trainings as forked processes, without importing torch for each of them.

Each line of standard input is a training as for tests.helpers.train_process, and the id of its process is printed.
`exit <pid>` waits for a process and prints its exit code, negative for a signal.
"""

import json
import os
import sys

import torch

from tests.helpers.train_process import train


def child(line: str) -> None:
    code = 0
    torch.set_num_threads(1)
    try:
        train(json.loads(line))
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
            child(line)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
