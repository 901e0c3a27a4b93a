"""The command `warlab`, or `python -m warlab`; one sentence if only the core is installed."""

import signal
import sys
from collections.abc import Callable


def main() -> int:
    try:
        run = _command(sys.argv[1:])
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `warlab status | head` ends like any other program
        return run()
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("warlab"):
            raise
        print(
            f"warlab: this command belongs to the workflow, and {error.name} is not installed; run "
            "pip install '.[workflow]' in the repository of warlab.",
            file=sys.stderr,
        )
        return 1


def _command(arguments: list[str]) -> Callable[[], int]:
    """Return the command; the audit of a folder needs less to be installed than the others."""
    if arguments[:1] == ["audit"]:
        from warlab.cli.audit import main as audit

        return lambda: audit(arguments[1:])
    from warlab.cli.main import main as workflow

    return workflow


if __name__ == "__main__":
    sys.exit(main())
