"""The types of the configuration files. What their values may be is in workflow/schemas."""

from typing import NotRequired, TypedDict

from warlab.artefacts.run_config import Options

Section = dict[str, Options]  # of a scale or `overrides`: name or name@place → key → value


class Cells(TypedDict, total=False):
    """A block of a table: all combinations of these."""

    datasets: list[str]
    noises: list[str]
    nets: list[str]
    methods: list[str]


class Choice(Cells, total=False):
    """The part of an experiment that a scale runs."""

    add_methods: list[str]
    seeds: int
    steps: dict[str, int]
    also: list[Cells]


class Experiment(Choice):
    """A table of the paper: all of its cells, and how it is shown."""

    title: str
    metric: str
    orientation: str
    section: NotRequired[str]
    metrics: NotRequired[list[str]]
    reference: NotRequired[list[str]]
    kind: NotRequired[str]
    last: NotRequired[int]
    quoted: NotRequired[list[str]]
    settings_of: NotRequired[dict[str, str]]
    stands_for: NotRequired[dict[str, list[str]]]
    ranks: NotRequired[list[str]]


class Layer(TypedDict, total=False):
    """Settings that replace the general ones."""

    training: Section
    nets: Section
    methods: Section
    costs: Section
    noise: Section


class Scale(Layer):
    """The part of the paper's experiments that a machine has time for."""

    description: str
    datasets: dict[str, Options]  # how much of each is used: `DataSpec`
    experiments: dict[str, Choice]
    seeds: NotRequired[int]
    threads: NotRequired[int]
    evidence: NotRequired[str]  # a folder of committed evidence, of which the report shows one line


class UserConfig(TypedDict):
    """config/config.yaml and what the command line adds."""

    scale: str
    data_root: NotRequired[str]
    results_root: NotRequired[str]
    local_data: NotRequired[dict[str, str]]
    noise_files: NotRequired[dict[str, str]]
    runs_from: NotRequired[str]
    verify: NotRequired[int]
    device: NotRequired[dict[str, bool]]
    overrides: NotRequired[Layer]


class Variant(TypedDict):
    """A method of the tables that is another method with other settings."""

    method: str
    label: str
    settings: Options
