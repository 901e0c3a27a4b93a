"""tools/audit.py: what its last line says of packages that nobody checked."""

from tests.helpers.scripts import load

audit = load("tools/audit.py")


def test_what_was_not_checked_is_not_called_safe() -> None:
    hole = {"id": "PYSEC-1", "fix_versions": ["2.0"]}
    packages = [
        {"name": "a", "version": "1.0", "vulns": [hole]},
        {"name": "b", "version": "1.0", "vulns": []},
        {"name": "c", "skip_reason": "not found"},
    ]
    assert audit.summary(packages).splitlines() == [
        "a 1.0: PYSEC-1, fixed in 2.0",
        "2 of 3 packages checked, 1 known vulnerabilities. Not checked, because the database does not know them: c.",
    ]
    assert audit.summary(packages[1:2]) == "1 of 1 packages checked, 0 known vulnerabilities."
