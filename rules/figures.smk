rule figure:
    """One figure as pdf, svg and png, with its caption."""
    input:
        unpack(figure_inputs),
    output:
        pdf=f"{R}/figures/{{figure}}.pdf",
        png=report(
            f"{R}/figures/{{figure}}.png",
            caption="../workflow/report/figure.rst",
            category=lambda wildcards: category(figure_section(wildcards.figure)),
            labels=lambda wildcards: {"shows": figure_title(wildcards.figure)},
        ),
        svg=f"{R}/figures/{{figure}}.svg",
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
        aliases=all_aliases(),
        code=figure_code,
        text=lambda wildcards, output: Path(output.caption),
    script:
        "../workflow/scripts/figure.py"


rule toy:
    """Small networks trained in the plane with each regulariser, for the figures of them."""
    output:
        toy=f"{COMMON}/toy.npz",
    log:
        f"{COMMON}/logs/toy.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=code("toy"),
    script:
        "../workflow/scripts/toy.py"


rule activations:
    """What the network of a finished run sees in the test images."""
    input:
        unpack(train_inputs),
        weights=rules.train.output.weights,
    output:
        activations=f"{R}/figures/material/activations/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}.npz",
    log:
        f"{R}/logs/figure/material/activations/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=30,
    params:
        run=lambda wildcards: study.settings.run(cell_of(wildcards)).to_dict(),
        code=lambda wildcards: run_code("activations", wildcards),
    script:
        "../workflow/scripts/activations.py"
