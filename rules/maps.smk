rule segment:
    """Maps of whole test tiles by a finished run, as pictures and as labels."""
    input:
        unpack(train_inputs),
        weights=rules.train.output.weights,
    output:
        labels=f"{MAP}/labels.npz",
        maps=directory(f"{MAP}/tiles"),
    log:
        f"{R}/logs/segment/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: study.scale.get("threads", 1)
    resources:
        gpu=1,
        mem_mb=8000,
        runtime=120,
    params:
        run=lambda wildcards: study.settings.run(cell_of(wildcards)).to_dict(),
        code=lambda wildcards: run_code("segment", wildcards),
    script:
        "../workflow/scripts/segment.py"


rule noisy_maps:
    """The ground truth of the training tiles after the noise, as pictures."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
        data_json=f"{R}/data/{{dataset}}.json",
        noise=rules.corrupt.output.labels,
    output:
        maps=directory(f"{R}/maps/{{dataset}}/{{noise}}/training_labels/seed{{seed}}"),
    log:
        f"{R}/logs/noisy_maps/{{dataset}}/{{noise}}/seed{{seed}}.log",
    conda:
        "../envs/warlab.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        code=code("noisy_maps"),
    script:
        "../workflow/scripts/noisy_maps.py"
