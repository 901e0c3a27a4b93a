"""A claim of config/claims.yaml, as the configuration reads it and the report judges it."""

from collections.abc import Mapping
from dataclasses import dataclass

Argument = str | float | list[str]


@dataclass(frozen=True)
class Claim:
    """What is claimed, which check tests it with which arguments, and in which settings.

    settings    (dataset, noise, network, metric)
    exceptions  how many settings may differ
    experiment  whose table counts if the paper prints a cell in several
    """

    id: str
    text: str
    source: str
    check: str
    arguments: Mapping[str, Argument]
    settings: tuple[tuple[str, str, str, str], ...] = ()
    exceptions: int = 0
    experiment: str | None = None
    remark: str = ""
