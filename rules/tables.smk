rule table:
    """Make one table of the paper, our numbers and the published ones, as csv, md and tex."""
    input:
        runs=branch(runs.given, "<results>/runs.csv"),
        metrics=collect("<results>/runs/{run}/metrics.csv", run=tables.runs),
        results=collect("<results>/runs/{run}/result.json", run=tables.runs),
        published="<config>/published.csv",
    output:
        csv=report(
            "<results>/tables/{experiment}.csv",
            caption="../workflow/report/table.rst",
            category=tables.category,
            labels=tables.title,
        ),
        md="<results>/tables/{experiment}.md",
        tex="<results>/tables/{experiment}.tex",
        md_runs="<results>/tables/{experiment}_std_runs.md",
        tex_runs="<results>/tables/{experiment}_std_runs.tex",
    log:
        "<logs>/table/{experiment}.log",
    wildcard_constraints:
        experiment="|".join(study.plan.tables),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        spec=tables.spec,
        code=flow.code("table"),
    script:
        "../workflow/scripts/table.py"


rule architectures:
    """List the layers of the scale's networks."""
    input:
        meta=collect("<results>/data/{dataset}.json", dataset=tables.datasets_of_networks),
    output:
        csv="<results>/tables/architectures.csv",
        md="<results>/tables/architectures.md",
        tex="<results>/tables/architectures.tex",
    log:
        "<logs>/table/architectures.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        networks=tables.networks(),
        code=tables.architectures_code(),
    script:
        "../workflow/scripts/architectures.py"


rule hyperparameters:
    """List the settings of all runs: each value, what decides it, and its source."""
    output:
        csv="<results>/tables/hyperparameters.csv",
        md="<results>/tables/hyperparameters.md",
        tex="<results>/tables/hyperparameters.tex",
    log:
        "<logs>/table/hyperparameters.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        settings=used_settings(study),
        code=flow.code("hyperparameters"),
    script:
        "../workflow/scripts/hyperparameters.py"


rule typeset:
    """Typeset all tables in one PDF; needs pdflatex, which is looked for on this machine and not in a container."""
    input:
        expand("<results>/tables/{experiment}.tex", experiment=study.plan.tables),
        expand("<results>/tables/{experiment}_std_runs.tex", experiment=study.plan.tables),
        branch(tables.timed, "<results>/tables/timing.tex"),
        branch(runs.trained_here, "<results>/tables/architectures.tex"),
        "<results>/tables/hyperparameters.tex",
    output:
        pdf="<results>/tables.pdf",
    log:
        "<logs>/typeset.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    container:
        None
    params:
        scale=study.name,
        code=flow.code("typeset"),
    script:
        "../workflow/scripts/typeset.py"
