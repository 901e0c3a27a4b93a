rule features:
    """Features of the training images from a pre-trained network, once for all noises and seeds."""
    input:
        receipt=collect("<raw>/{dataset}/{source}/receipt.json", source=data.source, allow_missing=True),
        weights=collect("<raw>/{network}/{source}/receipt.json", source=data.source_of_extras, allow_missing=True),
    output:
        features="<results>/features/{dataset}/{network}-{size}.npz",
        provenance="<results>/features/{dataset}/{network}-{size}.json",
    log:
        "<logs>/features/{dataset}/{network}-{size}.log",
    conda:
        "../envs/warlab.yaml"
    threads: runs.threads
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=720,
    params:
        spec=data.settings,
        code=flow.code_of("features", "dataset", "network", "weights"),
    script:
        "../workflow/scripts/features.py"


rule cost:
    """A ground cost between the classes of a dataset, with its provenance."""
    input:
        user_files=data.user_files_of_cost,
        data="<results>/data/{dataset}.npz",
        data_json="<results>/data/{dataset}.json",
        # An embed cost reads noisy labels, and images or their features from a network.
        noise=collect("<results>/noise/{labels}.npz", labels=data.labels_of_cost),
        noise_json=collect("<results>/noise/{labels}.json", labels=data.labels_of_cost),
        images=collect("<results>/data/{other}.npz", other=data.images_of_cost),
        features=collect("<results>/features/{features}.npz", features=data.features_of_cost),
        features_json=collect("<results>/features/{features}.json", features=data.features_of_cost),
        other_features=collect("<results>/features/{features}.npz", features=data.other_features_of_cost),
    output:
        cost="<results>/costs/{dataset}/{cost}/cost.csv",
        provenance="<results>/costs/{dataset}/{cost}/cost.json",
    log:
        "<logs>/cost/{dataset}/{cost}.log",
    # A wrong cost should be reported before anything trains for days.
    priority: 50
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        spec=data.cost_settings,
        code=flow.code_of("cost", "cost"),
    script:
        "../workflow/scripts/cost.py"


rule verify_cost:
    """Compare our Sinkhorn with POT on this cost and check its properties; no training starts on a bad cost.

    Each λ and number of iterations has a job of its own, so that another one does not train again. None of the code
    that counts here is absent from the trainings that follow: `ot/verify.py` decides no number.
    """
    input:
        cost="<results>/costs/{dataset}/{cost}/cost.csv",
        provenance="<results>/costs/{dataset}/{cost}/cost.json",
    output:
        verified="<results>/costs/{dataset}/{cost}/verified_lam{lam}_iterations{iterations}.json",
    log:
        "<logs>/verify_cost/{dataset}/{cost}_lam{lam}_iterations{iterations}.log",
    priority: 50
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        code=flow.code("verify_cost"),
    script:
        "../workflow/scripts/verify_cost.py"
