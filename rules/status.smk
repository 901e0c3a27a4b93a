rule status:
    """Print how far every run is, and run nothing; beside a running snakemake add --nolock, or call `warlab status`."""
    log:
        f"{R}/logs/status.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    params:
        root=str(ROOT),
        config=config,
    script:
        "../workflow/scripts/status.py"
