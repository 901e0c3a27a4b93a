rule time_steps:
    """Training steps of CCE, AR and WAR by the clock, on random images of a dataset's shape."""
    output:
        times=f"{R}/timing/{{dataset}}/{{net}}.json",
    log:
        f"{R}/logs/timing/{{dataset}}/{{net}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: study.scale.get("threads", 1)
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=120,
    params:
        spec=timing_spec,
        code=timing_code,
    script:
        "../workflow/scripts/time_steps.py"


rule timing_table:
    """Seconds per epoch and their ratios, ours beside the published ones."""
    input:
        times=timing_files(),
        published=own_file("config/published.csv"),
    output:
        csv=f"{R}/tables/timing.csv",
        md=f"{R}/tables/timing.md",
        tex=f"{R}/tables/timing.tex",
    log:
        f"{R}/logs/table/timing.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        labels=study.labels,
        title=study.experiments["timing"]["title"],
        code=code("timing_table"),
    script:
        "../workflow/scripts/timing_table.py"
