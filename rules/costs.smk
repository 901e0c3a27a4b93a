rule features:
    """Features of the training images from a pre-trained network, once for all noises and seeds."""
    input:
        receipt=by_wildcards(flow.receipt, "dataset"),
        weights=by_wildcards(flow.receipt, "dataset", "network"),
    output:
        features=paths.features,
        provenance=paths.features_json,
    log:
        paths.log(f"features/{FEATURES}"),
    conda:
        "../envs/warlab.yaml"
    threads: jobs.train.threads
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=720,
    params:
        spec=jobs.data.spec,
        code=flow.code_of("features", "dataset", "network", "weights"),
    script:
        "../workflow/scripts/features.py"


rule cost:
    """A ground cost between the classes of a dataset, with its provenance."""
    input:
        unpack(jobs.data.cost_inputs),
    output:
        cost=paths.cost,
        provenance=paths.cost_json,
    log:
        paths.log(f"cost/{COST}"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        spec=jobs.data.cost_spec,
        code=flow.code_of("cost", "cost"),
    script:
        "../workflow/scripts/cost.py"


rule verify_cost:
    """Compare our Sinkhorn with POT on this cost and check its properties; no training starts on a bad cost."""
    input:
        cost=rules.cost.output.cost,
        provenance=rules.cost.output.provenance,
    output:
        verified=paths.verified,
    log:
        paths.log(f"verify_cost/{COST}"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        uses=jobs.data.cost_uses,
        code=flow.code("verify_cost"),
    script:
        "../workflow/scripts/verify_cost.py"
