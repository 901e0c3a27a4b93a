rule table:
    """One table of the paper, ours beside the published numbers, as csv, md and tex."""
    input:
        unpack(table_inputs),
        published=own_file("config/published.csv"),
    output:
        csv=report(
            f"{R}/tables/{{experiment}}.csv",
            caption="../workflow/report/table.rst",
            category=lambda wildcards: category(table_section(wildcards.experiment)),
            labels=lambda wildcards: {
                "shows": study.experiments[wildcards.experiment]["title"]
            },
        ),
        md=f"{R}/tables/{{experiment}}.md",
        tex=f"{R}/tables/{{experiment}}.tex",
        md_runs=f"{R}/tables/{{experiment}}_std_runs.md",
        tex_runs=f"{R}/tables/{{experiment}}_std_runs.tex",
    log:
        f"{R}/logs/table/{{experiment}}.log",
    wildcard_constraints:
        experiment="|".join(study.plan.tables),
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        spec=table_spec,
        code=code("table"),
    script:
        "../workflow/scripts/table.py"


rule architectures:
    """The layers of the scale's networks, read off the network classes."""
    input:
        meta=[f"{R}/data/{dataset}.json" for dataset in sorted(set(NETS.values()))],
    output:
        csv=f"{R}/tables/architectures.csv",
        md=f"{R}/tables/architectures.md",
        tex=f"{R}/tables/architectures.tex",
    log:
        f"{R}/logs/table/architectures.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        networks=networks_shown(),
        code=code("architectures", *(f"warlab.nets.{net}" for net in sorted(NETS))),
    script:
        "../workflow/scripts/architectures.py"


rule hyperparameters:
    """Every number of the configuration with its source."""
    output:
        csv=f"{R}/tables/hyperparameters.csv",
        md=f"{R}/tables/hyperparameters.md",
        tex=f"{R}/tables/hyperparameters.tex",
    log:
        f"{R}/logs/table/hyperparameters.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        numbers=study.numbers.table(),
        code=code("hyperparameters"),
    script:
        "../workflow/scripts/hyperparameters.py"


rule typeset:
    """All tables in one PDF; needs pdflatex, without which the .tex files stand."""
    input:
        tables=expand(rules.table.output.tex, experiment=study.plan.tables),
        runs=expand(rules.table.output.tex_runs, experiment=study.plan.tables),
        timing=timing_tex_of(),
        architectures=architectures_of(),
        hyperparameters=rules.hyperparameters.output.tex,
    output:
        pdf=f"{R}/tables.pdf",
    log:
        f"{R}/logs/typeset.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        scale=study.name,
        code=code("typeset"),
    script:
        "../workflow/scripts/typeset.py"
