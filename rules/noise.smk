rule corrupt:
    """Noisy labels with their manifest: one file per dataset, noise and seed, shared by all methods."""
    input:
        data="<results>/data/{dataset}.npz",
        data_json="<results>/data/{dataset}.json",
        # Open-set noise inserts images of another dataset; human noise takes labels by people; others are the user's.
        images=collect("<results>/data/{other}.npz", other=data.open_set_images),
        images_json=collect("<results>/data/{other}.json", other=data.open_set_images),
        human=collect("<raw>/{labels}/{source}/receipt.json", labels=data.human_labels, source=data.source_of_extras),
        given=data.label_file,
    output:
        labels="<results>/noise/<labels>.npz",
        manifest="<results>/noise/<labels>.json",
    log:
        "<logs>/corrupt/<labels>.log",
    priority: 90
    localrule: True
    conda:
        "../envs/warlab.yaml"
    params:
        settings=data.noise_settings,
        code=flow.code_of("corrupt", "noise"),
    script:
        "../workflow/scripts/corrupt.py"
