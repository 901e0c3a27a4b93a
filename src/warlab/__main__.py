"""The command `warlab`, or `python -m warlab`; one sentence if only the core is installed."""

import signal
import sys


def main() -> int:
    try:
        from warlab.cli.main import main as run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("warlab"):
            raise
        print(
            f"warlab: this command belongs to the workflow, and {error.name} is not installed; run "
            "pip install '.[workflow]' in the repository of warlab.",
            file=sys.stderr,
        )
        return 1
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `warlab status | head` ends like any other program
    return run()


if __name__ == "__main__":
    sys.exit(main())
