rule segment:
    """Predicted maps of whole test tiles by a finished run, as pictures and as labels."""
    input:
        unpack(jobs.train.inputs),
        weights=rules.train.output.weights,
    output:
        labels=paths.map_labels,
        maps=directory(paths.map_tiles),
    log:
        paths.log(f"segment/{RUN}"),
    conda:
        "../envs/warlab.yaml"
    threads: jobs.train.threads
    resources:
        gpu=1,
        mem_mb=8000,
        runtime=120,
    params:
        run=jobs.train.run,
        code=jobs.train.code("segment"),
    script:
        "../workflow/scripts/segment.py"


rule noisy_maps:
    """The ground truth of the training tiles after the noise, as pictures."""
    input:
        data=paths.data,
        data_json=paths.data_json,
        noise=rules.corrupt.output.labels,
    output:
        maps=directory(paths.noisy_maps),
    log:
        paths.log(f"noisy_maps/{LABELS}"),
    localrule: True
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        code=flow.code("noisy_maps"),
    script:
        "../workflow/scripts/noisy_maps.py"
