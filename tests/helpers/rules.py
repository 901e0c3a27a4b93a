"""The rules as Snakemake reads them: what the jobs of a study declare, without running them."""

import sys
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi
from snakemake.iocontainers import Wildcards
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

ROOT = Path(__file__).parents[2]


class Rules:
    """The rules of a study at one scale."""

    def __init__(self, scale: str = "smoke", **config: object) -> None:
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            settings = ConfigSettings(config={"scale": scale, **config})
            read = api.workflow(ResourceSettings(cores=1), config_settings=settings, snakefile=ROOT / "Snakefile")
            self.workflow = read._workflow
        self.flow = self.workflow.globals["flow"]
        # Nothing is missing here, and what other tests import should not pass through the rules' finder.
        sys.meta_path = [finder for finder in sys.meta_path if type(finder).__module__ != "warlab.pipeline.bare"]

    def inputs(self, rule: str, **wildcards: object) -> Any:
        """Return the input files of a job."""
        return self.workflow.get_rule(rule).expand_input(Wildcards(fromdict=wildcards))[0]
