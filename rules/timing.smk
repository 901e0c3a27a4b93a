rule time_steps:
    """Measured time of training steps of CCE, AR and WAR, on random images of a dataset's shape."""
    output:
        times=paths.timing,
    log:
        paths.log("timing/{dataset}/{net}"),
    conda:
        "../envs/warlab.yaml"
    threads: jobs.train.threads
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=120,
    params:
        spec=by_wildcards(study.plan.timing, "dataset", "net"),
        code=jobs.tables.timing_code,
    script:
        "../workflow/scripts/time_steps.py"


rule timing_table:
    """Seconds per epoch and their ratios, ours and the published ones."""
    input:
        times=jobs.tables.timing_files(),
        published=flow.own_file("config/published.csv"),
    output:
        csv=f"{paths.timing_table}.csv",
        md=f"{paths.timing_table}.md",
        tex=f"{paths.timing_table}.tex",
    log:
        paths.log("table/timing"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        labels=study.labels,
        title=study.experiments["timing"]["title"],
        code=flow.code("timing_table"),
    script:
        "../workflow/scripts/timing_table.py"
