"""`warlab explain`: the settings of a run, each with the layer that decides it and the source of its value."""

from warlab.common.wording import suggest
from warlab.config.settings import Value
from warlab.config.study import Study
from warlab.config.validate import parse_run
from warlab.errors import WarlabError


def explain(study: Study, run: str, setting: str | None = None) -> str:
    """Return a table of the settings of a run, or of those that are called `setting`."""
    sections = study.settings.explain(parse_run(study.numbers, run))
    rows = {f"{section}.{key}": value for section, values in sections.items() for key, value in values.items()}
    if setting is None:
        return _table(rows)
    chosen = {name: value for name, value in rows.items() if setting in (name, name.split(".")[1])}
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
