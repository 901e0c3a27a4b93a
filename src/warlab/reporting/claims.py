"""What the paper asserts and what was found in it, judged by this scale's runs and by the paper's own tables.

config/claims.yaml names for each claim a check of `checks.CHECKS` with its arguments; no code stands there. The
verdict goes by the means; where the spread is larger than what decides, it says so.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import pandas as pd

from warlab.errors import WarlabError
from warlab.reporting.checks import CHECKS, Item
from warlab.reporting.evidence import Evidence, Setting
from warlab.reporting.labels import markdown

Verdict = Literal["held", "did not hold", "not tested here"]
HELD: Verdict = "held"
FAILED: Verdict = "did not hold"
UNTESTED: Verdict = "not tested here"
COLUMNS = (
    "id",
    "claim",
    "source",
    "verdict",
    "tested",
    "certainty",
    "numbers",
    "runs",
    "paper_verdict",
    "paper_numbers",
    "remark",
)


@dataclass(frozen=True)
class Claim:
    id: str
    text: str
    source: str
    check: str
    arguments: dict[str, Any]
    settings: tuple[Setting, ...]
    exceptions: int = 0
    experiment: str | None = None  # whose table counts where the paper prints a cell in several
    remark: str = ""


@dataclass(frozen=True)
class Finding:
    verdict: Verdict
    tested: str
    certainty: str
    numbers: tuple[str, ...]
    runs: tuple[str, ...]


def read_claims(entries: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """config/claims.yaml, already parsed; a mistake in it is one sentence."""
    claims = [_claim(entry) for entry in entries]
    ids = [claim.id for claim in claims]
    if twice := [identifier for identifier in ids if ids.count(identifier) > 1]:
        raise WarlabError(f"config/claims.yaml has the claim {twice[0]!r} twice; give one of them another id.")
    return claims


def _claim(entry: Mapping[str, Any]) -> Claim:
    identifier, check = str(entry.get("id", "without id")), str(entry.get("check", ""))
    if check not in CHECKS:
        raise WarlabError(f"The claim {identifier} has no check {check!r}; use one of {', '.join(CHECKS)}.")
    arguments = dict(entry.get("with", {}))
    try:
        inspect.signature(CHECKS[check]).bind(None, (), **arguments)
    except TypeError as error:
        raise WarlabError(f"The claim {identifier} does not fit its check {check}: {error}.") from error
    return Claim(
        identifier,
        str(entry["claim"]),
        str(entry["source"]),
        check,
        arguments,
        _settings(entry.get("settings", [])),
        int(entry.get("exceptions", 0)),
        entry.get("experiment"),
        str(entry.get("remark", "")),
    )


def _settings(given: Mapping[str, list[str]] | Sequence[Mapping[str, list[str]]]) -> tuple[Setting, ...]:
    blocks = [given] if isinstance(given, Mapping) else given
    return tuple(
        Setting(*chosen)
        for block in blocks
        for chosen in product(
            block["datasets"], block["noises"], block.get("nets", ["cnn9"]), block.get("metrics", ["test_accuracy"])
        )
    )


def judge(claim: Claim, evidence: Evidence) -> Finding:
    items = CHECKS[claim.check](evidence, claim.settings, **claim.arguments)
    return conclude(items, claim.exceptions)


def conclude(items: Sequence[Item], exceptions: int = 0) -> Finding:
    """Held if no more items fail than the claim allows, and not all; what cannot be tested decides nothing."""
    tested = [item for item in items if item.holds is not None]
    failed = [item for item in tested if not item.holds]
    within = len(failed) <= exceptions and len(failed) < len(tested)
    verdict = UNTESTED if not tested else HELD if within else FAILED
    deciding = failed if verdict == FAILED else tested
    certainty = "" if not tested else "clear" if all(item.clear for item in deciding) else "within the spread"
    runs = dict.fromkeys(source for item in tested for source in item.rests_on)
    shown = tested or items
    return Finding(
        verdict, f"{len(tested)} of {len(items)}", certainty, tuple(item.text for item in shown), tuple(runs)
    )


def table(claims: Sequence[Claim], ours: Evidence, paper: Callable[[str | None], Evidence]) -> pd.DataFrame:
    """One row per claim, tested ones first; `paper` gives the paper's numbers, one experiment's first."""
    rows = []
    for claim in claims:
        found, printed = judge(claim, ours), judge(claim, paper(claim.experiment))
        rows.append(
            {
                "id": claim.id,
                "claim": claim.text,
                "source": claim.source,
                "verdict": found.verdict,
                "tested": found.tested,
                "certainty": found.certainty,
                "numbers": "; ".join(found.numbers),
                "runs": "; ".join(found.runs),
                "paper_verdict": "" if printed.verdict == UNTESTED else printed.verdict,
                "paper_numbers": "" if printed.verdict == UNTESTED else "; ".join(printed.numbers),
                "remark": claim.remark,
            }
        )
    rows.sort(key=lambda row: row["verdict"] == UNTESTED)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def counts(found: pd.DataFrame) -> str:
    """ "12 held, 3 did not hold, 10 not tested here" """
    totals = found["verdict"].value_counts()
    return ", ".join(f"{totals.get(verdict, 0)} {verdict}" for verdict in (HELD, FAILED, UNTESTED))


def to_markdown(found: pd.DataFrame, scale: str) -> str:
    lines = [
        f"# Claims, judged by the runs of the scale {scale}",
        "",
        f"{counts(found)}. `tested`: how many of the claim's comparisons could be made here. The last column says "
        "whether the paper's own tables support the claim. Runs and all numbers: claims.csv.",
        "",
        "| claim | verdict | tested | numbers | by the paper's tables |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in found.to_dict("records"):
        certainty = f" ({row['certainty']})" if row["certainty"] == "within the spread" else ""
        cells = [f"{row['claim']} [{row['source']}]", f"{row['verdict']}{certainty}", row["tested"], row["numbers"]]
        cells.append(row["paper_verdict"] or "–")
        lines.append("| " + " | ".join(markdown(str(cell)) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def read_table(path: Any) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)
