"""Verdicts on the claims of config/claims.yaml, by this scale's runs and by the paper's own tables.

Each claim names a check of `checks.CHECKS` and its arguments. A verdict is as strong as its evidence: the interval of
the decisive difference must exclude the threshold, and a verdict on the whole claim needs every setting and method that
the claim names.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from warlab.artefacts.claim import Claim
from warlab.errors import WarlabError
from warlab.reporting.claims.checks import CHECKS
from warlab.reporting.claims.evidence import Evidence, Item, Part
from warlab.reporting.formats import markdown_table, render, signed
from warlab.reporting.names import escape_markdown
from warlab.reporting.read.csv_rows import rows_of, table_of
from warlab.reporting.read.results import Scenario
from warlab.reporting.stats import LEVEL

ASSETS = ("reporting/templates/claims.md",)
HELD = "held"
FAILED = "did not hold"
UNDECIDED = "undecided"
UNTESTED = "not tested here"
KINDS = (HELD, FAILED, UNDECIDED, UNTESTED)  # how a verdict begins; a scope or a direction may follow


class Verdict(NamedTuple):
    """A row of claims.csv; the numbers are empty texts if nothing was compared."""

    id: str = ""
    claim: str = ""
    source: str = ""
    verdict: str = UNTESTED
    tested: str = ""
    decided_by: str = ""
    difference: str | float = ""
    low: str | float = ""
    high: str | float = ""
    level: str | float = ""
    threshold: str = ""
    interval_from: str = ""
    numbers: str = ""
    runs: str = ""
    paper_verdict: str = ""
    paper_numbers: str = ""
    remark: str = ""


def judge(claim: Claim, evidence: Evidence) -> Verdict:
    if claim.check not in CHECKS:
        raise WarlabError(f"The claim {claim.id} has no check {claim.check!r}; use one of {', '.join(CHECKS)}.")
    check, settings = CHECKS[claim.check], [Scenario(*setting) for setting in claim.settings]
    try:
        inspect.signature(check).bind(None, **claim.arguments)
    except TypeError as error:
        raise WarlabError(f"The claim {claim.id} does not fit its check {claim.check}: {error}.") from error
    return conclude(check(evidence, settings, **claim.arguments), claim.exceptions)


def conclude(items: Sequence[Item], exceptions: int = 0) -> Verdict:
    """A claim held if no more items fail than it allows, and not all of them; untested items decide nothing.

    One method can refute a claim about all methods, but such a claim holds only if every method was run.
    """
    tested = [item for item in items if item.holds is not None]
    counted = f"{sum(item.tested for item in items)} of {sum(item.named for item in items)}"
    if not tested:
        return Verdict(tested=counted, numbers="; ".join(item.text for item in items))
    allowed = min(exceptions, len(tested) - 1)
    held, failed = ([item for item in tested if item.decided is outcome] for outcome in (True, False))
    if len(failed) > allowed:
        verdict, deciding = FAILED + _scope(items), failed
    elif len(held) >= len(tested) - allowed and all(item.whole for item in tested):
        verdict, deciding = HELD + _scope(items), held
    else:
        against = sum(not item.holds for item in tested) > allowed
        verdict = f"{UNDECIDED}, points {'against' if against else 'for'}"
        open_items = [item for item in tested if item.decided is None] or tested
        deciding = [item for item in open_items if item.holds is not against] or open_items
    runs = dict.fromkeys(source for item in tested for source in item.rests_on)
    row = Verdict(
        verdict=verdict, tested=counted, numbers="; ".join(item.text for item in tested), runs="; ".join(runs)
    )
    parts = [part for item in deciding for part in item.parts]
    return _with_decisive(row, min(parts, key=lambda part: part.margin)) if parts else row


def _with_decisive(row: Verdict, part: Part) -> Verdict:
    low, high = part.estimate.interval()
    return row._replace(
        decided_by=part.label,
        difference=round(part.estimate.value, 6),
        low=round(low, 4) if math.isfinite(low) else "",
        high=round(high, 4) if math.isfinite(high) else "",
        level=LEVEL,
        threshold=_threshold(part),
        interval_from=part.estimate.basis,
    )


def _scope(items: Sequence[Item]) -> str:
    """What the verdict is about, if it is not the whole claim."""
    tested, named = sum(item.tested for item in items if item.holds is not None), sum(item.named for item in items)
    if tested < named:
        return " in this setting" if tested == 1 else " in the settings tested"
    return "" if all(item.whole for item in items) else " among the methods tested"


def table(claims: Sequence[Claim], ours: Evidence, paper: Callable[[str | None], Evidence]) -> pd.DataFrame:
    """One row per claim, settled ones first, untested last; `paper` gives the paper's numbers of an experiment."""
    rows = []
    for claim in claims:
        row = judge(claim, ours)._replace(id=claim.id, claim=claim.text, source=claim.source, remark=claim.remark)
        printed = judge(claim, paper(claim.experiment))
        if printed.verdict != UNTESTED:
            row = row._replace(paper_verdict=printed.verdict, paper_numbers=printed.numbers)
        rows.append(row)
    rows.sort(key=lambda row: _order(row.verdict))
    return table_of(rows, Verdict)


def _order(verdict: str) -> int:
    """Verdicts on whole claims come first, then those on parts of claims, undecided claims and untested ones."""
    return 0 if verdict in (HELD, FAILED) else 1 + max(KINDS.index(kind(verdict)), 1)


def _threshold(part: Part) -> str:
    limits = [f"above {part.low:g}"] * math.isfinite(part.low) + [f"at most {part.high:g}"] * math.isfinite(part.high)
    return " and ".join(limits)


def kind(verdict: str) -> str:
    """held, did not hold, undecided, or not tested here"""
    return next(one for one in KINDS if verdict.startswith(one))


def counts(verdicts: Iterable[str]) -> str:
    """ "3 held; 2 held in this setting; 1 undecided, points for; …": all verdicts, in the order of the table"""
    found = list(verdicts)
    order = sorted(
        dict.fromkeys([HELD, FAILED, *found]), key=lambda verdict: (_order(verdict), KINDS.index(kind(verdict)))
    )
    return "; ".join(f"{found.count(verdict)} {verdict}" for verdict in order)


def difference_text(row: Verdict) -> str:
    """ "+3.93 (95 %: +1.98 to +5.88), must be above 0; 2000 paired test images" """
    if row.difference == "":
        return ""
    known = row.low != "" and row.high != ""
    span = f"{float(row.level):.0%}: {signed(float(row.low))} to {signed(float(row.high))}" if known else ""
    interval = f" ({span})".replace("%", "\N{NO-BREAK SPACE}%") if known else " (no interval)"
    basis = f"; {row.interval_from}" if row.interval_from else ""
    return f"{signed(float(row.difference))}{interval}, must be {row.threshold}{basis}"


def to_markdown(found: pd.DataFrame, scale: str) -> str:
    rows = []
    for row in rows_of(found, Verdict):
        decided = f"{row.decided_by}: {difference_text(row)}" if row.decided_by else "–"
        cells = [f"{row.claim} [{row.source}]", row.verdict, row.tested, decided, row.numbers, row.paper_verdict or "–"]
        rows.append([escape_markdown(cell) for cell in cells])
    header = ("claim", "verdict", "settings", "decided by", "numbers", "by the paper's tables")
    return render("claims.md", scale=scale, counts=counts(found["verdict"]), table=markdown_table(header, rows))
