"""Processes that die between two writes to the disk."""

from collections.abc import Callable
from typing import Any


class Death(BaseException):
    """The process ends here: nothing after this line runs, not even clean-up."""


def dying_after(step: int) -> Callable[[Any], Any]:
    """Return a wrapper for functions whose calls are counted together; after `step` calls the process dies."""
    calls = 0

    def dying(original: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > step:
                raise Death
            return original(*given, **named)

        return call

    return dying
