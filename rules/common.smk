# Names and paths that all rules share, and how the study's answers become their inputs and parameters.
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

from warlab import data, noise
from warlab.config import Cell, load_study
from warlab.data.own import listing
from warlab.errors import WarlabError
from warlab.fingerprint import fingerprint

ROOT = Path(workflow.basedir)
SCRIPTS = ROOT / "workflow" / "scripts"

try:
    study = load_study(config, ROOT)
except WarlabError as error:
    raise WorkflowError(str(error))

RAW = config.get("data_root", "data")
R = f"{config.get('results_root', 'results')}/{study.name}"
RUN = f"{R}/runs/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}"
DATASETS = sorted({cell.dataset for cell in study.runs})
TILES = [name for name in DATASETS if data.get(name).samples == "tiles"]
MAP = f"{R}/maps/{{dataset}}/{{noise}}/{{net}}/{{method}}/seed{{seed}}"


@cache
def code(script, *modules):
    """What a job's result depends on in the code, looked at once: comments and docstrings do not count."""
    return fingerprint(SCRIPTS / f"{script}.py", *modules)


def cell_of(wildcards):
    return Cell(
        wildcards.dataset,
        wildcards.noise,
        wildcards.net,
        wildcards.method,
        int(wildcards.seed),
    )


def data_spec(wildcards):
    return study.data_spec(wildcards.dataset)


def local_of(wildcards):
    return config.get("local_data", {}).get(wildcards.dataset)


def state_of(wildcards):
    """The user's own data may change where they are: then they are read again."""
    own = data.resource(wildcards.dataset).own and wildcards.source == "real"
    local = Path(local_of(wildcards) or "")
    return listing(local) if own and local_of(wildcards) and local.exists() else None


def prepare_effort(wildcards):
    """A million images to resize take hours and several cores; arrays take seconds."""
    stored = data.get(wildcards.dataset).prepare is not None
    return {"threads": 4, "minutes": 1440} if stored else {"threads": 1, "minutes": 30}


def receipt_of(wildcards):
    return f"{RAW}/{wildcards.dataset}/{study.data_spec(wildcards.dataset)['source']}/receipt.json"


def noise_needs(dataset, noise_id):
    """Files that a noise reads besides the data, by what they are to it."""
    stand_in = study.data_spec(dataset)["source"] == "stand_in"
    kinds = {
        "human": lambda name: f"{RAW}/{name}/{'stand_in' if stand_in else 'real'}/receipt.json",
        "images": lambda name: f"{R}/data/{name}.npz",
        "given": lambda name: study.noise_file(name),
    }
    return {role: kinds[role](name) for role, name in noise.needs(noise_id).items()}


def open_set(dataset, noise_id):
    """The images that open-set noise puts in place of others, for whoever reads the training images."""
    files = noise_needs(dataset, noise_id)
    return {role: file for role, file in files.items() if role == "images"}


def noise_inputs(wildcards):
    data = {"data": f"{R}/data/{wildcards.dataset}.npz"}
    return data | noise_needs(wildcards.dataset, wildcards.noise)


def noise_file(dataset, noise_id, seed):
    return f"{R}/noise/{dataset}/{noise_id}/seed{seed}.npz"


def cost_folder(cell):
    return f"{R}/costs/{cell.dataset}/{study.cost_key(cell)}"


def cost_spec(wildcards):
    """Kind and settings of the cost that a folder such as embed@asym-40@seed0 holds."""
    return study.cost(wildcards.cost.split("@")[0], wildcards.dataset)


def cost_inputs(wildcards):
    """Data, and the noisy labels if the cost reads them."""
    files = {"data": f"{R}/data/{wildcards.dataset}.npz"}
    name, *reads = wildcards.cost.split("@")
    if reads:
        noise_id, seed = reads[0], reads[1].removeprefix("seed")
        files["noise"] = noise_file(wildcards.dataset, noise_id, seed)
        files |= open_set(wildcards.dataset, noise_id)
    if features := study.features(name, wildcards.dataset):
        files["features"] = f"{R}/features/{wildcards.dataset}/{features}.npz"
        if "images" in files:  # of the data set that open-set noise takes them from
            other = Path(files.pop("images")).stem
            files["other_features"] = f"{R}/features/{other}/{features}.npz"
    return files


def weights_of(wildcards):
    """Stand-in images are seen by a stand-in of the network, so that nothing has to be fetched for them."""
    source = study.data_spec(wildcards.dataset)["source"]
    return f"{RAW}/{wildcards.network}/{'stand_in' if source == 'stand_in' else 'real'}/receipt.json"


def cost_uses(wildcards):
    return study.cost_uses(wildcards.dataset, wildcards.cost)


def train_inputs(wildcards):
    cell = cell_of(wildcards)
    files = {
        "data": f"{R}/data/{cell.dataset}.npz",
        "noise": noise_file(cell.dataset, cell.noise, cell.seed),
    }
    files |= open_set(cell.dataset, cell.noise)
    if study.cost_key(cell):
        files["cost"] = f"{cost_folder(cell)}/cost.csv"
        # A cost verified anew, say for another lambda, is the same cost: it must not train anything again.
        files["verified"] = ancient(f"{cost_folder(cell)}/verified.json")
    if needed := study.needed_run(cell):
        files["predictions"] = f"{R}/runs/{needed.path}/predictions.npz"
    return files


def run_code(script, wildcards):
    """The code behind a run's weights or predictions."""
    cell = cell_of(wildcards)
    return code(
        script,
        f"warlab.methods.{study.method_file(cell.method)}",
        f"warlab.nets.{cell.net}",
        f"warlab.engine.{data.get(cell.dataset).samples}",
    )
