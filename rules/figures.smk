rule figure:
    """One figure as pdf and png, with its caption."""
    input:
        unpack(figure_inputs),
    output:
        pdf=f"{R}/figures/{{figure}}.pdf",
        png=f"{R}/figures/{{figure}}.png",
        caption=f"{R}/figures/{{figure}}.txt",
    log:
        f"{R}/logs/figure/{{figure}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        labels=study.labels,
        code=figure_code,
    script:
        "../workflow/scripts/figure.py"
