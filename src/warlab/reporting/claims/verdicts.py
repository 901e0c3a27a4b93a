"""Verdicts on the claims of config/claims.yaml, by this scale's runs and by the paper's own tables.

Each claim names a check of `checks.CHECKS` and its arguments. A verdict is as strong as its evidence: the interval of
the decisive difference must exclude the threshold, and a verdict on the whole claim needs every setting and method that
the claim names.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from warlab.artefacts.claim import Claim
from warlab.errors import WarlabError
from warlab.reporting.claims.checks import CHECKS, Item, judge_settings
from warlab.reporting.claims.evidence import Evidence
from warlab.reporting.formats import DIGITS, number, render, signed
from warlab.reporting.read.csv_rows import rows_of, table_of
from warlab.reporting.read.results import Scenario

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
    try:
        inspect.signature(CHECKS[claim.check]).bind(None, **claim.arguments)
    except TypeError as error:
        raise WarlabError(f"The claim {claim.id} does not fit its check {claim.check}: {error}.") from error
    settings = [Scenario(*setting) for setting in claim.settings]
    return conclude(judge_settings(claim.check, evidence, settings, **claim.arguments), claim.exceptions)


def conclude(items: Sequence[Item], exceptions: int = 0) -> Verdict:
    """Return the verdict on a claim: it held if no more items fail than it allows, and not all of them; untested items
    decide nothing.

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
    elif len(held) >= len(tested) - allowed and all(item.complete for item in tested):
        verdict, deciding = HELD + _scope(items), held
    else:
        against = sum(not item.holds for item in tested) > allowed
        verdict = f"{UNDECIDED}, points {'against' if against else 'for'}"
        open_items = [item for item in tested if item.decided is None] or tested
        deciding = [item for item in open_items if item.holds is not against] or open_items
    sources = dict.fromkeys(source for item in tested for part in item.parts for source in part.sources)
    row = Verdict(
        verdict=verdict, tested=counted, numbers="; ".join(item.text for item in tested), runs="; ".join(sources)
    )
    return _add_decisive(row, deciding)


def _add_decisive(row: Verdict, items: Sequence[Item]) -> Verdict:
    """Add the number on which the verdict rests, nearest to its limit, with the interval at the level that decides:
    whoever reads a settled verdict can see that the interval excludes the threshold."""
    parts = [(item.decisive, item) for item in items if item.decisive is not None]
    if not parts:
        return row
    part, item = min(parts, key=lambda pair: pair[0].clearance(bool(pair[1].holds), pair[1].level))
    low, high = part.estimate.interval(item.level)
    limits = {"above": part.low, "at most": part.high}
    return row._replace(
        decided_by=part.label,
        difference=round(part.estimate.value, 6),
        low=round(low, 4) if math.isfinite(low) else "",
        high=round(high, 4) if math.isfinite(high) else "",
        level=round(item.level, 6),
        threshold=" and ".join(f"{word} {limit:g}" for word, limit in limits.items() if math.isfinite(limit)),
        interval_from=part.estimate.basis,
    )


def _scope(items: Sequence[Item]) -> str:
    """Return what the verdict is about, if it is not the whole claim."""
    tested, named = sum(item.tested for item in items if item.holds is not None), sum(item.named for item in items)
    if tested < named:
        return " in this setting" if tested == 1 else " in the settings tested"
    return "" if all(item.complete for item in items) else " among the methods tested"


def judge_all(claims: Sequence[Claim], ours: Evidence, paper: Callable[[str | None], Evidence]) -> pd.DataFrame:
    """Return a row per claim, settled ones first, untested last; `paper` gives the paper's numbers of an experiment."""
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
    """Put verdicts on whole claims first, then those on parts of claims, undecided claims and untested ones."""
    return 0 if verdict in (HELD, FAILED) else 1 + max(KINDS.index(kind(verdict)), 1)


def kind(verdict: str) -> str:
    """Return held, did not hold, undecided, or not tested here."""
    return next(one for one in KINDS if verdict.startswith(one))


def is_partial(row: Verdict) -> bool:
    """Return whether a settled verdict rests on a part of its settings or methods, or on fewer than three seeds."""
    return kind(row.verdict) in (HELD, FAILED) and (row.verdict not in KINDS or "samples" in row.interval_from)


def count_verdicts(verdicts: Iterable[str]) -> str:
    """Count all verdicts in the order of the table: "3 held; 2 held in this setting; 1 undecided, points for; …"."""
    listed = list(verdicts)
    kinds = dict.fromkeys([HELD, FAILED, *listed])
    order = sorted(kinds, key=lambda verdict: (_order(verdict), KINDS.index(kind(verdict))))
    return "; ".join(f"{listed.count(verdict)} {verdict}" for verdict in order)


def _digits(row: Verdict) -> int:
    """Return how many digits show on which side of the threshold the interval ends."""
    limits = [float(limit) for limit in re.findall(r"(?:above|at most) (\S+)", row.threshold)]
    ends = [float(end) for end in (row.low, row.high, row.difference) if end != ""]
    apart = [abs(end - limit) for end in ends for limit in limits if end != limit]
    return next((digits for digits in (DIGITS, 3, 4) if min(apart, default=1) >= 0.6 * 10**-digits), 6)


def difference_text(row: Verdict) -> str:
    """Return "+3.93 (95 %: +1.98 to +5.88), must be above 0; 2000 paired test samples"."""
    if row.difference == "":
        return ""
    known = row.low != "" and row.high != ""
    text = partial(number if " / " in row.decided_by else signed, digits=_digits(row))  # a ratio needs no sign
    ends = f"{text(float(row.low))} to {text(float(row.high))}" if known else ""
    interval = f" ({100 * float(row.level):.4g}\N{NO-BREAK SPACE}%: {ends})" if known else " (no interval)"
    basis = f"; {row.interval_from}" if row.interval_from else ""
    return f"{text(float(row.difference))}{interval}, must be {row.threshold}{basis}"


def to_markdown(judged: pd.DataFrame, scale: str) -> str:
    rows, counts = rows_of(judged, Verdict), count_verdicts(judged["verdict"])
    return render("claims.md", scale=scale, counts=counts, rows=rows, difference_text=difference_text)
