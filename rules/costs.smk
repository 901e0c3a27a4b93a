rule features:
    """What a pre-trained network sees in the training images: made once, for all noises and seeds."""
    input:
        receipt=receipt_of,
        weights=weights_of,
    output:
        features=f"{R}/features/{{dataset}}/{{network}}-{{size}}.npz",
        provenance=f"{R}/features/{{dataset}}/{{network}}-{{size}}.json",
    log:
        f"{R}/logs/features/{{dataset}}/{{network}}-{{size}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: study.scale.get("threads", 1)
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=720,
    params:
        spec=data_spec,
        code=lambda wildcards: code(
            "features",
            data.module(wildcards.dataset),
            data.module(wildcards.network),
            f"warlab.nets.{wildcards.network}",
        ),
    script:
        "../workflow/scripts/features.py"


rule cost:
    """A ground cost between the classes of a dataset, with where it came from."""
    input:
        unpack(cost_inputs),
    output:
        cost=f"{R}/costs/{{dataset}}/{{cost}}/cost.csv",
        provenance=f"{R}/costs/{{dataset}}/{{cost}}/cost.json",
    log:
        f"{R}/logs/cost/{{dataset}}/{{cost}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        spec=cost_spec,
        code=lambda wildcards: code("cost", costs.module(cost_spec(wildcards)["kind"])),
    script:
        "../workflow/scripts/cost.py"


rule verify_cost:
    """Our Sinkhorn beside POT on this cost, and the cost's own properties; a bad cost stops here."""
    input:
        cost=rules.cost.output.cost,
        provenance=rules.cost.output.provenance,
    output:
        verified=f"{R}/costs/{{dataset}}/{{cost}}/verified.json",
    log:
        f"{R}/logs/verify_cost/{{dataset}}/{{cost}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        uses=cost_uses,
        code=lambda wildcards: code("verify_cost"),
    script:
        "../workflow/scripts/verify_cost.py"
