rule fetch:
    """Raw files of a dataset: embedded, procedural, or downloaded, checked by their checksums."""
    output:
        receipt=paths.receipt,
    log:
        paths.fetch_log,
    # What is absent should be told before anything trains for days.
    priority: 100
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=120,
    params:
        local=jobs.data.local,
        state=jobs.data.local_state,
        code=jobs.data.fetch_code,
    script:
        "../workflow/scripts/fetch.py"


rule prepare:
    """The arrays that training reads: the scale's subset, pooled, as uint8."""
    input:
        receipt=jobs.data.receipt,
    output:
        data=paths.data,
        meta=paths.data_json,
    log:
        paths.log("prepare/{dataset}"),
    conda:
        "../envs/warlab.yaml"
    threads: jobs.data.prepare_threads
    resources:
        mem_mb=jobs.data.prepare_memory,
        runtime=jobs.data.prepare_minutes,
    params:
        spec=jobs.data.spec,
        code=jobs.data.prepare_code,
    script:
        "../workflow/scripts/prepare.py"
