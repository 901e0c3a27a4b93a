"""Checks of a study before anything runs. Each mistake ends in a WarlabError of one sentence."""

import re
from dataclasses import replace
from pathlib import Path
from typing import cast

from warlab import data, methods, nets, noise
from warlab.artefacts.ground_cost import read_matrix
from warlab.artefacts.run_config import Options
from warlab.common.wording import short, suggest
from warlab.config.models import KINDS, Layer, Section
from warlab.config.numbers import FILE, SECTIONS, Numbers
from warlab.config.plan import Plan
from warlab.config.reading import check_known, check_value, parse_changes
from warlab.config.settings import IMAGENET, Settings
from warlab.errors import WarlabError
from warlab.ids import MethodId, NoiseId, RunId, base_method, split_cost, split_place
from warlab.ot.cost_checks import check_cost

_METHOD_ID = re.compile(r"[A-Za-z0-9_+=.\-]+", re.ASCII)


def validate(plan: Plan) -> None:
    """Check a study from its parts to the whole: later checks rely on earlier ones."""
    settings = plan.settings
    check_numbers(settings.numbers)
    for name in plan.scale["experiments"]:
        check_known(name, plan.experiments, f"Scale {plan.name} asks for the experiment {name!r}")
    for name in plan.scale["datasets"]:
        data.get(name)
    for _, where, layer in settings.typed_layers():
        check_layer(settings.numbers, layer, where)
    for name in settings.config.get("local_data", {}):
        data.resource(name)
    for name in settings.config.get("noise_files", {}):
        if "given" not in noise.needs(name):
            raise WarlabError(f"noise_files: {name!r} reads no file; the name must be file or file_<name>.")
    for name in plan.scale["experiments"]:
        _check_experiment(plan, name)
    if not plan.runs and not plan.timed:
        raise WarlabError(f"Scale {plan.name} trains nothing: name a dataset of its experiments in its datasets.")
    for method in dict.fromkeys(run.method for run in plan.runs):  # those of `needs_run` are among them
        check_method(settings.numbers, method)
    _check_variants(plan)
    _check_spellings(plan)
    # one seed for each; the simplest check first, for all of them
    cells = {(cell.dataset, cell.noise, cell.net, cell.method): cell for cell in plan.runs}.values()
    for cell in cells:
        _check_samples(settings, cell)
    for cell in cells:
        _check_sections(plan, cell)
        _check_run(settings, cell)


# ---- numbers and settings


def check_numbers(numbers: Numbers) -> None:
    """Check the values, places and variants of hyperparameters.yaml and of the files of methods and networks."""
    for section, name, key, setting in numbers.each():
        what, kind = f"{section}.{name}.{key}", numbers.kind(section, name, key)
        if setting.source:  # otherwise it has values at places only
            check_value(what, kind, setting.value, FILE)
        for place, special in setting.places.items():
            _check_place(numbers, section, place, f"{FILE}: {what} at {place}")
            check_value(f"{what} at {place}", kind, special.value, FILE)
    for name, variant in numbers.variants.items():
        where, file = f"{FILE}, variants.{name}", variant["method"]
        check_known(file, numbers.methods, f"{where}: there is no method {file!r}")
        _check_changes(numbers, file, variant["settings"], where)


def check_layer(numbers: Numbers, layer: Layer, where: str) -> None:
    """Check the names, keys and values that a scale or `overrides` gives."""
    for section in SECTIONS:
        known = [*numbers.section(section), *(numbers.variants if section == "methods" else ())]
        for name, values in cast(Section, layer.get(section, {})).items():
            base, dataset = split_place(name)
            if section == "nets" and nets.file_of(base) != base:
                nets.check(base)
            else:
                check_known(base, known, f"{where}: {section}.{name} does not exist")
            if section == "training":
                _check_place(numbers, section, name, f"{where}: training.{name}")
            elif dataset is not None:
                _check_place(numbers, "", dataset, f"{where}: {section}.{name}")
            _check_values(numbers, section, name if section == "training" else base, values, where)


def _check_values(numbers: Numbers, section: str, name: str, values: Options, where: str) -> None:
    """Check the keys and values of a schedule, network, method, variant, cost or noise."""
    file = {"methods": numbers.method_file, "nets": nets.file_of}.get(section, str)(name)
    base, _ = split_place(file)
    for key, value in values.items():
        check_known(key, numbers.section(section).get(base, {}), f"{where}: {section}.{name} has no {key!r}")
        check_value(f"{section}.{base}.{key}", numbers.kind(section, base, key), value, where)


def _check_changes(numbers: Numbers, file: str, changes: Options, where: str) -> None:
    """Check what an id or a variant changes; that a dataset and a network have these settings is checked per run."""
    _check_values(numbers, "methods", file, {key: value for key, value in changes.items() if "." not in key}, where)
    of_nets = {key: numbers.kind("nets", net, key) for net, settings in numbers.nets.items() for key in settings}
    kinds = {"training": KINDS["training"], "net": {key: kind for key, kind in of_nets.items() if key != "weights"}}
    for key, value in changes.items():
        section, _, name = key.rpartition(".")
        if section:
            check_known(name, kinds[section], f"{where}: {section} has no {name!r}")
            check_value(key, kinds[section][name], value, where)


def _check_place(numbers: Numbers, section: str, place: str, what: str) -> None:
    """Check that a place is a dataset, or a dataset and what a value of this section may depend on besides it."""
    dataset, special = split_place(place)
    check_known(dataset, numbers.training, f"{what}: {dataset!r} is not a dataset")
    if special is None:
        return
    if section not in ("training", "methods"):
        raise WarlabError(f"{what}: the value depends on the dataset only; write {dataset} without @{special}.")
    in_training = section == "training"
    names = [*noise.kind_names(), *((*numbers.methods, *numbers.variants) if in_training else ())]
    if special not in names and not _is_noise(special):
        kinds = "a noise nor a method" if in_training else "a noise nor a kind of noise"
        raise WarlabError(f"{what}: {special!r} is neither {kinds}; {suggest(NoiseId.parse(special).kind, names)}")


def _is_noise(name: str) -> bool:
    """Return whether a name is a noise, such as asym-40, or a kind of noise, such as openset."""
    if name and any(f"{kind}_".startswith(f"{name}_") for kind in noise.kind_names()):
        return True
    try:
        noise.parse(name)
    except WarlabError:
        return False
    return True


# ---- experiments


def _check_experiment(plan: Plan, name: str) -> None:
    numbers, cells = plan.settings.numbers, plan.cells(name)
    for dataset, noise_id, net in dict.fromkeys(cell.cell[:3] for cell in cells):
        noise.parse(noise_id)
        check_known(dataset, numbers.training, f"There is no dataset {dataset!r} in training of {FILE}")
        nets.check(net)
    if plan.is_timing(name):
        _check_timing(plan, name)
    else:
        for method in dict.fromkeys(cell.method for cell in cells):
            check_method(numbers, method)


def check_method(numbers: Numbers, method_id: str) -> None:
    """Check that a method exists, and that the settings in its id do."""
    method = MethodId.parse(method_id)
    check_known(method.base, [*methods.names(), *numbers.variants], f"There is no method {method.base!r}")
    if not _METHOD_ID.fullmatch(method_id):
        raise WarlabError(f"The method {short(method_id)} is also a folder: it must be letters, digits and +=._- only.")
    file = numbers.method_file(method_id)
    _check_changes(numbers, file, parse_changes(method_id, numbers.methods[file]), f"The method {method_id}")


def _check_timing(plan: Plan, name: str) -> None:
    if name != "timing":
        raise WarlabError(f"experiments.yaml: {name}.kind is timing; only the experiment timing can have this kind.")
    if "seeds" in plan.scale["experiments"]["timing"]:
        raise WarlabError(f"Scale {plan.name}: timing has no seeds, its steps are timed once; remove the line.")
    for cell in plan.timed:
        if cell.dataset not in plan.timed_steps:
            raise WarlabError(f"experiments.yaml: timing.steps lacks {cell.dataset!r}; write how many steps are timed.")
        if data.get(cell.dataset).samples != "images" or not data.get(cell.dataset).images[0]:
            raise WarlabError(f"timing: {cell.dataset} is no set of images of a known number and size; leave it out.")
        timed = replace(cell, method=plan.timed_as(cell.method))
        check_method(plan.settings.numbers, timed.method)
        sections = plan.settings.explain(timed)
        for key, one in (*sections["training"].items(), *sections["nets"].items()):
            if one.layer == "id":
                raise WarlabError(
                    f"timing: {cell.method} changes {key}, but all methods are timed with one schedule and one "
                    "network; write it in a scale or in overrides."
                )


# ---- runs


def parse_run(numbers: Numbers, text: str) -> RunId:
    """Return a run from its id or its folder, if everything that it names exists."""
    try:
        run = RunId.parse(text)
    except ValueError as error:
        example = "dataset/noise/network/method/seed, such as fashion_mnist/asym-40/cnn9/war_w2v/seed0"
        raise WarlabError(f"{text!r} is not a run; write {example}.") from error
    data.get(run.dataset)
    noise.parse(run.noise)
    nets.check(run.net)
    check_method(numbers, run.method)
    return run


def _check_variants(plan: Plan) -> None:
    """Refuse a setting that does not reach a variant: `cost` of war, which war_w2v fixes, or `validation` at
    fashion_mnist@cce_early, which fixes training.validation."""
    variants = plan.settings.numbers.variants
    for name in dict.fromkeys(base_method(run.method) for run in plan.runs if base_method(run.method) in variants):
        file, fixed = variants[name]["method"], variants[name]["settings"]
        for _, where, layer in plan.settings.typed_layers():
            for section, prefix, part, owned in (("methods", "", 0, file), ("training", "training.", 1, name)):
                owners = cast(Section, layer.get(section, {}))
                for owner in (one for one in owners if split_place(one)[part] == owned):
                    for key in sorted(key for key in owners[owner] if prefix + key in fixed):
                        other = f"run {name}" if prefix else f"write it for methods.{name}, or run {file}"
                        raise WarlabError(
                            f"{where}: {section}.{owner}.{key} does not reach {name}, which is {file} with "
                            f"{prefix}{key}={fixed[prefix + key]}; {other}+{prefix}{key}={owners[owner][key]}."
                        )


def _check_spellings(plan: Plan) -> None:
    """Refuse two ids of one method, such as war_w2v+beta=5 and war_w2v+beta=5.0: both would be trained."""
    spelled: dict[str, str] = {}
    for method_id in dict.fromkeys(run.method for run in plan.runs):
        changes = parse_changes(method_id, plan.settings.numbers.methods[plan.settings.numbers.method_file(method_id)])
        numbers = {key: float(value) if type(value) is int else value for key, value in changes.items()}
        other = spelled.setdefault(f"{base_method(method_id)} {sorted(numbers.items())}", method_id)
        if other != method_id:
            raise WarlabError(f"The methods {other} and {method_id} are the same; write one of them everywhere.")


def _check_sections(plan: Plan, cell: RunId) -> None:
    """Check that the schedule and the network of a run have what the id of its method changes."""
    settings = plan.settings
    sections = settings.explain(cell)
    lengths = [sections["methods"][key] for key in ("epsilon", "relative_epsilon") if key in sections["methods"]]
    typed = [one.source for one in lengths if one.value is not None and one.layer in ("scale", "overrides", "id")]
    if len(typed) > 1:
        raise WarlabError(
            f"{cell.method} has an epsilon by {typed[0]} and a relative_epsilon by {typed[1]}, which takes its place; "
            "keep one of the two."
        )
    owners = {
        "training": (f"the schedule of {cell.dataset}", settings.numbers.training.get(cell.dataset, {})),
        "nets": (f"the network {cell.net}", settings.numbers.nets.get(nets.file_of(cell.net), {})),
    }
    for section, (owner, declared) in owners.items():
        for key, one in sections[section].items():
            if one.layer == "id" and key not in declared:
                needing = [f" (needed by {run.method})" for run in plan.runs if plan.needed_run(run) == cell]
                method = "".join([cell.method, *needing[:1]])
                raise WarlabError(f"{method} changes {key}, which {owner} does not have; choose another method.")
    training = settings.training(cell.dataset, cell.noise, cell.method)
    if training.get("keep") == "best_validation" and not training.get("validation"):
        raise WarlabError(f"{cell}: keep is best_validation, but nothing is held out; set `validation` above 0.")
    if training.get("augmentation", "none") != "none" and data.get(cell.dataset).samples not in ("images", "stored"):
        raise WarlabError(f"{cell.dataset} has no images to augment; set `augmentation` of its training to none.")


def _check_samples(settings: Settings, cell: RunId) -> None:
    """Check that the network and the method of a run are for the samples of its dataset, images or pixels of tiles."""
    tiles = data.get(cell.dataset).samples == "tiles"
    if nets.makes_maps(cell.net) != tiles:
        others = [name for name in nets.trainable() if nets.makes_maps(name) == tiles]
        wrong, right = ("single samples", "tiles") if tiles else ("tiles", "single samples")
        raise WarlabError(
            f"The network {cell.net} is for {wrong}, but {cell.dataset} has {right}; choose from {', '.join(others)}."
        )
    chosen = settings.method(cell.method, cell.dataset, cell.noise)
    if tiles and methods.declaration(settings.numbers.method_file(cell.method)).refuses_tiles(chosen):
        raise WarlabError(
            f"The method {cell.method} with these settings is for single samples, but {cell.dataset} has tiles; "
            "choose another method."
        )


def _check_run(settings: Settings, cell: RunId) -> None:
    noise.check(cell.noise, cell.dataset)
    images = noise.needs(cell.noise).get("images")
    if images and images not in settings.scale["datasets"]:
        raise WarlabError(f"The noise {cell.noise} takes images of {images}; add it to the datasets of the scale.")
    settings.cost_key(cell)
    files = {f"noise_files.{cell.noise}": settings.noise_file(cell.noise)} if "given" in noise.needs(cell.noise) else {}
    if (cost := settings.cost_name(cell)) is not None:
        given = settings.cost_files(cost, cell.dataset)
        files |= {f"costs.{split_cost(cost)[0]}.{key}": file for key, file in given.items()}
    weights = settings.weights(cell.net, cell.dataset)
    if weights == IMAGENET and nets.file_of(cell.net) != cell.net:
        raise WarlabError(
            f"nets.{cell.net}.weights: nothing is fetched for this network; save its weights in a file and name that."
        )
    if weights not in (None, IMAGENET):
        files[f"nets.{cell.net}.weights"] = str(weights)
    for setting, file in files.items():
        if not settings.config.get("runs_from") and not Path(file).is_file():  # finished runs are reported without it
            raise WarlabError(f"{setting} names {file}, which does not exist; correct the path.")
    if cost is not None and settings.cost_kind(cost, cell.dataset) == "file":
        for path in filter(Path.is_file, map(Path, settings.cost_files(cost, cell.dataset).values())):
            names = data.get(cell.dataset).classes.names or None  # None: of own images, not yet known
            check_cost(read_matrix(path, names), str(path))
