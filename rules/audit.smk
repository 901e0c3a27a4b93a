rule suspects:
    """The samples of a run whose labels look wrong, the most suspicious first, and a picture of the first hundred."""
    input:
        unpack(jobs.audit.inputs),
    output:
        csv=paths.suspects,
        sheet=paths.suspects_sheet,
    log:
        paths.log(f"audit/{RUN}"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        labels=study.labels,
        code=flow.code("suspects"),
    script:
        "../workflow/scripts/suspects.py"


rule audit_table:
    """How well the audit finds wrong labels, for every run whose errors are known, over the seeds."""
    input:
        jobs.audit.judged_files,
    output:
        csv=report(
            f"{paths.audit_table}.csv",
            caption="../workflow/report/audit.rst",
            category=category("audit"),
            labels={"shows": "How well wrong labels are found"},
        ),
        md=f"{paths.audit_table}.md",
    log:
        paths.log("table/audit"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        runs=jobs.audit.judged_runs(),
        labels=study.labels,
        code=flow.code("audit_table"),
    script:
        "../workflow/scripts/audit_table.py"
