"""The study: the configuration files become a plan of runs, each with its settings.

Nothing here imports torch, because the Snakefile is read again in every job.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from warlab import data, methods, noise
from warlab.common.curves import use_log
from warlab.config.models import Experiment, Experiments, Scale, UserConfig
from warlab.config.numbers import Numbers, read_numbers
from warlab.config.plan import Plan
from warlab.config.reading import as_yaml, check, check_known, expand_home, read_yaml
from warlab.config.settings import Settings
from warlab.config.validate import validate
from warlab.registry import use_plugins

# Methods in the paper's tables that no study trains.
_OTHER_LABELS = {"cce_quoted": "CCE (quoted)", "war_code": "WAR (as the authors' code computes it)"}
_METRICS = {
    "test_accuracy": "test accuracy",
    "best_on_validation": "epoch of the best validation",
    "purity": "true labels among those selected",
    "memorised": "wrong labels reproduced",
}


@dataclass(frozen=True)
class Study:
    """A study at one scale: `plan` has its runs, `settings` their settings."""

    name: str
    config: UserConfig
    scale: Scale
    experiments: dict[str, Experiment]
    numbers: Numbers

    @cached_property
    def settings(self) -> Settings:
        return Settings(self.name, self.numbers, self.scale, self.config)

    @cached_property
    def plan(self) -> Plan:
        return Plan(self.name, self.scale, self.experiments, self.settings)

    @cached_property
    def labels(self) -> dict[str, dict[str, str]]:
        """The printed names of ids, including those that only the paper's tables have: kind → id → text."""
        datasets = [*self.scale["datasets"], *(name for one in self.experiments.values() for name in one["datasets"])]
        noises = [run.noise for run in self.plan.runs]
        noises += [name for entry in self.experiments.values() for name in entry["noises"]]
        variants = {name: entry["label"] for name, entry in self.numbers.variants.items()}
        return {
            "dataset": {name: data.get(name).title for name in dict.fromkeys(datasets)},
            "noise": {name: noise.label(name) for name in dict.fromkeys(noises)},
            "method": {name: methods.declaration(name).label for name in methods.names()} | variants | _OTHER_LABELS,
            "metric": _METRICS,
            "experiment": {name: entry["title"] for name, entry in self.experiments.items()},
        }


def load_study(config: dict[str, Any], root: Path) -> Study:
    """Read and check the configuration; each mistake ends in a WarlabError of one sentence."""
    folder = root / "config"
    config = expand_home(config)
    config |= {key: as_yaml(config[key]) for key in ("device", "overrides", "verify") if key in config}
    check(config, UserConfig, "the configuration")
    use_plugins(config.get("plugins"))
    if "log" in config:
        use_log(config["log"])
    file = scale_file(config["scale"], folder / "scales")
    scale, experiments = read_yaml(file), read_yaml(folder / "experiments.yaml")
    check(scale, Scale, str(file))
    check(experiments, Experiments, "experiments.yaml")
    study = Study(file.stem, cast(UserConfig, config), cast(Scale, scale), experiments, read_numbers(root))
    validate(study.plan)
    return study


def scale_file(name: str, folder: Path) -> Path:
    """Return the file of a scale: its own path, or that of a name in config/scales."""
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    check_known(name, known, f"There is no scale {name!r} in config/scales")
    return folder / f"{name}.yaml"
