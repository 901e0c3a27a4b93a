"""Write a table of counts in docs/reliability.md: `write_reliability.py faults` or `… cluster`, after the tests."""

import json
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def table(lines: list[str]) -> str:
    """One row per kind of fault: how often it was injected, and how often something was lost."""
    done: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for line in lines:
        entry = json.loads(line)
        done[entry["what"]] += entry["n"]
        lost[entry["what"]] += entry["lost"]
    rows = [f"| {what} | {done[what]} | {lost[what]} |" for what in sorted(done)]
    total = f"| **total** | **{sum(done.values())}** | **{sum(lost.values())}** |"
    return "\n".join(["| fault | times | losses |", "| --- | ---: | ---: |", *rows, total])


def main() -> None:
    name, page = sys.argv[1], ROOT / "docs" / "reliability.md"
    begin, end = f"<!-- counts of {name} -->", f"<!-- end of {name} -->"
    before, rest = page.read_text().split(begin)
    _, after = rest.split(end)
    counted = table((ROOT / f".counts-{name}").read_text().splitlines())
    page.write_text(
        f"{before}{begin}\n{counted}\n\nWritten by `make test-{name}`, {time.strftime('%Y-%m-%d')}.\n{end}{after}"
    )


if __name__ == "__main__":
    main()
