"""`warlab audit`: where the lists of suspects are, and the beginning of one of them, from the files alone."""

from pathlib import Path

from warlab.audit.run import read_suspects
from warlab.config.study import Study

FIRST = 10
SHOWN = ("sample", "label", "suggested", "combined", "confident", "wrong")


def audit(study: Study) -> tuple[str, bool]:
    """The text, and whether there is any list."""
    folder = Path(study.config.get("results_root", "results")) / study.name / "audit"
    lists = [file for cell in study.plan.runs if (file := folder / cell.path / "suspects.csv").exists()]
    if not lists:
        return (
            f"There is no list in {folder} yet; make them with your settings: snakemake --cores all -- audit",
            False,
        )
    counts = {file: read_suspects(file) for file in lists}
    lines = [f"{len(rows):7} {file}" for file, rows in counts.items()]
    shown = next((file for file in lists if file.parts[-3].startswith("war")), lists[0])
    head = f"{'suspects':>8} list (suspects.png in the same folder shows the first hundred)"
    missing = len(study.plan.runs) - len(lists)
    note = [f"{missing} more runs have no list yet: snakemake --cores all -- audit"] if missing else []
    return "\n".join([head, *lines, *note, "", f"The first of {shown}:", *_table(counts[shown][:FIRST])]), True


def _table(rows: list[dict[str, str]]) -> list[str]:
    columns = [name for name in SHOWN if any(row[name] for row in rows)]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in columns}
    cells = [{name: name for name in columns}, *rows]
    return ["  ".join(row[name].ljust(widths[name]) for name in columns).rstrip() for row in cells]
