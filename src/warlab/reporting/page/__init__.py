"""The report: its sections in their order, and the two methods that its sentences compare.

Figures, tables and `snakemake --report` use the same sections.
"""

SECTIONS = {
    "results": "Results and the paper's numbers",
    "adversarial": "Is it adversarial?",
    "audit": "Labels that look wrong",
    "maps": "Maps",
    "claims": "Claims and how strong the evidence is",
    "statistics": "Statistics",
    "data": "Data, noise and costs",
    "fidelity": "Paper against code",
    "settings": "Settings",
    "provenance": "Provenance",
}


def category(section: str) -> str:
    """Return the name of a section in Snakemake's report, which sorts its categories by name."""
    return f"{list(SECTIONS).index(section) + 1:02d} {SECTIONS[section]}"
