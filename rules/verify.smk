use rule train as retrain with:
    output:
        metrics=f"{paths.retrained}/metrics.csv",
        result=f"{paths.retrained}/result.json",
        weights=f"{paths.retrained}/weights.pt",
        predictions=f"{paths.retrained}/test_predictions.npz",
        audit=f"{paths.retrained}/audit.npz",
    log:
        paths.log(f"verify/{RUN}"),
    benchmark:
        paths.retrained_benchmark


rule verify:
    """Train one run of the scale again, a different one every day, and compare it with the reported one."""
    input:
        runs=rules.collect.output.runs,
        metrics=jobs.train.verified_file("metrics.csv"),
    output:
        comparison=jobs.train.verified_file("comparison.json"),
    log:
        paths.log("verify/comparison"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        run=str(jobs.train.verified),
        code=flow.code("verify"),
    script:
        "../workflow/scripts/verify.py"
