rule statistics:
    """Three readings of every run; tests over settings, seeds and images; the ranking of the methods and the paper's."""
    input:
        runs="<results>/runs.csv",
        predictions=branch(runs.given, runs.given_predictions, ["<results>/test_predictions.npz"]),
        published="<config>/published.csv",
    output:
        readings="<results>/readings.csv",
        csv=report(
            "<results>/statistics.csv",
            caption="../workflow/report/statistics.rst",
            category=category("statistics"),
            labels={"shows": "All tests"},
        ),
        md="<results>/statistics.md",
    log:
        "<logs>/statistics.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        experiments=tables.compared(),
        tested_on=tables.tested_on(),
        labels=study.labels,
        code=flow.code("statistics"),
    script:
        "../workflow/scripts/statistics.py"


rule propositions:
    """Compute the paper's propositions on random predictions with POT."""
    output:
        json="<common>/propositions.json",
    log:
        "<common>/logs/propositions.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        code=flow.code("propositions"),
    script:
        "../workflow/scripts/propositions.py"


rule claims:
    """Judge every claim of the paper by this scale's runs: held, did not hold, undecided, not tested here."""
    input:
        runs="<results>/runs.csv",
        predictions=branch(runs.given, runs.given_predictions, ["<results>/test_predictions.npz"]),
        published="<config>/published.csv",
        claims="<config>/claims.yaml",
        propositions="<common>/propositions.json",
        timing=collect("<results>/timing/{timed}.json", timed=tables.timed),
    output:
        csv=report(
            "<results>/claims.csv",
            caption="../workflow/report/claims.rst",
            category=category("claims"),
            labels={"shows": "All claims"},
        ),
        md="<results>/claims.md",
    log:
        "<logs>/claims.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        scale=study.name,
        last=tables.epochs_read(),
        tested_on=tables.tested_on(),
        stands_for=study.experiments["timing"].get("stands_for", {}),
        labels=study.labels,
        code=flow.code("claims"),
    script:
        "../workflow/scripts/claims.py"
