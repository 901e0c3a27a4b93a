# warlab: download → noise → ground costs verified with POT → training → tables, figures, report.
# `snakemake --cores all` runs the demo. The rules below are the targets; edit config/config.yaml, or one in your folder.
from os.path import exists

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml" if exists("config/config.yaml") else str(workflow.current_basedir.join("config/config.yaml"))


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


# After the rules: in those that follow, Snakemake would not constrain the wildcards of <run> and <labels>.
wildcard_constraints:
    **WILDCARDS,


rule all:
    """Everything that the scale asks for, ending in the report."""
    default_target: True
    input:
        branch(study.plan.runs, rules.report.output),
        rules.hyperparameters.output,
        branch(runs.trained_here, "<results>/tables/architectures.tex"),
        branch(tables.timed, rules.timing_table.output),
        branch(tables.latex, "<results>/tables.pdf"),
        collect("<results>/maps/{run}/labels.npz", run=runs.mapped),
        collect("<results>/maps/{labels}", labels=runs.mapped_labels),


rule data:
    """Fetch, check and prepare all data, human labels and weights of networks, and nothing else."""
    input:
        collect("<raw>/{one.name}/{one.folder}/receipt.json", one=data.sources),
        collect("<results>/data/{dataset}.npz", dataset=data.prepared),


rule runs:
    """Train all runs and collect them in the tidy runs.csv."""
    input:
        rules.collect.output,


rule maps:
    """The maps alone: corrupted ground truth, and the predictions of each run for the test tiles."""
    input:
        collect("<results>/maps/{run}/labels.npz", run=runs.mapped),
        collect("<results>/maps/{labels}", labels=runs.mapped_labels),


rule audit:
    """Labels that look wrong: a list and a contact sheet per run, and their quality where the truth is known."""
    input:
        collect("<results>/audit/{run}/suspects.csv", run=runs.trained),
        branch(runs.trained_here, "<results>/tables/audit.csv"),


rule tables:
    """Every table of the scale as csv, md and tex."""
    input:
        expand(rules.table.output, experiment=study.plan.tables),
        rules.hyperparameters.output,
        branch(runs.trained_here, "<results>/tables/architectures.tex"),
        branch(tables.timed, rules.timing_table.output),
        branch(tables.latex, "<results>/tables.pdf"),


rule figures:
    """Every figure of the scale as pdf and png."""
    input:
        expand(rules.figure.output, figure=figures.names),
