"""Every file of the workflow, each pattern once.

A rule names a pattern, such as `paths.metrics`, as its output; the file of one run is
`paths.metrics.format(**vars(run))`.
"""

from typing import Any

from warlab.config.study import Study

# What a wildcard may be: the ids of `warlab.ids`, so that no file matches two rules.
WILDCARDS = {
    "dataset": "[a-z0-9_]+",
    "source": "embedded|stand_in|real",
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


class _In:
    """A pattern below one of the three folders of `Paths`: raw, results or common."""

    def __init__(self, folder: str, pattern: str) -> None:
        self.folder, self.pattern = folder, pattern

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, paths: Any, owner: type) -> str:
        """Put together once: from then on the attribute of `paths` itself answers."""
        found = f"{getattr(paths, self.folder)}/{self.pattern}"
        vars(paths)[self.name] = found
        return found


class Paths:
    """Patterns of all files, with the wildcards of WILDCARDS.

    raw      the folder of what was fetched
    results  the folder of the scale
    common   the folder of what no scale changes
    """

    def __init__(self, raw: str, results: str, common: str = "") -> None:
        self.raw, self.results, self.common = raw, results, common

    @classmethod
    def of(cls, study: Study) -> "Paths":
        results = study.config.get("results_root", "results")
        return cls(study.config.get("data_root", "data"), f"{results}/{study.name}", f"{results}/common")

    # ---- data, noise and costs
    receipt = _In("raw", "{dataset}/{source}/receipt.json")
    data = _In("results", "data/{dataset}.npz")
    data_json = _In("results", "data/{dataset}.json")
    noise = _In("results", f"noise/{LABELS}.npz")
    noise_json = _In("results", f"noise/{LABELS}.json")
    features = _In("results", f"features/{FEATURES}.npz")
    features_json = _In("results", f"features/{FEATURES}.json")
    cost = _In("results", f"costs/{COST}/cost.csv")
    cost_json = _In("results", f"costs/{COST}/cost.json")
    verified = _In("results", f"costs/{COST}/verified.json")

    # ---- runs
    run = _In("results", f"runs/{RUN}")
    metrics = _In("run", "metrics.csv")
    result = _In("run", "result.json")
    weights = _In("run", "weights.pt")
    test_predictions = _In("run", "test_predictions.npz")
    audit = _In("run", "audit.npz")
    predictions = _In("run", "predictions.npz")
    retrained = _In("results", f"verify/{RUN}")
    map_labels = _In("results", f"maps/{RUN}/labels.npz")
    map_tiles = _In("results", f"maps/{RUN}/tiles")
    noisy_maps = _In("results", "maps/{dataset}/{noise}/training_labels/seed{seed}")
    suspects = _In("results", f"audit/{RUN}/suspects.csv")
    suspects_sheet = _In("results", f"audit/{RUN}/suspects.png")
    activations = _In("results", f"figures/material/activations/{RUN}.npz")
    timing = _In("results", "timing/{dataset}/{net}.json")

    # ---- what is made of all runs; a table or figure has several files that differ in their ending
    runs = _In("results", "runs.csv")
    all_predictions = _In("results", "test_predictions.npz")
    readings = _In("results", "readings.csv")
    statistics = _In("results", "statistics.csv")
    statistics_text = _In("results", "statistics.md")
    claims = _In("results", "claims.csv")
    claims_text = _In("results", "claims.md")
    table = _In("results", "tables/{experiment}")
    audit_table = _In("results", "tables/audit")
    timing_table = _In("results", "tables/timing")
    architectures = _In("results", "tables/architectures")
    hyperparameters = _In("results", "tables/hyperparameters")
    all_tables = _In("results", "tables.pdf")
    figure = _In("results", "figures/{figure}")
    report = _In("results", "report.html")
    toy = _In("common", "toy.npz")
    propositions = _In("common", "propositions.json")

    # ---- what jobs say of themselves
    train_log = _In("results", f"logs/train/{RUN}.log")
    benchmark = _In("results", f"benchmarks/train/{RUN}.tsv")
    retrained_benchmark = _In("results", f"benchmarks/verify/{RUN}.tsv")
    fetch_log = _In("raw", "{dataset}/{source}/logs/fetch.log")

    def log(self, name: str) -> str:
        """Of a rule, with its wildcards: `log(f"segment/{RUN}")`."""
        return f"{self.results}/logs/{name}.log"

    def common_log(self, name: str) -> str:
        return f"{self.common}/logs/{name}.log"
