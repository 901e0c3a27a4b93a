"""The study: configuration, scale, experiments and numbers become a plan of runs, each with its settings.

Nothing here imports torch: the Snakefile is read again in every job.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from warlab.common.wording import suggest
from warlab.config.entries import Experiment, Scale, UserConfig
from warlab.config.names_in_print import names_in_print
from warlab.config.numbers import Numbers, read_numbers
from warlab.config.plan import Plan
from warlab.config.reading import as_yaml, check, read_yaml
from warlab.config.settings import Settings
from warlab.config.validate import validate
from warlab.errors import WarlabError


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
        return names_in_print(self.plan)


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
    known = sorted(p.stem for p in folder.glob("*.yaml"))
    if name not in known:
        raise WarlabError(f"There is no scale {name!r} in config/scales; {suggest(name, known)}")
    return folder / f"{name}.yaml"
