"""Studies for the tests: the scales of the repository, with changes."""

from functools import cache
from pathlib import Path

from tests.conftest import ROOT
from warlab.config.study import Study, load_study


def study_of(scale: str = "smoke", **config: object) -> Study:
    return load_study({"scale": scale, **config}, ROOT) if config else _unchanged(scale)


@cache
def _unchanged(scale: str) -> Study:
    return load_study({"scale": scale}, ROOT)


def changed_scale(scale: str, old: str, new: str, folder: Path) -> str:
    """Write a copy of a scale in which one piece of text is replaced, and return its path."""
    text = (ROOT / "config" / "scales" / f"{scale}.yaml").read_text()
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {scale}.yaml"
    (folder / f"{scale}.yaml").write_text(text.replace(old, new))
    return str(folder / f"{scale}.yaml")
