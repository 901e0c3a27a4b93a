rule train:
    """One training run; killed at any moment, it continues from its checkpoint to the same bits."""
    input:
        unpack(train_inputs),
    output:
        metrics=f"{RUN}/metrics.csv",
        result=f"{RUN}/result.json",
        weights=f"{RUN}/weights.pt",
        predictions=f"{RUN}/test_predictions.npz",
        audit=f"{RUN}/audit.npz",
    log:
        f"{R}/logs/train/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}.log",
    benchmark:
        f"{R}/benchmarks/train/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}.tsv"
    conda:
        "../envs/warlab.yaml"
    threads: study.scale.get("threads", 1)
    resources:
        gpu=1,
        mem_mb=train_memory,
        runtime=lambda wildcards: train_effort(wildcards).minutes,
    params:
        run=lambda wildcards: study.settings.run(cell_of(wildcards)).to_dict(),
        code=lambda wildcards: run_code("train", wildcards),
    script:
        "../workflow/scripts/train.py"


rule predict:
    """What a finished run says about the training images, for the methods that build on another run."""
    input:
        unpack(train_inputs),
        weights=rules.train.output.weights,
    output:
        predictions=f"{RUN}/predictions.npz",
    log:
        f"{R}/logs/predict/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: study.scale.get("threads", 1)
    resources:
        gpu=1,
        mem_mb=train_memory,
        runtime=lambda wildcards: train_effort(wildcards).minutes // 12,
    params:
        run=lambda wildcards: study.settings.run(cell_of(wildcards)).to_dict(),
        code=lambda wildcards: run_code("predict", wildcards),
    script:
        "../workflow/scripts/predict.py"


rule collect:
    """All runs of the scale as one tidy table: a row per run and epoch."""
    input:
        **collected(),
    output:
        runs=f"{R}/runs.csv",
    log:
        f"{R}/logs/collect.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        declared=declared_runs(),
        code=code("collect"),
    script:
        "../workflow/scripts/collect.py"
