# What a run reads besides its data and noisy labels, where its noise, method or network needs it.
NEEDS_OF_RUN = dict(
    images=collect("<results>/data/{other}.npz", other=data.open_set_images),
    cost=collect("<results>/costs/{use.cost}/cost.csv", use=runs.cost_use),
    verified=collect(
        "<results>/costs/{use.cost}/verified_lam{use.lam}_iterations{use.iterations}.json", use=runs.cost_use
    ),
    predictions=collect("<results>/runs/{run}/predictions.npz", run=runs.needed_run),
    initial=runs.initial_weights,
)


rule train:
    """Train one run. If it is killed, it continues from its checkpoint and ends in the same bits."""
    input:
        **NEEDS_OF_RUN,
        data="<results>/data/{dataset}.npz",
        data_json="<results>/data/{dataset}.json",
        noise="<results>/noise/<labels>.npz",
        noise_json="<results>/noise/<labels>.json",
    output:
        metrics="<results>/runs/<run>/metrics.csv",
        result="<results>/runs/<run>/result.json",
        weights="<results>/runs/<run>/weights.pt",
        predictions="<results>/runs/<run>/test_predictions.npz",
        audit="<results>/runs/<run>/audit.npz",
    log:
        "<logs>/train/<run>.log",
    benchmark:
        "<benchmarks>/train/<run>.tsv"
    conda:
        "../envs/warlab.yaml"
    threads: runs.threads
    resources:
        gpu=1,
        mem_mb=runs.memory,
        runtime=runs.minutes,
    params:
        run=runs.settings,
        code=runs.modules,
        sources=runs.sources,
    script:
        "../workflow/scripts/train.py"


rule predict:
    """Predict the training images with a finished run, for methods that need another run."""
    input:
        **NEEDS_OF_RUN,
        data="<results>/data/{dataset}.npz",
        data_json="<results>/data/{dataset}.json",
        noise="<results>/noise/<labels>.npz",
        noise_json="<results>/noise/<labels>.json",
        weights="<results>/runs/<run>/weights.pt",
    output:
        predictions="<results>/runs/<run>/predictions.npz",
    log:
        "<logs>/predict/<run>.log",
    conda:
        "../envs/warlab.yaml"
    threads: runs.threads
    resources:
        gpu=1,
        mem_mb=runs.memory,
        runtime=runs.predict_minutes,
    params:
        run=runs.settings,
        code=flow.code_of("predict", "method", "net", "samples"),
    script:
        "../workflow/scripts/predict.py"


rule collect:
    """Collect all runs of the scale, or those of a finished study, in one tidy table: a row per run and epoch."""
    input:
        given=runs.given,
        metrics=collect("<results>/runs/{run}/metrics.csv", run=runs.trained),
        results=collect("<results>/runs/{run}/result.json", run=runs.trained),
    output:
        runs="<results>/runs.csv",
    log:
        "<logs>/collect.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        declared=runs.declared(),
        code=flow.code("collect"),
    script:
        "../workflow/scripts/collect.py"


rule collect_predictions:
    """Collect the predictions of all runs for each test image in their last epochs in one file."""
    input:
        predictions=collect("<results>/runs/{run}/test_predictions.npz", run=runs.trained_on_images),
        truth=collect("<results>/data/{dataset}.npz", dataset=flow.image_datasets),
    output:
        predictions="<results>/test_predictions.npz",
    log:
        "<logs>/collect_predictions.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        code=flow.code("collect_predictions"),
    script:
        "../workflow/scripts/collect_predictions.py"
