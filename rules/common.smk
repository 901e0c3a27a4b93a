# Names and paths that all rules share, and how the study's answers become their inputs and parameters.
import gc
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

from warlab import data, noise
from warlab.pipeline import resources, sources
from warlab.config.study import load_study
from warlab.ids import CostId, RunId
from warlab.data.user_data import state
from warlab.errors import WarlabError
from warlab.pipeline.fingerprint import fingerprint
from warlab.pipeline.job_inputs import InputFiles, description

# Snakemake makes millions of objects that live as long as it does; looking for cycles among them takes a tenth of the
# time of planning.
gc.set_threshold(200_000, 20, 100)

# Of this repository, from wherever it is called or imported. A file that lies below the working folder is named from
# there, so that results look the same on every machine.
if "://" in str(workflow.current_basedir):
    raise WorkflowError(
        "warlab reads files beside its Snakefile and needs its Python package: clone the repository, "
        "install it (make setup) and give the path of workflow/Snakefile to `module`."
    )
ROOT = Path(str(workflow.current_basedir)).resolve().parent
SCRIPTS = ROOT / "workflow" / "scripts"

try:
    study = load_study(config, ROOT)
except WarlabError as error:
    raise WorkflowError(str(error))


def own_file(path):
    """A file of the repository as a rule names it."""
    file = ROOT / path
    return str(
        file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    )


RAW = config.get("data_root", "data")
R = f"{config.get('results_root', 'results')}/{study.name}"
COMMON = f"{config.get('results_root', 'results')}/common"  # what no scale changes is made once
RUN = f"{R}/runs/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}"
FILES = InputFiles(study, RAW, R)
DATASETS = sorted({cell.dataset for cell in study.plan.runs})
TILES = [name for name in DATASETS if data.get(name).samples == "tiles"]
MAP = f"{R}/maps/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}"


@cache
def code(script, *modules):
    """What a job's result depends on in the code, looked at once: comments and docstrings do not count."""
    return fingerprint(SCRIPTS / f"{script}.py", *modules)


def cell_of(wildcards):
    return RunId(
        wildcards.dataset,
        wildcards.noise,
        wildcards.net,
        wildcards.method,
        int(wildcards.seed),
    )


def data_spec(wildcards):
    return study.settings.data_spec(wildcards.dataset)


def local_of(wildcards):
    return config.get("local_data", {}).get(wildcards.dataset)


def state_of(wildcards):
    """The user's own data may change where they are: then they are read again."""
    local = local_of(wildcards) if wildcards.source == "real" else None
    return state(data.resource(wildcards.dataset), local and Path(local))


def prepare_effort(wildcards):
    return resources.preparing(wildcards.dataset, data_spec(wildcards)["source"])


def train_effort(wildcards):
    return resources.training(wildcards.dataset, data_spec(wildcards)["source"])


def train_memory(wildcards, attempt):
    return resources.grown(train_effort(wildcards).mem_mb, attempt)


def receipt_of(wildcards):
    return FILES.receipt(wildcards.dataset)


def data_of_scale(wildcards):
    """Everything that needs a network or a folder of the owners, and all prepared data."""
    receipts = [needed.receipt(RAW) for needed in sources.needed(study)]
    return receipts + [FILES.data(name) for name in sources.datasets(study)]


def noise_inputs(wildcards):
    return FILES.to_corrupt(wildcards.dataset, wildcards.noise)


def cost_spec(wildcards):
    """Kind and settings of the cost that a folder such as embed@asym-40@seed0 holds."""
    return study.settings.cost(CostId.parse(wildcards.cost).name, wildcards.dataset)


def cost_inputs(wildcards):
    return FILES.to_make_cost(wildcards.dataset, wildcards.cost)


def weights_of(wildcards):
    return FILES.weights(wildcards.network, wildcards.dataset)


def cost_uses(wildcards):
    return study.plan.cost_uses(wildcards.dataset, wildcards.cost)


def train_inputs(wildcards):
    files = FILES.to_train(cell_of(wildcards))
    if "verified" in files:
        # A cost verified again, say for another lambda, is the same cost: it must not train anything again.
        files["verified"] = ancient(files["verified"])
    return files


def run_code(script, wildcards):
    """The code behind a run's weights or predictions."""
    cell = cell_of(wildcards)
    return code(
        script,
        f"warlab.methods.{study.settings.method_file(cell.method)}",
        f"warlab.nets.{cell.net}",
        f"warlab.engine.{data.get(cell.dataset).samples}",
    )
