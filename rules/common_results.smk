# What the rules after training share: which runs there are, and what tables, figures, claims and report are made of.
import shutil
from datetime import date

from snakemake.logging import logger

from warlab.files import derive_seed
from warlab.reporting.catalogue import figure_names, figure_needs, shown


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
    "audit": lambda: [f"{R}/tables/audit.csv"],
}
# Given runs come without data, costs, weights, maps and audits.
NOT_GIVEN = {"data", "costs", "activations", "tiles", "maps", "audit"}


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
