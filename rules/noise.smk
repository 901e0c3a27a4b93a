rule corrupt:
    """Noisy labels with their manifest: one file per dataset, noise and seed, shared by all methods."""
    input:
        unpack(jobs.data.noise_inputs),
    output:
        labels=paths.noise,
        manifest=paths.noise_json,
    log:
        paths.log(f"corrupt/{LABELS}"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=by_wildcards(study.settings.noise, "noise", "dataset"),
        code=flow.code_of("corrupt", "noise"),
    script:
        "../workflow/scripts/corrupt.py"
