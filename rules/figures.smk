rule figure:
    """Draw one figure as pdf, svg and png, with its caption, from what its NEEDS name."""
    input:
        runs=branch(figures.needs("runs"), "<results>/runs.csv"),
        noise=branch(figures.needs("noise"), collect("<results>/noise/{labels}.npz", labels=runs.noisy_labels)),
        noise_json=branch(figures.needs("noise"), collect("<results>/noise/{labels}.json", labels=runs.noisy_labels)),
        costs=branch(figures.needs("costs"), collect("<results>/costs/{cost}/cost.csv", cost=runs.ground_costs)),
        cost_json=branch(figures.needs("costs"), collect("<results>/costs/{cost}/cost.json", cost=runs.ground_costs)),
        data=branch(figures.needs("data"), collect("<results>/data/{dataset}.npz", dataset=flow.image_datasets)),
        receipts=branch(figures.needs("data"), collect("<raw>/{raw}/receipt.json", raw=figures.raw)),
        tiles=branch(figures.needs("tiles"), collect("<results>/data/{dataset}.npz", dataset=flow.tile_datasets)),
        published=branch(figures.needs("published"), "<config>/published.csv"),
        toy=branch(figures.needs("toy"), "<common>/toy.npz"),
        audit=branch(figures.needs("audit"), "<results>/tables/audit.csv"),
        activations=branch(
            figures.needs("activations"),
            collect("<results>/figures/material/activations/{run}.npz", run=figures.pictured),
        ),
        maps=branch(figures.needs("maps"), collect("<results>/maps/{run}/labels.npz", run=runs.mapped)),
        # The caption says where the data come from.
        meta=collect("<results>/data/{dataset}.json", dataset=runs.datasets),
    output:
        pdf="<results>/figures/{figure}.pdf",
        png=report(
            "<results>/figures/{figure}.png",
            caption="../workflow/report/figure.rst",
            category=figures.category,
            labels=figures.title,
        ),
        svg="<results>/figures/{figure}.svg",
        caption="<results>/figures/{figure}.txt",
    log:
        "<logs>/figure/{figure}.log",
    priority: 75  # the first pictures need no training
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        labels=study.labels,
        code=flow.code_of("figure", "figure"),
        specs=figures.specs,
        text=figures.caption_file,
    script:
        "../workflow/scripts/figure.py"


rule toy:
    """Train small networks in the plane with each regulariser, for two figures."""
    output:
        toy="<common>/toy.npz",
    log:
        "<common>/logs/toy.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        code=flow.code("toy"),
    script:
        "../workflow/scripts/toy.py"


rule activations:
    """Compute the activations of a trained network on the test images."""
    input:
        **NEEDS_OF_RUN,
        data="<results>/data/{dataset}.npz",
        data_json="<results>/data/{dataset}.json",
        noise="<results>/noise/<labels>.npz",
        noise_json="<results>/noise/<labels>.json",
        weights="<results>/runs/<run>/weights.pt",
    output:
        activations="<results>/figures/material/activations/<run>.npz",
    log:
        "<logs>/figure/material/activations/<run>.log",
    conda:
        "../envs/warlab.yaml"
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=30,
    params:
        run=runs.settings,
        code=flow.code_of("activations", "method", "net", "samples"),
    script:
        "../workflow/scripts/activations.py"
