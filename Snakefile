# warlab: download → noise → ground costs verified with POT → training → tables, figures, report.
# `snakemake --cores all` runs the demo. The rules below are the targets; edit config/config.yaml.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/data.smk"
include: "rules/noise.smk"
include: "rules/costs.smk"
include: "rules/train.smk"
include: "rules/maps.smk"
include: "rules/audit.smk"
include: "rules/tables.smk"
include: "rules/timing.smk"
include: "rules/figures.smk"
include: "rules/claims.smk"
include: "rules/report.smk"
include: "rules/status.smk"
include: "rules/verify.smk"


ruleorder: timing_table > table


rule all:
    """Everything that the scale asks for, ending in the report."""
    default_target: True
    input:
        rules.report.output,
        rules.hyperparameters.output,
        jobs.tables.architectures("tex"),
        jobs.tables.timing("csv", "md", "tex"),
        jobs.train.all_maps(),
        jobs.tables.typeset,


rule data:
    """Fetch, check and prepare all data, human labels and weights of networks, and nothing else."""
    input:
        jobs.data.everything,


rule runs:
    """Train all runs and collect them in the tidy runs.csv."""
    input:
        rules.collect.output,


rule maps:
    """The maps alone: corrupted ground truth, and the predictions of each run for the test tiles."""
    input:
        jobs.train.all_maps(),


rule audit:
    """Labels that look wrong: a list and a contact sheet per run, and their quality where the truth is known."""
    input:
        jobs.audit.lists,
        jobs.audit.table(),


rule tables:
    """Every table of the scale as csv, md and tex."""
    input:
        expand(rules.table.output, experiment=study.plan.tables),
        jobs.tables.timing("csv", "md", "tex"),
        jobs.tables.architectures("tex"),
        rules.hyperparameters.output,
        jobs.tables.typeset,


rule figures:
    """Every figure of the scale as pdf and png."""
    input:
        expand(rules.figure.output, figure=jobs.figures.names),
