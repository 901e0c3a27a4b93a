"""The keys of the configuration files and what their values may be, declared once.

pydantic checks a file against its type here, and tools/write_schemas.py writes the types as JSON schemas, with which
editors complete and check the files. The settings of a method or network are declared in its own file.
"""

from functools import cache
from types import GenericAlias
from typing import Annotated, Any, Literal, NotRequired, Union

from pydantic import BeforeValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from warlab.common.setting import MOST_EPOCHS, Source, Unit
from warlab.ot import costs

LARGEST = 1_000_000  # the maximum of numbers, unless another one is given
LONGEST = 1000  # characters of a text

Options = dict[str, Any]
Section = dict[str, Options]  # of a scale or `overrides`: name or name@dataset → key → value
Count = Annotated[int, Field(ge=1)]
Seeds = Annotated[int, Field(ge=1, le=1000)]
Names = Annotated[list[str], Field(min_length=1)]
Name = Annotated[str, Field(pattern="^[a-z0-9_]+$")]  # of a file or folder
Place = Annotated[str, Field(pattern="^[a-z0-9_]+(@[a-z0-9_.-]+)?$")]
Folder = Annotated[str, Field(pattern=r"^[^{}\x00-\x1f]+$")]  # no braces, which are wildcards of the workflow
_closed = with_config(ConfigDict(extra="forbid", allow_inf_nan=False, str_max_length=LONGEST))
_open = with_config(ConfigDict(allow_inf_nan=False, str_max_length=LONGEST))


# ---- config/experiments.yaml: one entry per table of the paper


@_closed
class Cells(TypedDict, total=False):
    """A block of a table: all combinations of these."""

    datasets: Names
    noises: Names
    nets: Names
    methods: Names


@_closed
class Experiment(TypedDict):
    """A table of the paper: all of its cells, and how it is shown."""

    title: str
    metric: str
    orientation: Literal["methods_as_rows", "methods_as_columns"]
    datasets: Names
    noises: Names
    nets: Names
    methods: Names
    seeds: Seeds
    section: NotRequired[Literal["results", "adversarial", "maps"]]  # of the report, by default results
    metrics: NotRequired[Annotated[Names, Field(description="the rows, if a run has several scores")]]
    reference: NotRequired[Annotated[list[str], Field(description="methods of another table, for comparison")]]
    kind: NotRequired[Literal["training", "timing"]]  # timing: the cells are timed for a few steps and not trained
    last: NotRequired[Annotated[Count, Field(description="how many of the last epochs are averaged, by default 10")]]
    quoted: NotRequired[Annotated[list[str], Field(description="methods that neither the authors nor we have run")]]
    steps: NotRequired[dict[str, Count]]
    settings_of: NotRequired[Annotated[dict[str, str], Field(description="timed method → method with its settings")]]
    stands_for: NotRequired[Annotated[dict[str, Names], Field(description="timed method → others of the same time")]]
    also: NotRequired[Annotated[list[Cells], Field(description="more cells of the same table")]]
    ranks: NotRequired[Annotated[list[Literal["all", "noisy"]], Field(description="rows of average ranks to add")]]


Experiments = dict[Name, Experiment]


# ---- config/scales/*.yaml and config/config.yaml


@_closed
class Choice(Cells, total=False):
    """The part of an experiment that a scale runs."""

    add_methods: Names
    seeds: Seeds
    steps: dict[str, Count]
    also: list[Cells]


@_closed
class Layer(TypedDict, total=False):
    """Settings that override those of the files."""

    training: Section
    nets: Section
    methods: Section
    costs: Section
    noise: Section


@_closed
class DataPart(TypedDict):
    """How much of a dataset is used: `warlab.data.base.DataSpec`."""

    source: Literal["embedded", "stand_in", "real"]
    train: NotRequired[Count]
    test: NotRequired[Count]
    pool: NotRequired[Count]
    size: NotRequired[Annotated[int, Field(ge=8, description="for your own images, which may have any size")]]


@_closed
class Scale(Layer):
    """The part of the paper's experiments that a machine has time for."""

    description: str
    datasets: dict[str, DataPart]
    experiments: dict[str, Choice]
    seeds: NotRequired[Annotated[Seeds, Field(description="of experiments without a number; by default the paper's")]]
    threads: NotRequired[Annotated[int, Field(ge=1, le=1024)]]
    evidence: NotRequired[Annotated[str, Field(description="a folder with committed results, which the report links")]]


@_closed
class Device(TypedDict, total=False):
    """Options for GPUs. Each changes the last bits of a result, so it is part of a run's identity."""

    tf32: Annotated[bool, Field(description="float32 products with ten bits of mantissa")]
    channels_last: Annotated[bool, Field(description="memory format of images; CPUs always use it")]
    compile: Annotated[bool, Field(description="networks go through torch.compile")]


@_closed
class UserConfig(TypedDict):
    """config/config.yaml and what --configfile and --config add."""

    scale: Annotated[Folder, Field(description="a name in config/scales, or the path of a YAML file")]
    data_root: NotRequired[Folder]
    results_root: NotRequired[Folder]
    local_data: NotRequired[dict[str, str]]
    noise_files: NotRequired[dict[str, str]]
    runs_from: NotRequired[Annotated[str, Field(description="a folder with a finished runs.csv to report")]]
    verify: NotRequired[Annotated[int, Field(ge=0, description="which run `snakemake verify` trains again")]]
    device: NotRequired[Device]
    overrides: NotRequired[Layer]
    log: NotRequired[Annotated[Literal["tensorboard"], Field(description="live curves in the folders of the runs")]]
    plugins: NotRequired[Annotated[Folder, Field(description="a folder with your own methods, networks and others")]]
    container: NotRequired[Annotated[Folder, Field(description="an image for the jobs, with --sdm apptainer")]]


# ---- config/hyperparameters.yaml


@_closed
class PlaceEntry(TypedDict):
    value: Any
    source: Source


Places = dict[str, PlaceEntry]
Entry = TypedDict(  # `for` is a keyword of Python
    "Entry",
    {"value": Any, "source": Source, "unit": NotRequired[Unit], "for": NotRequired[Places]},
)
_closed(Entry)
# `as` names another schedule, whose entries are copied
Schedule = TypedDict(  # type: ignore[misc]
    "Schedule",
    {"as": NotRequired[str], "source": NotRequired[Source]},
    extra_items=Entry,
)
_open(Schedule)


@_closed
class Variant(TypedDict):
    """A method of the tables that is another method with other settings."""

    method: str
    label: str
    settings: Options


@_closed
class Hyperparameters(TypedDict):
    training: dict[Place, Schedule]  # a name without @ is a whole schedule; cifar10@openset has only differences
    methods: dict[str, dict[str, Places]]  # method → setting → place
    nets: NotRequired[dict[str, dict[str, Places]]]
    variants: dict[Name, Variant]
    costs: dict[Name, dict[str, Entry]]
    noise: dict[Name, dict[str, Entry]]


# ---- values of settings

_ENDS = {"minimum": "ge", "above": "gt", "maximum": "le", "below": "lt"}


@cache  # equal types are the same object, for which pydantic compiles one validator
def kind_of(annotation: str, **limits: Any) -> Any:
    """Return the type of a setting from its annotation, such as `float | None`, and its limits. A number is finite, and
    3.0 is not an integer. Any value is allowed if the annotation is unknown."""
    ends: dict[str, Any] = {end: limits[name] for name, end in _ENDS.items() if name in limits}
    if not {"le", "lt"} & ends.keys():
        ends["le"] = LARGEST
    word = Annotated[str, Field(max_length=LONGEST, pattern=limits.get("pattern"))]
    kinds: dict[str, Any] = {
        "float": Annotated[float, Field(allow_inf_nan=False, **ends)],
        "int": Annotated[int, Field(**ends)],
        "str": Literal[tuple(limits["choices"])] if limits.get("choices") else word,
        "bool": bool,
        "None": None,
    }
    names = [name.strip() for name in annotation.split("|")]
    return Union[tuple(kinds[name] for name in names)] if set(names) <= kinds.keys() else Any  # noqa: UP007


def _list_of(kind: Any, **length: Any) -> Any:
    return Annotated[GenericAlias(list, (kind,)), Field(**length)]


KINDS: dict[str, dict[str, Any]] = {  # of the settings that are in no file of a method or network
    "training": {
        "epochs": kind_of("int", minimum=1, maximum=MOST_EPOCHS),
        "batch_size": kind_of("int", minimum=2),  # batch normalisation needs more than one sample
        "optimiser": Literal["adam", "sgd"],
        "lr": kind_of("float", above=0, maximum=1000),
        "drops": _list_of(kind_of("int", minimum=0), max_length=100),
        "weight_decay": kind_of("float", minimum=0, maximum=1),
        "momentum": kind_of("float", minimum=0, below=1),
        "validation": kind_of("float", minimum=0, maximum=0.5),
        "keep": Literal["last", "best_validation"],
        "evaluate_every": kind_of("int", minimum=1, maximum=MOST_EPOCHS),
        "augmentation": Literal["none", "shift_flip", "two_views"],
        "mean": _list_of(kind_of("float"), min_length=1),
        "std": _list_of(kind_of("float", above=0), min_length=1),
        # for tiles
        "steps": kind_of("int", minimum=1),
        "patch": kind_of("int", minimum=1, maximum=100_000),
        "overlap": kind_of("int", minimum=0, maximum=100_000),
        "sigma": kind_of("float", above=0, maximum=1000),
    },
    "costs": {
        "kind": Literal[tuple(costs.kinds())],
        "vectors": kind_of("str | None"),
        "binary": bool,
        "order": Literal["labels", "listing"],
        "features": Literal["pixels", "resnet18", "efficientnet_lite0"],
        "size": kind_of("int", minimum=8, maximum=4096),
        "seed": kind_of("int", minimum=0),
        "variant": Literal["raw", "abs_sym"],
        "path": kind_of("str | None"),
    },
    "noise": {"flips": dict[str, list[Annotated[str, Field(max_length=LONGEST)]]]},
}
WHOLE_SCHEDULE = ("epochs", "batch_size", "optimiser", "lr", "drops", "weight_decay", "momentum")


# ---- config/claims.yaml


@_closed
class ClaimCells(TypedDict):
    """The cells that a claim is about: all combinations of these."""

    datasets: Names
    noises: Names
    nets: NotRequired[Names]
    metrics: NotRequired[Names]


ClaimBlocks = Annotated[
    list[ClaimCells],
    BeforeValidator(
        lambda blocks: blocks if isinstance(blocks, list) else [blocks],
        json_schema_input_type=list[ClaimCells] | ClaimCells,
    ),
]


ClaimEntry = TypedDict(  # `with` is a keyword of Python
    "ClaimEntry",
    {
        "id": str,
        "claim": Annotated[str, Field(description="the sentence that is judged")],
        "source": Literal["paper", "found", "ours"],
        "check": Annotated[str, Field(description="a function of src/warlab/reporting/claims/checks.py")],
        "with": NotRequired[Annotated[Options, Field(description="the arguments of the check")]],
        "settings": NotRequired[ClaimBlocks],
        "exceptions": NotRequired[Annotated[int, Field(ge=0, description="how many settings may differ")]],
        "experiment": NotRequired[Annotated[str, Field(description="whose table counts if several have a cell")]],
        "remark": NotRequired[str],
    },
)
_closed(ClaimEntry)

FILES: dict[str, Any] = {  # name of the schema → what it describes
    "config": UserConfig,
    "scale": Scale,
    "experiments": Experiments,
    "hyperparameters": Hyperparameters,
    "claims": list[ClaimEntry],
}
