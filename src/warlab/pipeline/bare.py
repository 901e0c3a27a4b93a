"""Plan a study where Snakemake is installed and nothing else, as the workflow catalog and `--sdm conda` do.

Planning reads the declarations of datasets and noises, whose files import numpy and others and name their types. It
computes nothing with them: the jobs do, in their own environment.
"""

import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from warlab.errors import WarlabError

_OF_JOBS = ("numpy", "scipy", "PIL")


class _Name(type):
    """A class or function of a package that is not installed: it has a name and no instances."""

    def __getattr__(cls, name: str) -> "_Name":
        if name.startswith("__"):
            raise AttributeError(name)
        return _Name(f"{cls.__name__}.{name}", (), {})

    def __getitem__(cls, _types: Any) -> "_Name":
        return cls

    def __call__(cls, *_values: Any, **_named: Any) -> None:
        package = cls.__name__.partition(".")[0]
        problem = f"The plan calls {cls.__name__}, and {sys.executable} has no {package}"
        raise WarlabError(f"{problem}; install it there, or run make setup in the repository of warlab.")


class _Absent(ModuleType):
    """A package that is not installed, or a module of it."""

    def __getattr__(self, name: str) -> _Name:
        return getattr(_Name(self.__name__, (), {}), name)


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, name: str, _path: Sequence[str] | None, _target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in _OF_JOBS else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is."""


def allow_missing_packages() -> None:
    """Let modules import packages that only the jobs need; those that are installed are found first."""
    sys.meta_path.append(_Finder())


def prefer_own_source() -> None:
    """Let jobs import the source of this repository instead of any installed version of warlab.

    Snakemake removes the variable from environments of --sdm conda, in which no other version is installed. An image of
    --sdm apptainer has one, and sees this repository only if it is the working folder, or bound.
    """
    source = Path(__file__).parents[2]
    _put_first(str(source), "PYTHONPATH", os.pathsep)
    binds = {name: os.environ.get(name, "") for name in ("APPTAINER_BIND", "SINGULARITY_BIND")}
    for name in binds:  # Apptainer reads the second where the first is not set, Singularity reads only the second
        os.environ[name] = binds[name] or "".join(binds.values())
        _put_first(str(source.parent), name, ",")


def _put_first(value: str, name: str, separator: str) -> None:
    others = [other for other in os.environ.get(name, "").split(separator) if other not in ("", value)]
    os.environ[name] = separator.join([value, *others])
