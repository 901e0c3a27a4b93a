rule fetch:
    """Raw files of a dataset: embedded, procedural, or downloaded, checked by their checksums."""
    output:
        receipt=f"{RAW}/{{dataset}}/{{source}}/receipt.json",
    log:
        f"{RAW}/{{dataset}}/{{source}}/logs/fetch.log",
    # What is absent should be told before anything trains for days.
    priority: 100
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=120,
    params:
        local=local_of,
        state=state_of,
        code=lambda wildcards: code("fetch", data.module(wildcards.dataset)),
    script:
        "../workflow/scripts/fetch.py"


rule prepare:
    """The arrays that training reads: the scale's subset, pooled, as uint8."""
    input:
        receipt=receipt_of,
    output:
        data=f"{R}/data/{{dataset}}.npz",
        meta=f"{R}/data/{{dataset}}.json",
    log:
        f"{R}/logs/prepare/{{dataset}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: lambda wildcards: prepare_effort(wildcards).threads
    resources:
        mem_mb=lambda wildcards: prepare_effort(wildcards).mem_mb,
        runtime=lambda wildcards: prepare_effort(wildcards).minutes,
    params:
        spec=data_spec,
        code=lambda wildcards: code("prepare", data.module(wildcards.dataset)),
    script:
        "../workflow/scripts/prepare.py"
