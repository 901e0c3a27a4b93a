"""What the ids of a study are called in print."""

from warlab import data, methods, noise
from warlab.config.plan import Plan

_OTHER_LABELS = {"cce_quoted": "CCE (quoted)", "war_code": "WAR (as the authors' code computes it)"}
_METRICS = {
    "test_accuracy": "test accuracy",
    "best_on_validation": "epoch of the best validation",
    "purity": "true labels among those selected",
}


def names_in_print(plan: Plan) -> dict[str, dict[str, str]]:
    """kind → id → text; also of what only the paper's tables have."""
    variants = {name: entry["label"] for name, entry in plan.settings.numbers.variants.items()}
    printed = [name for entry in plan.experiments.values() for name in entry["datasets"]]
    noises = [name for entry in plan.experiments.values() for name in entry["noises"]]
    return {
        "dataset": {name: data.get(name).title for name in dict.fromkeys([*plan.scale["datasets"], *printed])},
        "noise": {name: noise.label(name) for name in dict.fromkeys([*(c.noise for c in plan.runs), *noises])},
        "method": {name: methods.declaration(name).label for name in methods.names()} | variants | _OTHER_LABELS,
        "metric": _METRICS,
        "experiment": {name: entry["title"] for name, entry in plan.experiments.items()},
    }
