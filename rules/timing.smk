rule time_steps:
    """Time training steps of CCE, AR and WAR, on random images of a dataset's shape."""
    output:
        times="<results>/timing/{dataset}/{net}.json",
    log:
        "<logs>/timing/{dataset}/{net}.log",
    conda:
        "../envs/warlab.yaml"
    threads: runs.threads
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=120,
    params:
        spec=tables.timing_settings,
        code=tables.timing_code,
    script:
        "../workflow/scripts/time_steps.py"


rule timing_table:
    """Make the table of seconds per epoch and their ratios, ours and the published ones."""
    input:
        times=collect("<results>/timing/{timed}.json", timed=tables.timed),
        published="<config>/published.csv",
    output:
        csv="<results>/tables/timing.csv",
        md="<results>/tables/timing.md",
        tex="<results>/tables/timing.tex",
    log:
        "<logs>/table/timing.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        labels=study.labels,
        title=study.experiments["timing"]["title"],
        code=flow.code("timing_table"),
    script:
        "../workflow/scripts/timing_table.py"
