rule table:
    """One table of the paper, our numbers and the published ones, as csv, md and tex."""
    input:
        unpack(jobs.tables.inputs),
        published=flow.own_file("config/published.csv"),
    output:
        csv=report(
            f"{paths.table}.csv",
            caption="../workflow/report/table.rst",
            category=jobs.tables.category,
            labels=jobs.tables.title,
        ),
        md=f"{paths.table}.md",
        tex=f"{paths.table}.tex",
        md_runs=f"{paths.table}_std_runs.md",
        tex_runs=f"{paths.table}_std_runs.tex",
    log:
        paths.log("table/{experiment}"),
    wildcard_constraints:
        experiment="|".join(study.plan.tables),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        spec=jobs.tables.spec,
        code=flow.code("table"),
    script:
        "../workflow/scripts/table.py"


rule architectures:
    """The layers of the scale's networks."""
    input:
        meta=jobs.tables.networks_data(),
    output:
        csv=f"{paths.architectures}.csv",
        md=f"{paths.architectures}.md",
        tex=f"{paths.architectures}.tex",
    log:
        paths.log("table/architectures"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        networks=jobs.tables.networks(),
        code=jobs.tables.architectures_code(),
    script:
        "../workflow/scripts/architectures.py"


rule hyperparameters:
    """Every number of the configuration with its source."""
    output:
        csv=f"{paths.hyperparameters}.csv",
        md=f"{paths.hyperparameters}.md",
        tex=f"{paths.hyperparameters}.tex",
    log:
        paths.log("table/hyperparameters"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        numbers=study.numbers.table(),
        code=flow.code("hyperparameters"),
    script:
        "../workflow/scripts/hyperparameters.py"


rule typeset:
    """All tables in one PDF; needs pdflatex."""
    input:
        tables=expand(rules.table.output.tex, experiment=study.plan.tables),
        runs=expand(rules.table.output.tex_runs, experiment=study.plan.tables),
        timing=jobs.tables.timing("tex"),
        architectures=jobs.tables.architectures("tex"),
        hyperparameters=rules.hyperparameters.output.tex,
    output:
        pdf=paths.all_tables,
    log:
        paths.log("typeset"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        scale=study.name,
        code=flow.code("typeset"),
    script:
        "../workflow/scripts/typeset.py"
