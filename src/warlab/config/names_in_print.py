"""What the ids of a study are called in print."""

from typing import TYPE_CHECKING

from warlab import data, methods, noise

if TYPE_CHECKING:
    from warlab.config.study import Study

_OTHER_LABELS = {"cce_quoted": "CCE (quoted)", "war_code": "WAR (as the authors' code computes it)"}
_METRICS = {
    "test_accuracy": "test accuracy",
    "best_on_validation": "epoch of the best validation",
    "purity": "true labels among those selected",
}


def names_in_print(study: "Study") -> dict[str, dict[str, str]]:
    """kind → id → text; also of what only the paper's tables have."""
    variants = {name: entry["label"] for name, entry in study.numbers["variants"].items()}
    printed = [name for entry in study.experiments.values() for name in entry["datasets"]]
    noises = [name for entry in study.experiments.values() for name in entry["noises"]]
    return {
        "dataset": {name: data.get(name).title for name in dict.fromkeys([*study.scale["datasets"], *printed])},
        "noise": {name: noise.label(name) for name in dict.fromkeys([*(c.noise for c in study.runs), *noises])},
        "method": {name: methods.declaration(name).label for name in methods.names()} | variants | _OTHER_LABELS,
        "metric": _METRICS,
        "experiment": {name: entry["title"] for name, entry in study.experiments.items()},
    }
