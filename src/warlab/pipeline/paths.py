"""The patterns of all files of the workflow.

A rule names a pattern, such as `paths.metrics`, as its output; the file of one run is
`paths.metrics.format(**vars(run))`.
"""

from warlab.config.study import Study

# Regular expressions of the wildcards, narrow enough that no file matches two rules; see `warlab.ids`.
WILDCARDS = {
    "dataset": "[a-z0-9_]+",
    "source": "embedded|stand_in|real(-[0-9a-f]{12})?",
    "noise": r"[a-z0-9_]+(-[0-9.]+)?",
    "net": "[a-z0-9_]+",
    "method": r"[A-Za-z0-9_+=.\-]+",
    "seed": "[0-9]+",
    "cost": "[A-Za-z0-9_@.-]+",
    "network": "[a-z0-9_]+",
    "size": "[0-9]+",
    "experiment": "[a-z0-9_]+",
    "figure": "[a-z0-9_]+",
}
RUN = "{dataset}/{noise}/{net}/{method}/seed{seed}"  # as `warlab.ids.RunId` prints itself
LABELS = "{dataset}/{noise}/seed{seed}"
FEATURES = "{dataset}/{network}-{size}"
COST = "{dataset}/{cost}"


class Paths:
    """Patterns of all files, with the wildcards of WILDCARDS.

    raw      folder of the fetched files
    results  folder of the scale
    common   folder of the results that do not depend on the scale
    """

    def __init__(self, raw: str, results: str, common: str = "") -> None:
        self.raw, self.results, self.common = raw, results, common
        for name, pattern in vars(Paths).items():
            if isinstance(pattern, str) and pattern.startswith("<"):
                folder, _, rest = pattern[1:].partition(">")
                setattr(self, name, f"{getattr(self, folder)}{rest}")

    @classmethod
    def of(cls, study: Study) -> "Paths":
        results = study.config.get("results_root", "results")
        return cls(study.config.get("data_root", "data"), f"{results}/{study.name}", f"{results}/common")

    # ---- data, noise and costs
    receipt = "<raw>/{dataset}/{source}/receipt.json"
    data = "<results>/data/{dataset}.npz"
    data_json = "<results>/data/{dataset}.json"
    noise = f"<results>/noise/{LABELS}.npz"
    noise_json = f"<results>/noise/{LABELS}.json"
    features = f"<results>/features/{FEATURES}.npz"
    features_json = f"<results>/features/{FEATURES}.json"
    cost = f"<results>/costs/{COST}/cost.csv"
    cost_json = f"<results>/costs/{COST}/cost.json"
    verified = f"<results>/costs/{COST}/verified.json"

    # ---- runs
    run = f"<results>/runs/{RUN}"
    metrics = f"<results>/runs/{RUN}/metrics.csv"
    result = f"<results>/runs/{RUN}/result.json"
    weights = f"<results>/runs/{RUN}/weights.pt"
    test_predictions = f"<results>/runs/{RUN}/test_predictions.npz"
    audit = f"<results>/runs/{RUN}/audit.npz"
    predictions = f"<results>/runs/{RUN}/predictions.npz"
    retrained = f"<results>/verify/{RUN}"
    map_labels = f"<results>/maps/{RUN}/labels.npz"
    map_tiles = f"<results>/maps/{RUN}/tiles"
    noisy_maps = "<results>/maps/{dataset}/{noise}/training_labels/seed{seed}"
    suspects = f"<results>/audit/{RUN}/suspects.csv"
    suspects_sheet = f"<results>/audit/{RUN}/suspects.png"
    activations = f"<results>/figures/material/activations/{RUN}.npz"
    timing = "<results>/timing/{dataset}/{net}.json"

    # ---- files that are made from all runs; a table or figure has several, with different endings
    runs = "<results>/runs.csv"
    all_predictions = "<results>/test_predictions.npz"
    readings = "<results>/readings.csv"
    statistics = "<results>/statistics.csv"
    statistics_text = "<results>/statistics.md"
    claims = "<results>/claims.csv"
    claims_text = "<results>/claims.md"
    table = "<results>/tables/{experiment}"
    audit_table = "<results>/tables/audit"
    timing_table = "<results>/tables/timing"
    architectures = "<results>/tables/architectures"
    hyperparameters = "<results>/tables/hyperparameters"
    all_tables = "<results>/tables.pdf"
    figure = "<results>/figures/{figure}"
    report = "<results>/report.html"
    toy = "<common>/toy.npz"
    propositions = "<common>/propositions.json"

    # ---- logs and benchmarks
    train_log = f"<results>/logs/train/{RUN}.log"
    benchmark = f"<results>/benchmarks/train/{RUN}.tsv"
    retrained_benchmark = f"<results>/benchmarks/verify/{RUN}.tsv"
    fetch_log = "<raw>/{dataset}/{source}/logs/fetch.log"

    def log(self, name: str) -> str:
        """The log of a rule, whose name includes its wildcards: `log(f"segment/{RUN}")`."""
        return f"{self.results}/logs/{name}.log"

    def common_log(self, name: str) -> str:
        return f"{self.common}/logs/{name}.log"
