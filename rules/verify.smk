rule retrain:
    """A run once more, in a folder of its own."""
    input:
        unpack(train_inputs),
    output:
        metrics=f"{R}/verify/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}/metrics.csv",
        result=f"{R}/verify/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}/result.json",
        weights=f"{R}/verify/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}/weights.pt",
        predictions=f"{R}/verify/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}/test_predictions.npz",
        audit=f"{R}/verify/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}/audit.npz",
    log:
        f"{R}/logs/verify/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}.log",
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


rule verify:
    """Train one run of the scale again, another one every day, and compare it with what is reported."""
    input:
        runs=rules.collect.output.runs,
        metrics=f"{R}/verify/{verified_run()}/metrics.csv",
    output:
        comparison=f"{R}/verify/{verified_run()}/comparison.json",
    log:
        f"{R}/logs/verify/comparison.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        run=verified_run(),
        code=code("verify"),
    script:
        "../workflow/scripts/verify.py"
