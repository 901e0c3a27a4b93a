# What the rules after training share: which runs there are, and what tables, figures, claims and report are made of.
import shutil
from datetime import date

from snakemake.logging import logger

from warlab.config.claim_entries import check_entries, read_entries
from warlab.common.files import derive_seed
from warlab.config.reductions import reductions
from warlab.reporting.figure_registry import (
    Design,
    figure_names,
    figure_needs,
    figure_section,
    figure_title,
    published_cells,
    why_not,
)
from warlab.reporting.page.sections import category


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
FILE = "test_predictions.npz"

try:
    check_entries(read_entries(ROOT / "config" / "claims.yaml"), study)
except WarlabError as error:
    raise WorkflowError(str(error))


def kept_predictions(wildcards):
    """What the runs say of each test image: a file per run, or one of the given study; older ones have none."""
    if GIVEN:
        file = Path(GIVEN).with_name(FILE)
        return {"predictions": [str(file)] if file.is_file() else [], "truth": []}
    images = [cell for cell in study.runs if cell.dataset not in TILES]
    return {
        "predictions": [f"{R}/runs/{cell.path}/{FILE}" for cell in images],
        "truth": [f"{R}/data/{name}.npz" for name in DATASETS if name not in TILES],
    }


def read_epochs():
    """dataset → how many of the last epochs its table reads, where not ten"""
    return {
        dataset: entry["last"]
        for entry in study.experiments.values()
        if "last" in entry
        for dataset in entry["datasets"]
    }


def tested_on():
    """dataset → number of test images, where one prediction is one image"""
    specs = {name: study.data_spec(name) for name in DATASETS if name not in TILES}
    whole = {
        name: data.get(name).images[1] if spec["source"] == "real" else 0
        for name, spec in specs.items()
    }
    return {name: specs[name]["test"] or whole[name] for name in specs}


def collected():
    """What runs.csv is made of."""
    if GIVEN:
        return {"given": GIVEN}
    return {
        "metrics": [f"{folder}/metrics.csv" for folder in run_folders()],
        "results": [f"{folder}/result.json" for folder in run_folders()],
    }


def table_runs(experiment):
    """(dataset, noise, net, method, seed) behind a table: another table may have more seeds of the same cell."""
    cells = {study.trained_as(cell) for cell in study.cells(experiment)}
    return [list(vars(cell).values()) for cell in sorted(cells)]


def table_inputs(wildcards):
    """The runs of one table, so that a change of others leaves it alone."""
    if GIVEN:
        return {"runs": f"{R}/runs.csv"}
    folders = [
        f"{R}/runs/{RunId(*run).path}" for run in table_runs(wildcards.experiment)
    ]
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
        {FILES.noise(cell.dataset, cell.noise, cell.seed) for cell in study.runs}
    )


def all_costs():
    return sorted(
        {FILES.cost_folder(cell) for cell in study.runs if study.cost_key(cell)}
    )


def described_by(noise, folders):
    """The descriptions of noise, and in the folders of costs those that stand beside the verification."""
    costs = [f"{folder}/cost.{end}" for folder in folders for end in ("csv", "json")]
    return [description(file) for file in noise] + costs


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
        "runs": table_runs(wildcards.experiment),
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
            "settings": study.untrained_net(net, dataset),
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
    """Cells of every table of the scale that are runs of another name."""
    return sorted({alias for name in study.tables for alias in study.aliases(name)})


def compared():
    """The experiments whose methods are compared by tests: cells, names, title. What is only quoted has no runs."""
    ran = {name: {cell.method for cell in study.cells(name)} for name in study.tables}
    return {
        name: {
            "title": study.experiments[name]["title"],
            "metric": study.experiments[name]["metric"],
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
    "published": lambda: [own_file("config/published.csv")],
    "statistics": lambda: [f"{R}/statistics.csv"],
    "toy": lambda: [f"{COMMON}/toy.npz"],
    "activations": lambda: [f"{R}/figures/material/activations/{pictured()}.npz"],
    "audit": lambda: [f"{R}/tables/audit.csv"],
}


def absent():
    """What figures cannot have here: given runs come without data, costs, weights, maps and audits."""
    if GIVEN:
        kinds = ("data", "costs", "activations", "tiles", "maps", "audit")
        return {kind: f"given runs come without {kind}" for kind in kinds}
    kinds = {"data": "no dataset has single images", "tiles": "no dataset has tiles"}
    return {kind: why for kind, why in kinds.items() if not FIGURE_FILES[kind]()}


def design():
    """What figures may ask of the study."""
    without_seed = lambda cells: [tuple(vars(cell).values())[:4] for cell in cells]
    return Design(
        {name: without_seed(study.cells(name)) for name in study.tables},
        without_seed(study.runs),
        published_cells(ROOT / "config" / "published.csv"),
        absent(),
        not GIVEN or "seconds" in Path(GIVEN).read_text().partition("\n")[0].split(","),
    )


def left_out():
    """What the scale cannot show, each with the reason, for the report."""
    empty = [name for name in study.scale["experiments"] if not study.cells(name)]
    tables = {f"table {name}": "the scale has no dataset of it" for name in empty}
    figures = {name: why_not(name, DESIGN) for name in figure_names()}
    return tables | {f"figure {name}": why for name, why in figures.items() if why}


DESIGN = design()
FIGURES = [name for name in figure_names() if not why_not(name, DESIGN)]


def pictured():
    """The run whose activations are drawn: of Fashion-MNIST, on clean labels and with cross entropy where it can be."""
    runs = [cell for cell in study.runs if cell.dataset == "fashion_mnist"]
    order = lambda cell: (cell.noise != "clean", cell.method != "cce", cell.seed)
    return min(runs, key=order).path


def figure_inputs(wildcards):
    """What the figure says it needs, and what every figure needs to say where its data come from."""
    files = {kind: FIGURE_FILES[kind]() for kind in figure_needs(wildcards.figure)}
    return files | {
        "meta": unless_given([f"{R}/data/{dataset}.json" for dataset in DATASETS]),
        "beside": described_by(
            files.get("noise", []), [Path(p).parent for p in files.get("costs", [])]
        ),
    }


def figure_code(wildcards):
    return code("figure", f"warlab.reporting.figures.{wildcards.figure}")


def table_section(name):
    """The section of the report in which a table stands."""
    if name == "ablations":
        return "adversarial"
    tiles = set(study.experiments[name]["datasets"]) <= set(TILES)
    return "maps" if tiles else "results"


def report_inputs(wildcards):
    """What the runs, and all that they were made of, say about themselves; given runs come without it.

    A function and not a list: where another input is named by its rule, Snakemake hashes the whole list for each file.
    """
    files = {
        "results": [f"{folder}/result.json" for folder in run_folders()],
        "data": [f"{R}/data/{dataset}.json" for dataset in DATASETS],
        "noise": all_noise(),
        "costs": [f"{folder}/verified.json" for folder in all_costs()],
        "beside": described_by(all_noise(), all_costs()),
    }
    own = {name: unless_given(found) for name, found in files.items()}
    return own | kept_predictions(wildcards)


def headline_spec():
    """How the first table, which the report begins with, reads its runs."""
    first = study.tables[:1]
    return {
        "last": min(
            [study.experiments[name].get("last", 10) for name in first], default=10
        ),
        "trained_as": [alias for name in first for alias in study.aliases(name)],
    }


def committed_evidence():
    """What the scale names under `evidence`, where its folder is there: docs/ is no part of an installed package."""
    named = study.scale.get("evidence", {})
    return {
        kind: {**entry, "path": own_file(entry["folder"])}
        for kind, entry in named.items()
        if (ROOT / entry["folder"] / "summary.csv").is_file()
    }


def report_spec():
    """What the report says that no file says: titles, layouts, names, hyper-parameters and their sources."""
    layout = ("title", "orientation")
    return {
        "scale": study.name,
        "description": study.scale["description"],
        "tables": {
            name: {key: study.experiments[name][key] for key in layout}
            | {"section": table_section(name)}
            for name in study.tables
        },
        "figures": {
            name: {"title": figure_title(name), "section": figure_section(name)}
            for name in FIGURES
        },
        "aliases": all_aliases(),
        "last": read_epochs(),
        "tested_on": tested_on(),
        "headline": headline_spec(),
        "left_out": left_out(),
        "labels": study.labels,
        "metrics": [study.experiments[name]["metric"] for name in study.tables],
        "reductions": reductions(study),
        "committed": committed_evidence(),
        "hyperparameters": study.numbers,
        "logs": {cell.path: f"{R}/logs/train/{cell.path}.log" for cell in study.runs},
    }


def verified_run():
    """The run that `snakemake verify` trains again: the one of the day, or the number that the configuration gives."""
    alone = [cell for cell in study.runs if not study.needed_run(cell)]
    day = derive_seed("verify", date.today().isoformat())
    return alone[config.get("verify", day) % len(alone)].path
