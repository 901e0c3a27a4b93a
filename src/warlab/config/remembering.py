"""Answers that are worked out once: planning asks the same of a study for every job."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def remembered(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method whose answer depends on nothing but its object and its arguments, which must be hashable.

    Unlike `functools.cache` it needs no hash of the object, forgets with the object, and hands out copies: a caller
    that changes a dictionary or list changes no later answer.
    """

    @wraps(method)
    def answer(self: S, /, *given: P.args, **named: P.kwargs) -> T:
        answers = vars(self).setdefault("_answers", {})
        key = (method.__name__, given, tuple(sorted(named.items())))
        if key not in answers:
            answers[key] = method(self, *given, **named)
        return _copied(answers[key])

    return answer


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, dict | list) else value
