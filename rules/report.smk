rule report:
    """Write one self-contained page: our results and the paper's, verification, provenance, run times."""
    input:
        tables=expand("<results>/tables/{experiment}.csv", experiment=study.plan.tables),
        figures=expand("<results>/figures/{figure}.png", figure=figures.names),
        pictures=expand("<results>/figures/{figure}.svg", figure=figures.names),
        captions=expand("<results>/figures/{figure}.txt", figure=figures.names),
        runs="<results>/runs.csv",
        predictions=branch(runs.given, runs.given_predictions, ["<results>/test_predictions.npz"]),
        results=collect("<results>/runs/{run}/result.json", run=runs.trained),
        data=collect("<results>/data/{dataset}.json", dataset=runs.datasets),
        noise=collect("<results>/noise/{labels}.npz", labels=runs.noisy_labels),
        noise_json=collect("<results>/noise/{labels}.json", labels=runs.noisy_labels),
        costs=collect(
            "<results>/costs/{use.cost}/verified_lam{use.lam}_iterations{use.iterations}.json", use=runs.cost_uses
        ),
        cost_json=collect("<results>/costs/{cost}/cost.json", cost=runs.ground_costs),
        fidelity="<config>/fidelity.yaml",
        claims="<results>/claims.csv",
        statistics="<results>/statistics.csv",
        audit=branch(
            audits.shown,
            collect(["<results>/tables/audit.csv", "<results>/audit/{run}/suspects.png"], run=audits.shown),
        ),
        committed=page.committed_files(),
    output:
        report=report(
            "<results>/report.html",
            caption="../workflow/report/page.rst",
            category="00 The report",
            labels={"shows": "The whole report"},
        ),
    log:
        "<logs>/report.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        spec=page.spec(),
        code=flow.code("report"),
    script:
        "../workflow/scripts/report.py"


rule plan:
    """Print how many trainings each scale has and how long they take, and run nothing."""
    log:
        "<logs>/plan.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        root=str(flow.root),
        config=config,
    script:
        "../workflow/scripts/plan.py"
