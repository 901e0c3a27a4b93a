"""A process that ends in the middle of what it does to the disk."""

from collections.abc import Callable
from typing import Any


class Death(BaseException):
    """The process ends here; nothing after this line runs, not even what tidies up."""


def dying_after(step: int) -> Callable[[Any], Any]:
    """Wraps functions that count their calls together; after `step` of them the process ends."""
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
