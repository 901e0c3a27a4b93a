rule table:
    """One table of the paper, ours beside the published numbers, as csv, md and tex."""
    input:
        runs=rules.collect.output.runs,
        published="config/published.csv",
    output:
        csv=f"{R}/tables/{{experiment}}.csv",
        md=f"{R}/tables/{{experiment}}.md",
        tex=f"{R}/tables/{{experiment}}.tex",
    log:
        f"{R}/logs/table/{{experiment}}.log",
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
