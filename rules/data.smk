rule fetch:
    """Raw files of a dataset: embedded, procedural, or downloaded and checked by their checksums."""
    output:
        receipt="<raw>/{dataset}/{source}/receipt.json",
    log:
        "<raw>/{dataset}/{source}/logs/fetch.log",
    # Missing data should be reported before anything trains for days.
    priority: 100
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        code=flow.code_of("fetch", "dataset"),
    script:
        "../workflow/scripts/fetch.py"


rule prepare:
    """The arrays that training reads: the scale's subset, pooled, as uint8."""
    input:
        receipt=collect("<raw>/{dataset}/{source}/receipt.json", source=data.source, allow_missing=True),
    output:
        data="<results>/data/{dataset}.npz",
        meta="<results>/data/{dataset}.json",
    log:
        "<logs>/prepare/{dataset}.log",
    priority: 90  # before any training, as what follows may find a mistake, and the first pictures need no more
    conda:
        "../envs/warlab.yaml"
    threads: data.effort("threads")
    resources:
        mem_mb=data.effort("mem_mb"),
        runtime=data.effort("minutes"),
    params:
        spec=data.settings,
        code=flow.code_of("prepare", "dataset"),
    script:
        "../workflow/scripts/prepare.py"
