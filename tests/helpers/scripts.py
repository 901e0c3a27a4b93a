"""Scripts and pages of the repository, for tests that run them."""

import importlib.util
import re
from types import ModuleType

from tests.conftest import ROOT


def load(path: str) -> ModuleType:
    """Load a script outside of the package, such as tools/make_crate.py, as a module."""
    spec = importlib.util.spec_from_file_location((ROOT / path).stem, ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def snippet(page: str, after: str) -> str:
    """Return the first block of code after these words of a page."""
    match = re.search(r"```\w*\n(.*?)```", page[page.index(after) :], re.DOTALL)
    assert match is not None
    return match[1]
