# What the audit of labels reads, and of which runs.
AUDIT = f"{R}/audit/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}"


def audited(cell):
    """What an audit reads of a run: what its networks said, the data, the noise, and its ground cost if it has one."""
    files = {
        "audit": f"{R}/runs/{cell.path}/audit.npz",
        "data": f"{R}/data/{cell.dataset}.npz",
        "noise": f"{R}/noise/{cell.dataset}/{cell.noise}/seed{cell.seed}.npz",
    }
    if key := study.settings.cost_key(cell):
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
    return unless_given([f"{R}/audit/{cell.path}" for cell in study.plan.runs])


def audit_table_of():
    return unless_given([f"{R}/tables/audit.csv"])


# The runs whose wrong labels may be known, and their files.
JUDGED = {
    cell: audited(cell)
    for cell in study.plan.runs
    if cell.noise not in ("clean", noise.REAL)
}


def judged_files():
    files = JUDGED.values()
    return sorted({path for one in files for path in (*one.values(), *described(one))})


def shown_audit():
    """What the report shows: the table, and the sheet of the first WAR run with wrong labels, or of what comes nearest."""
    cells = [
        study.plan.trained_as(cell) for name in study.plan.tables for cell in study.plan.cells(name)
    ]
    if GIVEN or not cells:
        return []
    order = lambda cell: (
        cell not in JUDGED,
        not cell.method.startswith("war"),
        cell.dataset in TILES,
    )
    sheet = f"{R}/audit/{min(cells, key=order).path}/suspects.png"
    return [f"{R}/tables/audit.csv", sheet]
