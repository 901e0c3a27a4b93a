rule segment:
    """Predict maps of whole test tiles with a finished run, as pictures and as labels."""
    input:
        **NEEDS_OF_RUN,
        data="<results>/data/{dataset}.npz",
        data_json="<results>/data/{dataset}.json",
        noise="<results>/noise/<labels>.npz",
        noise_json="<results>/noise/<labels>.json",
        weights="<results>/runs/<run>/weights.pt",
    output:
        labels="<results>/maps/<run>/labels.npz",
        maps=directory("<results>/maps/<run>/tiles"),
    log:
        "<logs>/segment/<run>.log",
    conda:
        "../envs/warlab.yaml"
    threads: runs.threads
    resources:
        gpu=1,
        mem_mb=8000,
        runtime=120,
    params:
        run=runs.settings,
        code=flow.code_of("segment", "method", "net", "samples"),
    script:
        "../workflow/scripts/segment.py"


rule noisy_maps:
    """Draw the ground truth of the training tiles after the noise."""
    input:
        data="<results>/data/{dataset}.npz",
        data_json="<results>/data/{dataset}.json",
        noise="<results>/noise/<labels>.npz",
    output:
        maps=directory("<results>/maps/{dataset}/{noise}/training_labels/seed{seed}"),
    log:
        "<logs>/noisy_maps/<labels>.log",
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        code=flow.code("noisy_maps"),
    script:
        "../workflow/scripts/noisy_maps.py"
