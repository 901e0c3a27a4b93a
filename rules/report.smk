rule report:
    """One self-contained page: our results and the paper's, verification, provenance, run times."""
    input:
        unpack(jobs.report.inputs),
        tables=expand(rules.table.output.csv, experiment=study.plan.tables),
        figures=expand(rules.figure.output.png, figure=jobs.figures.names),
        pictures=expand(rules.figure.output.svg, figure=jobs.figures.names),
        captions=expand(rules.figure.output.caption, figure=jobs.figures.names),
        runs=rules.collect.output.runs,
        predictions=jobs.tables.kept_predictions(),
        fidelity=flow.own_file("config/fidelity.yaml"),
        claims=rules.claims.output.csv,
        statistics=rules.statistics.output.csv,
        audit=jobs.audit.shown(),
        committed=jobs.report.committed_files(),
    output:
        report=report(
            paths.report,
            caption="../workflow/report/page.rst",
            category="00 The report",
            labels={"shows": "The whole report"},
        ),
    log:
        paths.log("report"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        spec=jobs.report.spec(),
        code=flow.code("report"),
    script:
        "../workflow/scripts/report.py"


rule plan:
    """Print how many trainings each scale has and how long they take, and run nothing."""
    log:
        paths.log("plan"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    params:
        root=str(flow.root),
        config=config,
    script:
        "../workflow/scripts/plan.py"
