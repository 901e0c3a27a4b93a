"""List the samples of a run whose labels look wrong, and draw the first of them."""

from pathlib import Path

from warlab.audit.audited_run import AuditedRun
from warlab.common.files import write_text
from warlab.pipeline.script import files_by_role, job
from warlab.reporting.images.contact_sheet import MOST, Suspect, write_sheet
from warlab.reporting.names import display_name

with job(snakemake.log[0]):
    run = AuditedRun.read(files_by_role(snakemake.input))
    rows, classes, wrong = run.suspects(), run.data.about.class_names, run.wrong
    numbers = [int(row["index"]) for row in rows[:MOST]]
    suspects = [
        Suspect(picture, run.name(number), classes[row["label"]], classes[row["suggested"]], bool(known))
        for number, row, picture, known in zip(
            numbers,
            rows,
            run.pictures(numbers, Path(snakemake.input.receipt[0]).parent, snakemake.params.spec),
            [False] * len(numbers) if wrong is None else wrong[numbers],
            strict=False,
        )
    ]
    wildcards, labels = snakemake.wildcards, snakemake.params.labels
    where = ", ".join(display_name(labels, kind, wildcards[kind]) for kind in ("dataset", "noise", "method"))
    title = f"Labels that look wrong, the most suspicious first: {where}, seed {wildcards.seed}"
    warning = f"Stand-in data: {run.data.about.source}" if run.data.about.data == "stand-in" else ""
    write_text(Path(snakemake.output.csv), run.csv(rows))
    write_sheet(Path(snakemake.output.sheet), suspects, title, warning)
