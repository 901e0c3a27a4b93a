"""CSV files with known columns, as tables or as rows of a named tuple."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import pandas as pd

from warlab.errors import WarlabError

Row = TypeVar("Row", bound=NamedTuple)


def read_csv(path: Path, columns: Sequence[str], text: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV file that must have `columns`; those in `text` are read as text, whatever they look like."""
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(text, "string"))
    except (OSError, ValueError) as error:  # pandas' parser errors are ValueErrors
        raise WarlabError(f"{path} cannot be read as CSV ({error}); delete it and run again.") from error
    require_columns(table.columns, columns, str(path))
    return fill_text(table, text)


def fill_text(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Make empty cells of these columns empty texts instead of missing values."""
    return table.assign(**{name: table[name].fillna("").astype(str) for name in columns})


def require_columns(present: Iterable[str], needed: Sequence[str], what: str) -> None:
    names = set(present)
    absent = [name for name in needed if name not in names]
    if absent:
        raise WarlabError(f"{what} lacks the column {absent[0]!r}; it was written by another version; make it again.")


def read_table(path: Path, kind: type[Row]) -> pd.DataFrame:
    """Read a file that has the fields of `kind` as columns; what is not a float is read as text."""
    return read_csv(path, kind._fields, [name for name, type_ in kind.__annotations__.items() if type_ is not float])


def table_of(rows: Iterable[Row], kind: type[Row]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(kind._fields))


def rows_of(table: pd.DataFrame, kind: type[Row]) -> list[Row]:
    return [kind(*row) for row in table[[*kind._fields]].itertuples(index=False)]
