rule statistics:
    """Three readings of every run; tests over settings, seeds and images; the order of the methods beside the paper's."""
    input:
        unpack(kept_predictions),  # see report_inputs
        runs=rules.collect.output.runs,
        published=own_file("config/published.csv"),
    output:
        readings=f"{R}/readings.csv",
        csv=report(
            f"{R}/statistics.csv",
            caption="../workflow/report/statistics.rst",
            category=category("statistics"),
            labels={"shows": "All tests"},
        ),
        md=f"{R}/statistics.md",
    log:
        f"{R}/logs/statistics.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        experiments=compared(),
        tested_on=tested_on(),
        labels=study.labels,
        code=code("statistics"),
    script:
        "../workflow/scripts/statistics.py"


rule propositions:
    """The paper's propositions, computed on random predictions with POT."""
    output:
        json=f"{COMMON}/propositions.json",
    log:
        f"{COMMON}/logs/propositions.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=code("propositions"),
    script:
        "../workflow/scripts/propositions.py"


rule claims:
    """Every claim of the paper, judged by this scale's runs: held, did not hold, undecided, not tested here."""
    input:
        unpack(kept_predictions),  # see report_inputs
        runs=rules.collect.output.runs,
        published=own_file("config/published.csv"),
        claims=own_file("config/claims.yaml"),
        propositions=rules.propositions.output.json,
        timing=unless_given(timing_files()),
    output:
        csv=report(
            f"{R}/claims.csv",
            caption="../workflow/report/claims.rst",
            category=category("claims"),
            labels={"shows": "All claims"},
        ),
        md=f"{R}/claims.md",
    log:
        f"{R}/logs/claims.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        scale=study.name,
        aliases=all_aliases(),
        last=read_epochs(),
        tested_on=tested_on(),
        stands_for=study.experiments["timing"].get("stands_for", {}),
        labels=study.labels,
        code=code("claims"),
    script:
        "../workflow/scripts/claims.py"
