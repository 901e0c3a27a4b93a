"""`warlab audit`: where the lists of suspects are, and the beginning of one of them, from the files alone."""

from pathlib import Path

from warlab.audit.audited_run import read_suspects
from warlab.config.study import Study
from warlab.pipeline.paths import Paths

FIRST = 10
SHOWN = ("sample", "label", "suggested", "combined", "confident", "wrong")


def audit(study: Study) -> tuple[str, bool]:
    """The text, and whether there is any list."""
    paths, call = Paths.of(study), "snakemake --cores all -- audit"
    files = {run: Path(paths.suspects.format(**vars(run))) for run in study.plan.runs}
    lists = {run: file for run, file in files.items() if file.exists()}
    if not lists:
        return f"There is no list in {paths.results}/audit yet; make them with your settings: {call}", False
    suspects = {run: read_suspects(file) for run, file in lists.items()}
    lines = [f"{len(suspects[run]):7} {file}" for run, file in lists.items()]
    shown = next((run for run in lists if study.settings.cost_name(run)), next(iter(lists)))  # WAR, if there is one
    head = f"{'suspects':>8} list (suspects.png in the same folder shows the first hundred)"
    missing = len(files) - len(lists)
    note = [f"{missing} more runs have no list yet: {call}"] if missing else []
    first = ["", f"The first of {lists[shown]}:", *_table(suspects[shown][:FIRST])]
    return "\n".join([head, *lines, *note, *first]), True


def _table(rows: list[dict[str, str]]) -> list[str]:
    columns = [name for name in SHOWN if any(row[name] for row in rows)]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in columns}
    cells = [{name: name for name in columns}, *rows]
    return ["  ".join(row[name].ljust(widths[name]) for name in columns).rstrip() for row in cells]
