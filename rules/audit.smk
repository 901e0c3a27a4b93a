rule suspects:
    """List the samples of a run whose labels look wrong, the most suspicious first, and draw the first of them."""
    input:
        audit="<results>/runs/<run>/audit.npz",
        data="<results>/data/{dataset}.npz",
        noise="<results>/noise/<labels>.npz",
        cost=collect("<results>/costs/{use.cost}/cost.csv", use=runs.cost_use),
        images=collect("<results>/data/{other}.npz", other=data.open_set_images),
        descriptions=["<results>/data/{dataset}.json", "<results>/noise/<labels>.json"],
        receipt=collect("<raw>/{dataset}/{source}/receipt.json", source=data.source, allow_missing=True),
    output:
        csv="<results>/audit/<run>/suspects.csv",
        sheet="<results>/audit/<run>/suspects.png",
    log:
        "<logs>/audit/<run>.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        labels=study.labels,
        spec=data.settings,
        code=flow.code("suspects"),
    script:
        "../workflow/scripts/suspects.py"


rule audit_table:
    """Measure how well the audit finds wrong labels, for every run whose errors are known, over the seeds."""
    input:
        audit=collect("<results>/runs/{run}/audit.npz", run=audits.judged),
        data=collect("<results>/data/{run.dataset}.npz", run=audits.judged),
        noise=collect("<results>/noise/{run.dataset}/{run.noise}/seed{run.seed}.npz", run=audits.judged),
        cost=collect("<results>/costs/{cost}/cost.csv", cost=audits.ground_costs),
        images=collect("<results>/data/{other}.npz", other=audits.open_set_images),
        data_json=collect("<results>/data/{run.dataset}.json", run=audits.judged),
        noise_json=collect("<results>/noise/{run.dataset}/{run.noise}/seed{run.seed}.json", run=audits.judged),
    output:
        csv=report(
            "<results>/tables/audit.csv",
            caption="../workflow/report/audit.rst",
            category=category("audit"),
            labels={"shows": "How well wrong labels are found"},
        ),
        md="<results>/tables/audit.md",
    log:
        "<logs>/table/audit.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        runs=audits.files_by_run,
        labels=study.labels,
        code=flow.code("audit_table"),
    script:
        "../workflow/scripts/audit_table.py"
