rule train:
    """One training run. If it is killed, it continues from its checkpoint and ends in the same bits."""
    input:
        unpack(jobs.train.inputs),
    output:
        metrics=paths.metrics,
        result=paths.result,
        weights=paths.weights,
        predictions=paths.test_predictions,
        audit=paths.audit,
    log:
        paths.train_log,
    benchmark:
        paths.benchmark
    conda:
        "../envs/warlab.yaml"
    threads: jobs.train.threads
    resources:
        gpu=1,
        mem_mb=jobs.train.memory,
        runtime=jobs.train.minutes,
    params:
        run=jobs.train.run,
        code=jobs.train.modules,
        sources=jobs.train.sources,
    script:
        "../workflow/scripts/train.py"


rule predict:
    """Predictions of a finished run for the training images, for methods that need another run."""
    input:
        unpack(jobs.train.inputs),
        weights=rules.train.output.weights,
    output:
        predictions=paths.predictions,
    log:
        paths.log(f"predict/{RUN}"),
    conda:
        "../envs/warlab.yaml"
    threads: jobs.train.threads
    resources:
        gpu=1,
        mem_mb=jobs.train.memory,
        runtime=jobs.train.predict_minutes,
    params:
        run=jobs.train.run,
        code=jobs.train.code("predict"),
    script:
        "../workflow/scripts/predict.py"


rule collect:
    """All runs of the scale as one tidy table: a row per run and epoch."""
    input:
        unpack(jobs.train.collected),
    output:
        runs=paths.runs,
    log:
        paths.log("collect"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        declared=jobs.train.declared(),
        code=flow.code("collect"),
    script:
        "../workflow/scripts/collect.py"


rule collect_predictions:
    """The predictions of all runs for each test image in their last epochs, in one file."""
    input:
        unpack(jobs.train.predictions),
    output:
        predictions=paths.all_predictions,
    log:
        paths.log("collect_predictions"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        code=flow.code("collect_predictions"),
    script:
        "../workflow/scripts/collect_predictions.py"
