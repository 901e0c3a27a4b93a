rule statistics:
    """Three readings of every run; tests over settings, seeds and images; the ranking of the methods and the paper's."""
    input:
        runs=rules.collect.output.runs,
        predictions=jobs.tables.kept_predictions(),
        published=flow.own_file("config/published.csv"),
    output:
        readings=paths.readings,
        csv=report(
            paths.statistics,
            caption="../workflow/report/statistics.rst",
            category=category("statistics"),
            labels={"shows": "All tests"},
        ),
        md=paths.statistics_text,
    log:
        paths.log("statistics"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        experiments=jobs.tables.compared(),
        tested_on=jobs.tables.tested_on(),
        labels=study.labels,
        code=flow.code("statistics"),
    script:
        "../workflow/scripts/statistics.py"


rule propositions:
    """The paper's propositions, computed on random predictions with POT."""
    output:
        json=paths.propositions,
    log:
        paths.common_log("propositions"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=flow.code("propositions"),
    script:
        "../workflow/scripts/propositions.py"


rule claims:
    """Every claim of the paper, judged by this scale's runs: held, did not hold, undecided, not tested here."""
    input:
        runs=rules.collect.output.runs,
        predictions=jobs.tables.kept_predictions(),
        published=flow.own_file("config/published.csv"),
        claims=flow.own_file("config/claims.yaml"),
        propositions=rules.propositions.output.json,
        timing=flow.unless_given(jobs.tables.timing_files()),
    output:
        csv=report(
            paths.claims,
            caption="../workflow/report/claims.rst",
            category=category("claims"),
            labels={"shows": "All claims"},
        ),
        md=paths.claims_text,
    log:
        paths.log("claims"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        scale=study.name,
        aliases=flow.all_aliases(),
        last=jobs.tables.epochs_read(),
        tested_on=jobs.tables.tested_on(),
        stands_for=study.experiments["timing"].get("stands_for", {}),
        labels=study.labels,
        code=flow.code("claims"),
    script:
        "../workflow/scripts/claims.py"
