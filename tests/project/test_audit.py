"""tools/audit.py: what its last line says of packages that nobody checked."""

import importlib.util

from tests.conftest import ROOT

spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
assert spec and spec.loader
audit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(audit)


def test_what_was_not_checked_is_not_called_safe() -> None:
    hole = {"id": "PYSEC-1", "fix_versions": ["2.0"]}
    packages = [
        {"name": "a", "version": "1.0", "vulns": [hole]},
        {"name": "b", "version": "1.0", "vulns": []},
        {"name": "c", "skip_reason": "not found"},
    ]
    assert audit.told(packages).splitlines() == [
        "a 1.0: PYSEC-1, mended in 2.0",
        "2 of 3 packages checked, 1 known vulnerabilities. Not checked, for the database did not know them: c.",
    ]
    assert audit.told(packages[1:2]) == "1 of 1 packages checked, 0 known vulnerabilities."
