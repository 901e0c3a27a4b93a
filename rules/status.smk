rule status:
    """Print the state of every run, and run nothing. While snakemake runs, add --nolock or run `warlab status`."""
    log:
        "<logs>/status.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        root=str(flow.root),
        config=config,
    script:
        "../workflow/scripts/status.py"
