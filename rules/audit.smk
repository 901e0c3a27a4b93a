rule suspects:
    """The samples of a run whose labels look wrong, the most suspicious first, and a picture of the first hundred."""
    input:
        unpack(audit_inputs),
    output:
        csv=f"{AUDIT}/suspects.csv",
        sheet=f"{AUDIT}/suspects.png",
    log:
        f"{R}/logs/audit/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        labels=study.labels,
        code=code("suspects"),
    script:
        "../workflow/scripts/suspects.py"


rule audit_table:
    """How well the audit finds wrong labels, for every run whose errors are known, over the seeds."""
    input:
        judged_files(),
    output:
        csv=report(
            f"{R}/tables/audit.csv",
            caption="../workflow/report/audit.rst",
            category=category("audit"),
            labels={"shows": "How well wrong labels are found"},
        ),
        md=f"{R}/tables/audit.md",
    log:
        f"{R}/logs/table/audit.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        runs=[(vars(cell), files) for cell, files in JUDGED.items()],
        labels=study.labels,
        code=code("audit_table"),
    script:
        "../workflow/scripts/audit_table.py"
