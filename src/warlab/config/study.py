"""The study: configuration, scale, experiments and numbers become a plan of runs, each with its settings.

Nothing here imports torch: the Snakefile is read again in every job.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from warlab import data, methods, noise
from warlab.config.entries import Experiment, Scale, UserConfig
from warlab.config.numbers import Numbers, read_numbers
from warlab.config.plan import Plan
from warlab.config.reading import as_yaml, check, check_known, read_yaml
from warlab.config.settings import Settings
from warlab.config.validate import validate

# What the paper's tables have and no study trains.
_OTHER_LABELS = {"cce_quoted": "CCE (quoted)", "war_code": "WAR (as the authors' code computes it)"}
_METRICS = {
    "test_accuracy": "test accuracy",
    "best_on_validation": "epoch of the best validation",
    "purity": "true labels among those selected",
}


@dataclass(frozen=True)
class Study:
    """What one scale asks for: `plan` says which runs there are, `settings` what each of them is set to."""

    name: str
    config: UserConfig
    scale: Scale
    experiments: dict[str, Experiment]
    numbers: Numbers

    @cached_property
    def settings(self) -> Settings:
        return Settings(self.numbers, self.scale, self.config)

    @cached_property
    def plan(self) -> Plan:
        return Plan(self.name, self.scale, self.experiments, self.settings)

    @cached_property
    def labels(self) -> dict[str, dict[str, str]]:
        """What ids are called in print, also of what only the paper's tables have: kind → id → text."""
        printed = [name for entry in self.experiments.values() for name in entry["datasets"]]
        noises = [name for entry in self.experiments.values() for name in entry["noises"]]
        variants = {name: entry["label"] for name, entry in self.numbers.variants.items()}
        return {
            "dataset": {name: data.get(name).title for name in dict.fromkeys([*self.scale["datasets"], *printed])},
            "noise": {name: noise.label(name) for name in dict.fromkeys([*(c.noise for c in self.plan.runs), *noises])},
            "method": {name: methods.declaration(name).label for name in methods.names()} | variants | _OTHER_LABELS,
            "metric": _METRICS,
            "experiment": {name: entry["title"] for name, entry in self.experiments.items()},
        }


def load_study(config: dict[str, Any], root: Path) -> Study:
    """Read and check everything; each mistake ends in a WarlabError of one sentence."""
    schemas = root / "workflow" / "schemas"
    check(config, schemas / "config.schema.yaml", "the configuration")
    file = _scale_file(config["scale"], root)
    scale = check(read_yaml(file), schemas / "scale.schema.yaml", str(file))
    numbers = read_numbers(root)
    tables = root / "config" / "experiments.yaml"
    experiments = check(read_yaml(tables), schemas / "experiments.schema.yaml", "experiments.yaml")
    config = config | {"overrides": as_yaml(config.get("overrides", {}))}
    study = Study(file.stem, cast(UserConfig, config), cast(Scale, scale), experiments, numbers)
    validate(study.plan)
    return study


def _scale_file(name: str, root: Path) -> Path:
    folder = root / "config" / "scales"
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    check_known(
        name, sorted(path.stem for path in folder.glob("*.yaml")), f"There is no scale {name!r} in config/scales"
    )
    return folder / f"{name}.yaml"
