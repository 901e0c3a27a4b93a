rule figure:
    """One figure as pdf, svg and png, with its caption."""
    input:
        unpack(jobs.figures.inputs),
    output:
        pdf=f"{paths.figure}.pdf",
        png=report(
            f"{paths.figure}.png",
            caption="../workflow/report/figure.rst",
            category=jobs.figures.category,
            labels=jobs.figures.title,
        ),
        svg=f"{paths.figure}.svg",
        caption=f"{paths.figure}.txt",
    log:
        paths.log("figure/{figure}"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        labels=study.labels,
        aliases=flow.all_aliases(),
        code=flow.code_of("figure", "figure"),
        text=jobs.figures.caption_file,
    script:
        "../workflow/scripts/figure.py"


rule toy:
    """Small networks trained in the plane with each regulariser, for two figures."""
    output:
        toy=paths.toy,
    log:
        paths.common_log("toy"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=flow.code("toy"),
    script:
        "../workflow/scripts/toy.py"


rule activations:
    """Activations of a trained network on the test images."""
    input:
        unpack(jobs.train.inputs),
        weights=rules.train.output.weights,
    output:
        activations=paths.activations,
    log:
        paths.log(f"figure/material/activations/{RUN}"),
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=30,
    params:
        run=jobs.train.run,
        code=jobs.train.code("activations"),
    script:
        "../workflow/scripts/activations.py"
