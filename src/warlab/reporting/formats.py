"""Numbers as text, tables in Markdown, and the templates of all documents."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from warlab.reporting.names import escape_latex, escape_markdown

Row = Mapping[str, object]  # a row of a plain table: column → value
DIGITS = 2  # as the paper prints its percentages


def number(value: float, digits: int = DIGITS) -> str:
    return f"{value:.{digits}f}"


def signed(value: float, digits: int = DIGITS) -> str:
    """Return a number with its sign, and with a typographic minus: −9.39 and +9.39 are equally wide."""
    return f"{value:+.{digits}f}".replace("-", "−")


def value_text(value: object) -> str:
    """Return a value of a plain table as a person would write it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(value_text, value))
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}".replace(",", "\u202f")
    return f"{value:g}" if isinstance(value, float) else str(value)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> str:
    """Return a table whose cells are escaped already; the columns in `right` are aligned to the right."""
    rule = ["---:" if column in right else "---" for column in header]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *rows])


def render(template: str, **values: object) -> str:
    """Fill in a file of reporting/templates. Its marks are <<value>>, <% statement %> and <# comment #>."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        loader=PackageLoader("warlab", "reporting/templates"),
    )
    environment.filters |= {"latex": escape_latex, "markdown": escape_markdown}
    return environment
