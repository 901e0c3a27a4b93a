rule report:
    """The one self-contained page: results beside the paper's, verification, provenance, run times."""
    input:
        unpack(report_inputs),
        tables=expand(rules.table.output.csv, experiment=study.tables),
        figures=expand(rules.figure.output.png, figure=FIGURES),
        pictures=expand(rules.figure.output.svg, figure=FIGURES),
        captions=expand(rules.figure.output.caption, figure=FIGURES),
        runs=rules.collect.output.runs,
        fidelity=own_file("config/fidelity.yaml"),
        claims=rules.claims.output.csv,
        statistics=rules.statistics.output.csv,
        audit=shown_audit(),
        committed=[
            f"{entry['path']}/summary.csv" for entry in committed_evidence().values()
        ],
    output:
        report=report(
            f"{R}/report.html",
            caption="../workflow/report/page.rst",
            category="00 The report",
            labels={"shows": "The whole report"},
        ),
    log:
        f"{R}/logs/report.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        spec=report_spec(),
        code=code("report"),
    script:
        "../workflow/scripts/report.py"


rule plan:
    """Print how many trainings each scale has and how long they take, and run nothing."""
    log:
        f"{R}/logs/plan.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    params:
        root=str(ROOT),
        config=config,
    script:
        "../workflow/scripts/plan.py"
