"""The sections of the report in their order; figures, tables and `snakemake --report` are sorted into the same ones."""

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
    """Its name in Snakemake's report, which sorts by the alphabet."""
    return f"{list(SECTIONS).index(section) + 1:02d} {SECTIONS[section]}"
