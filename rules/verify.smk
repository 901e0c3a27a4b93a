use rule train as retrain with:
    output:
        metrics="<results>/verify/<run>/metrics.csv",
        result="<results>/verify/<run>/result.json",
        weights="<results>/verify/<run>/weights.pt",
        predictions="<results>/verify/<run>/test_predictions.npz",
        audit="<results>/verify/<run>/audit.npz",
    log:
        "<logs>/verify/<run>.log",
    benchmark:
        "<benchmarks>/verify/<run>.tsv"


rule compare_retrained:
    """Compare a run that was trained again with the reported one."""
    input:
        runs="<results>/runs.csv",
        metrics="<results>/verify/<run>/metrics.csv",
    output:
        comparison="<results>/verify/<run>/comparison.json",
    log:
        "<logs>/verify/<run>/comparison.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        run="{dataset}/{noise}/{net}/{method}/seed{seed}",
        code=flow.code("verify"),
    script:
        "../workflow/scripts/verify.py"


rule verify:
    """Train one run of the scale again, a different one each day, and compare it with the reported one."""
    input:
        collect("<results>/verify/{run}/comparison.json", run=runs.retrained),
