# Which labels look wrong: lists and contact sheets of runs, and how well they do where the truth is known.
AUDIT = f"{R}/audit/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}"


def audited(cell):
    """What an audit reads of a run: what its networks said, the data, the noise, and its ground cost if it has one."""
    files = {
        "audit": f"{R}/runs/{cell.path}/audit.npz",
        "data": f"{R}/data/{cell.dataset}.npz",
        "noise": f"{R}/noise/{cell.dataset}/{cell.noise}/seed{cell.seed}.npz",
    }
    if key := study.cost_key(cell):
        files["cost"] = f"{R}/costs/{cell.dataset}/{key}/cost.csv"
    if other := noise.needs(cell.noise).get("images"):
        files["images"] = f"{R}/data/{other}.npz"
    return files


def described(files):
    """The descriptions beside the data and the noise, which are read with them."""
    return [str(Path(files[name]).with_suffix(".json")) for name in ("data", "noise")]


def audit_inputs(wildcards):
    files = audited(cell_of(wildcards))
    return files | {"descriptions": described(files)}


def audit_folders():
    return unless_given([f"{R}/audit/{cell.path}" for cell in study.runs])


def audit_table_of():
    return unless_given([f"{R}/tables/audit.csv"])


# The runs whose wrong labels may be known.
JUDGED = [cell for cell in study.runs if cell.noise not in ("clean", noise.REAL)]


def judged_files():
    files = [audited(cell) for cell in JUDGED]
    return sorted({path for one in files for path in (*one.values(), *described(one))})


def shown_sheet():
    """The sheet in the report: of the first WAR run with wrong labels, or else of what comes nearest to it."""
    order = lambda cell: (
        cell.noise in ("clean", noise.REAL),
        not cell.method.startswith("war"),
        cell.dataset in TILES,
    )
    return f"{R}/audit/{min(study.runs, key=order).path}/suspects.png"


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
        runs=[(vars(cell), audited(cell)) for cell in JUDGED],
        labels=study.labels,
        code=code("audit_table"),
    script:
        "../workflow/scripts/audit_table.py"
