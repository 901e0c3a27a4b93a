"""Answers that are worked out once: planning asks the same of a study for every job."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Remembering(Protocol):
    """An object with a dictionary of its own for what it was asked."""

    @property
    def answers(self) -> dict[Any, Any]: ...


S = TypeVar("S", bound=Remembering)


def remembered(question: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method whose answer depends on nothing but its object and its arguments, which must be hashable.

    Whoever asks gets a dictionary or list of their own: changing it changes no later answer.
    """

    @wraps(question)
    def answer(self: S, *given: P.args, **named: P.kwargs) -> T:
        key = (question.__name__, given, tuple(sorted(named.items())))
        if key not in self.answers:
            self.answers[key] = question(self, *given, **named)
        return _own(self.answers[key])

    return answer


def _own(value: Any) -> Any:
    return value.copy() if isinstance(value, dict | list) else value
