"""Where numbers are given values of their own, and what a schedule becomes when a scale trains for fewer epochs."""

import re
from typing import Any

from warlab.errors import WarlabError

Tree = dict[str, Any]
MOST = 1000  # methods that one name stands for


def places(dataset: str, noise_id: str = "", *others: str) -> list[str]:
    """Where a number may be given a value of its own, from the general to the special: cifar10, cifar10@openset,
    cifar10@openset_svhn, cifar10@openset_svhn-40, then cifar10@<method>, and cifar10@<variant> of the method."""
    ends = [match.start() for match in re.finditer("[_-]", noise_id)]
    special = [*(noise_id[:end] for end in (*ends, len(noise_id))), *others]
    return [dataset, *(f"{dataset}@{name}" for name in special if name)]


def at_place(entry: Tree, at: list[str]) -> Tree:
    """The entry's value for the most special place that it names in `for`, or else its general one."""
    named = [entry["for"][place] for place in at if place in entry.get("for", {})]
    return named[-1] if named else entry


def at_dataset(section: Tree, name: str, dataset: str) -> Tree:
    """What a scale or `overrides` gives to a name, such as embed, and on top of it to embed@cifar10."""
    return section.get(name, {}) | section.get(f"{name}@{dataset}", {})


def in_units(settings: Tree, entries: Tree, share: float) -> Tree:
    """Schedules are written for the paper's number of epochs and shrink in proportion with it; what is done a little
    in every epoch grows by as much."""
    return {key: _in_unit(value, entries.get(key, {}).get("unit"), share) for key, value in settings.items()}


def _in_unit(value: Any, unit: str | None, share: float) -> Any:
    """Whole epochs are rounded, and a schedule of several keeps its order."""
    if unit == "epochs":
        return [round(v * share) for v in value] if isinstance(value, list) else round(value * share)
    return value / share if unit == "per epoch" else value


def numbered(method: str) -> list[str]:
    """`war_random+cost=random.{0..19}` as the twenty methods that it stands for."""
    if (found := re.search(r"\{(\d+)\.\.(\d+)\}", method)) is None:
        return [method]
    numbers = range(int(found[1]), int(found[2]) + 1)
    if not 0 < len(numbers) <= MOST:
        raise WarlabError(f"{method!r} stands for {len(numbers)} methods; allowed are 1 to {MOST}.")
    return [method.replace(found[0], str(number)) for number in numbers]
