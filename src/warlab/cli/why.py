"""`warlab why` and `warlab explain`: what decides a run. `why` says what has changed since it was trained, by the
comparison that `status` and the training use; `explain` shows its settings with their layers and sources."""

from pathlib import Path

from warlab.artefacts.run_identity import ROLES, RunIdentity, compare, input_checksums
from warlab.artefacts.run_result import OUTPUTS, RunResult
from warlab.common.cache import remembered_digest
from warlab.common.wording import suggest
from warlab.config.settings import Value
from warlab.config.study import Study
from warlab.config.validate import parse_run
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.pipeline.paths import Paths
from warlab.pipeline.sources import code_of_run, sources_of_run


def why(study: Study, root: Path, text: str) -> str:
    """Return why Snakemake would train a run again, one reason in each line, or that it would not."""
    run = parse_run(study.numbers, text)
    if run not in study.plan.runs:
        names = [str(known) for known in study.plan.runs]
        raise WarlabError(f"The scale {study.name} has no run {run}; {suggest(str(run), names)}")
    if not (run_folder(study, run) / "result.json").exists():
        return f"{run} has no result yet."
    return "\n".join(find_changes(study, root, run)) or f"{run} is up to date."


def run_folder(study: Study, run: RunId) -> Path:
    return Path(Paths.of(study).run(run))


def find_changes(study: Study, root: Path, run: RunId) -> list[str]:
    """Return what differs from what a finished run was trained with; nothing if it is up to date."""
    folder = run_folder(study, run)
    if missing := [name for name in OUTPUTS if not (folder / name).exists()]:
        return [f"{name} is missing" for name in missing]
    result = RunResult.load(folder / "result.json")
    files = {role: folder / path for role, path in result.files.items()}
    if missing := [role for role, path in files.items() if not path.exists()]:
        return [f"{ROLES.get(role, role)} missing: there is no {files[role].resolve()}" for role in missing]
    settings, checksums = study.settings.run(run).to_dict(), input_checksums(files, remembered_digest)
    current = RunIdentity(settings, sources_of_run(study, run), code_of_run(study, root, run), checksums)
    changes = compare(result.identity, current)
    if other := study.plan.needed_run(run):
        changes += [f"{other}, which it builds on: {change}" for change in find_changes(study, root, other)]
    return changes


def explain(study: Study, run: str, setting: str | None = None) -> str:
    """Return a table of the settings of a run, or of those that are called `setting`."""
    sections = study.settings.explain(parse_run(study.numbers, run))
    rows = {f"{section}.{key}": value for section, values in sections.items() for key, value in values.items()}
    if setting is None:
        return _table(rows)
    full = setting.replace("net.", "nets.", 1) if setting.startswith("net.") else setting  # as ids write it
    chosen = {name: value for name, value in rows.items() if full in (name, name.split(".")[1])}
    if not chosen:
        names = [*dict.fromkeys(name.split(".")[1] for name in rows), *rows]
        raise WarlabError(f"The run has no setting {setting!r}; {suggest(setting, names)}")
    return _table(chosen)


def _table(rows: dict[str, Value]) -> str:
    """Format the rows: setting, value, layer, source."""
    cells = [("setting", "value", "layer", "source")]
    for name, one in rows.items():
        value = "none" if one.value is None else str(one.value)
        cells.append((name, value, one.layer, f"{one.source} ({one.scaled})" if one.scaled else one.source))
    widths = [max(len(row[column]) for row in cells if len(row[column]) <= 40) for column in range(3)]
    return "\n".join("  ".join([*(row[k].ljust(widths[k]) for k in range(3)), row[3]]) for row in cells)
