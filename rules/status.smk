rule status:
    """Print the state of every run, and run nothing. While snakemake runs, add --nolock or call `warlab status`."""
    log:
        paths.log("status"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    params:
        root=str(flow.root),
        config=config,
    script:
        "../workflow/scripts/status.py"
