rule fetch:
    """Raw files of a dataset: embedded, procedural, or downloaded and checked by their checksums."""
    output:
        receipt=paths.receipt,
    log:
        paths.fetch_log,
    # Missing data should be reported before anything trains for days.
    priority: 100
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=120,
    params:
        code=flow.code_of("fetch", "dataset"),
    script:
        "../workflow/scripts/fetch.py"


rule prepare:
    """The arrays that training reads: the scale's subset, pooled, as uint8."""
    input:
        receipt=by_wildcards(flow.receipt, "dataset"),
    output:
        data=paths.data,
        meta=paths.data_json,
    log:
        paths.log("prepare/{dataset}"),
    conda:
        "../envs/warlab.yaml"
    threads: jobs.data.effort("threads")
    resources:
        mem_mb=jobs.data.effort("mem_mb"),
        runtime=jobs.data.effort("minutes"),
    params:
        spec=jobs.data.spec,
        code=flow.code_of("prepare", "dataset"),
    script:
        "../workflow/scripts/prepare.py"
