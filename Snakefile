# warlab: download → noise → ground costs verified with POT → training → tables, figures, report.
# `snakemake --cores all` runs the demo; the targets below are the menu; config/config.yaml is what to edit.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/common_results.smk"
include: "rules/common_audit.smk"
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


wildcard_constraints:
    dataset="[a-z0-9_]+",
    source="embedded|stand_in|real",
    noise=r"[a-z0-9_]+(-[0-9.]+)?",
    net="[a-z0-9_]+",
    method=r"[A-Za-z0-9_+=.\-]+",
    seed="[0-9]+",
    cost="[A-Za-z0-9_@.-]+",
    network="[a-z0-9_]+",
    size="[0-9]+",
    experiment="[a-z0-9_]+",
    figure="[a-z0-9_]+",


ruleorder: timing_table > table


# What takes seconds runs where snakemake does: a cluster job costs more than that to start. Downloads need its network.
localrules:
    all,
    data,
    runs,
    maps,
    tables,
    figures,
    plan,
    status,
    fetch,
    corrupt,
    cost,
    verify_cost,
    collect,
    table,
    timing_table,
    hyperparameters,
    architectures,
    audit,
    audit_table,
    suspects,
    typeset,
    statistics,
    propositions,
    toy,
    claims,
    verify,
    figure,
    noisy_maps,
    report,


rule all:
    """Everything that the scale asks for, ending in the report."""
    default_target: True
    input:
        rules.report.output,
        rules.hyperparameters.output,
        architectures_of(),
        timing_table_of(),
        all_maps(),
        typeset_of(),


rule data:
    """Only the data, human labels and weights of networks: fetched, checked and prepared."""
    input:
        data_of_scale,


rule runs:
    """Only the trainings, and the tidy runs.csv."""
    input:
        rules.collect.output,


rule maps:
    """Only the maps: corrupted ground truth, and what each run makes of the test tiles."""
    input:
        all_maps(),


rule audit:
    """Which labels look wrong: a list and a contact sheet per run, and how well they do where the truth is known."""
    input:
        expand("{folder}/suspects.csv", folder=audit_folders()),
        audit_table_of(),


rule tables:
    """Every table of the scale as csv, md and tex."""
    input:
        expand(rules.table.output, experiment=study.plan.tables),
        timing_table_of(),
        architectures_of(),
        rules.hyperparameters.output,
        typeset_of(),


rule figures:
    """Every figure of the scale as pdf and png."""
    input:
        expand(rules.figure.output, figure=FIGURES),
