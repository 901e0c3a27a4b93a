rule corrupt:
    """Noisy labels with their manifest: one file per dataset, noise and seed, shared by all methods."""
    input:
        unpack(noise_inputs),
    output:
        labels=f"{R}/noise/{{dataset}}/{{noise}}/seed{{seed}}.npz",
        manifest=f"{R}/noise/{{dataset}}/{{noise}}/seed{{seed}}.json",
    log:
        f"{R}/logs/corrupt/{{dataset}}/{{noise}}/seed{{seed}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lambda wildcards: study.settings.noise(wildcards.noise, wildcards.dataset),
        code=lambda wildcards: code("corrupt", noise.module(wildcards.noise)),
    script:
        "../workflow/scripts/corrupt.py"
