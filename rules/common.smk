# Names and paths that all rules share, and how the study's answers become their inputs and parameters.
import shutil
from datetime import date
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from warlab import data, noise
from warlab.config import Cell, load_study
from warlab.data.own import listing
from warlab.errors import WarlabError
from warlab.files import derive_seed
from warlab.fingerprint import fingerprint
from warlab.reporting.catalogue import figure_names, figure_needs, shown

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


def code(script, *modules):
    """What a job's result depends on in the code: comments and docstrings do not count."""
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
    """The distinct (lambda, iterations) with which the study's runs use a cost."""
    cells = [
        cell
        for cell in study.runs
        if cell.dataset == wildcards.dataset and study.cost_key(cell) == wildcards.cost
    ]
    settings = [study.method(cell.method, cell.dataset, cell.noise) for cell in cells]
    return sorted({(setting["lam"], setting["iterations"]) for setting in settings})


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


def given_runs():
    """The finished runs.csv that stands in place of training, if the configuration names one."""
    if not config.get("runs_from"):
        return None
    file = Path(config["runs_from"]) / "runs.csv"
    if not file.is_file():
        raise WorkflowError(
            f"runs_from names {config['runs_from']}, which has no runs.csv; name the folder of a finished study."
        )
    return str(file)


GIVEN = given_runs()


def collected():
    """What runs.csv is made of."""
    if GIVEN:
        return {"given": GIVEN}
    return {
        "metrics": [f"{folder}/metrics.csv" for folder in run_folders()],
        "results": [f"{folder}/result.json" for folder in run_folders()],
    }


def table_inputs(wildcards):
    """The runs of one table, so that a change of others leaves it alone."""
    if GIVEN:
        return {"runs": f"{R}/runs.csv"}
    cells = {study.trained_as(cell) for cell in study.cells(wildcards.experiment)}
    folders = [f"{R}/runs/{cell.path}" for cell in sorted(cells)]
    return {
        "metrics": [f"{folder}/metrics.csv" for folder in folders],
        "results": [f"{folder}/result.json" for folder in folders],
    }


def declared_runs():
    """What a given runs.csv is compared with; for our own trainings the files say it."""
    return [list(vars(cell).values()) for cell in study.runs] if GIVEN else None


def unless_given(files):
    """Files that only exist where this machine prepared the data and trained."""
    return [] if GIVEN else files


def run_folders():
    return [f"{R}/runs/{cell.path}" for cell in study.runs]


def all_noise():
    return sorted(
        {noise_file(cell.dataset, cell.noise, cell.seed) for cell in study.runs}
    )


def all_costs():
    return sorted({cost_folder(cell) for cell in study.runs if study.cost_key(cell)})


def mapped_runs():
    """The runs whose maps are made: the first seed, in the order of their table."""
    shown = [
        study.trained_as(cell) for name in study.tables for cell in study.cells(name)
    ]
    return [
        cell
        for cell in dict.fromkeys(shown)
        if cell.dataset in TILES and cell.seed == 0
    ]


def all_maps():
    """Maps of the runs, and of what they were trained on where that is not the truth; given runs have none."""
    if GIVEN:
        return []
    noisy = {
        cell for cell in study.runs if cell.dataset in TILES and cell.noise != "clean"
    }
    folders = {
        f"{cell.dataset}/{cell.noise}/training_labels/seed{cell.seed}" for cell in noisy
    }
    maps = [f"{R}/maps/{cell.path}/labels.npz" for cell in mapped_runs()]
    return maps + [f"{R}/maps/{folder}" for folder in sorted(folders)]


def table_spec(wildcards):
    """All that a table shows and how, apart from the numbers."""
    entry = study.experiments[wildcards.experiment]
    ran = {cell.method for cell in study.cells(wildcards.experiment)}
    return {
        "title": entry["title"],
        "metrics": entry.get("metrics", [entry["metric"]]),
        "last": entry.get("last", 10),
        "quoted": [m for m in study.quoted(wildcards.experiment) if m not in ran],
        "orientation": entry["orientation"],
        "ranks": entry.get("ranks", []),
        "cells": study.layout(wildcards.experiment),
        "trained_as": study.aliases(wildcards.experiment),
        "labels": study.labels,
    }


def timing_files():
    pairs = dict.fromkeys((cell.dataset, cell.net) for cell in study.timed)
    return [f"{R}/timing/{dataset}/{net}.json" for dataset, net in pairs]


def timing_spec(wildcards):
    return study.timing(wildcards.dataset, wildcards.net)


def timing_code(wildcards):
    files = {entry["file"] for entry in timing_spec(wildcards)["methods"].values()}
    modules = [f"warlab.methods.{file}" for file in sorted(files)]
    return code("time_steps", *modules, f"warlab.nets.{wildcards.net}")


def timing_table_of():
    """The table of times, at scales that ask for it; with given runs nothing is measured."""
    return rules.timing_table.output if study.timed and not GIVEN else []


# Each network with the first of the datasets that it sees.
NETS = {cell.net: cell.dataset for cell in reversed(study.runs)}


def networks_shown():
    return [
        {
            "net": net,
            "dataset": dataset,
            "settings": study.net(net, dataset),
            "patch": study.training(dataset).get("patch"),
        }
        for net, dataset in sorted(NETS.items())
    ]


def typeset_of():
    """The PDF of all tables where there is a LaTeX to make it."""
    if shutil.which("pdflatex"):
        return rules.typeset.output
    logger.info("No pdflatex here: tables.pdf is left out, the .tex files stand.")
    return []


def timing_tex_of():
    return unless_given([f"{R}/tables/timing.tex"]) if study.timed else []


def architectures_of():
    return unless_given([f"{R}/tables/architectures.tex"])


def all_aliases():
    """(dataset, method in a table, method of the run) of every table of the scale."""
    return sorted({alias for name in study.tables for alias in study.aliases(name)})


def compared():
    """The experiments whose methods are compared by tests: cells, names, title. What is only quoted has no runs."""
    ran = {name: {cell.method for cell in study.cells(name)} for name in study.tables}
    return {
        name: {
            "title": study.experiments[name]["title"],
            "cells": [cell for cell in study.layout(name) if cell[3] in ran[name]],
            "trained_as": study.aliases(name),
        }
        for name in study.tables
    }


FIGURE_FILES = {
    "runs": lambda: [f"{R}/runs.csv"],
    "noise": lambda: unless_given(all_noise()),
    "costs": lambda: [f"{folder}/verified.json" for folder in all_costs()],
    "data": lambda: [f"{R}/data/{name}.npz" for name in DATASETS if name not in TILES],
    "tiles": lambda: [f"{R}/data/{name}.npz" for name in TILES],
    "maps": lambda: [f"{R}/maps/{cell.path}/labels.npz" for cell in mapped_runs()],
    "published": lambda: ["config/published.csv"],
    "statistics": lambda: [f"{R}/statistics.csv"],
    "toy": lambda: [f"{R}/figures/material/toy.npz"],
    "activations": lambda: [f"{R}/figures/material/activations/{pictured()}.npz"],
}
# Given runs come without data, costs, weights and maps.
NOT_GIVEN = {"data", "costs", "activations", "tiles", "maps"}


def drawable(name):
    """A study without tiles has no maps to draw, and one with nothing else no images."""
    needs = {*figure_needs(name)}
    if config.get("runs_from") and NOT_GIVEN & needs:
        return False
    methods = {cell.method.split("+")[0] for cell in study.runs}
    there = all(FIGURE_FILES[kind]() for kind in needs & {"data", "tiles"})
    return there and shown(name, study.tables, DATASETS, methods)


FIGURES = [name for name in figure_names() if drawable(name)]


def pictured():
    """The run whose activations are drawn: of Fashion-MNIST, on clean labels and with cross entropy where it can be."""
    runs = [cell for cell in study.runs if cell.dataset == "fashion_mnist"]
    order = lambda cell: (cell.noise != "clean", cell.method != "cce", cell.seed)
    return min(runs, key=order).path


def figure_inputs(wildcards):
    """What the figure says it needs, and what every figure needs to say where its data come from."""
    files = {kind: FIGURE_FILES[kind]() for kind in figure_needs(wildcards.figure)}
    return files | {
        "meta": unless_given([f"{R}/data/{dataset}.json" for dataset in DATASETS])
    }


def figure_code(wildcards):
    return code("figure", f"warlab.reporting.figures.{wildcards.figure}")


def report_spec():
    """What the report says that no file says: titles, layouts, names, hyper-parameters and their sources."""
    layout = ("title", "orientation")
    return {
        "scale": study.name,
        "description": study.scale["description"],
        "tables": {
            name: {key: study.experiments[name][key] for key in layout}
            for name in study.tables
        },
        "labels": study.labels,
        "hyperparameters": study.numbers,
        "logs": {cell.path: f"{R}/logs/train/{cell.path}.log" for cell in study.runs},
    }


def verified_run():
    """The run that `snakemake verify` trains again: the one of the day, or the number that the configuration gives."""
    alone = [cell for cell in study.runs if not study.needed_run(cell)]
    day = derive_seed("verify", date.today().isoformat())
    return alone[config.get("verify", day) % len(alone)].path
