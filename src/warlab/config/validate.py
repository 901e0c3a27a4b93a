"""Mistakes in a study, each found before anything runs and told in one sentence."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warlab import data, methods, noise
from warlab.common.wording import short, suggest
from warlab.config.setting_rules import changed_setting
from warlab.errors import WarlabError
from warlab.ids import MethodId, Place

if TYPE_CHECKING:
    from warlab.config.study import Study
    from warlab.ids import RunId

Tree = dict[str, Any]
_METHOD_ID = re.compile(r"[A-Za-z0-9_+=.\-]+", re.ASCII)


def find_mistakes(study: "Study") -> None:
    """From the parts to the whole, so that what is asked of a later check is there."""
    settings_of = {name: list(methods.declaration(name).settings) for name in methods.names()}
    study.allowed.numbers(study.numbers, settings_of)
    for name in study.scale["experiments"]:
        if name not in study.experiments:
            known = suggest(name, list(study.experiments))
            raise WarlabError(f"Scale {study.name} asks for the experiment {name!r}; {known}")
    for name in study.scale["datasets"]:
        data.get(name)
    for section in ("training", "nets", "methods", "costs"):
        check_settings(study, section, study.scale.get(section, {}), f"scale {study.name}")
    for section, content in study.config.get("overrides", {}).items():
        check_settings(study, section, content, "overrides")
    _own_files(study)
    for name in study.scale["experiments"]:
        _experiment(study, name)
    if not study.runs and not study.timed:
        raise WarlabError(f"Scale {study.name} trains nothing: name a dataset of its experiments in its datasets.")
    for cell in {(cell.dataset, cell.noise, cell.method): cell for cell in study.runs}.values():
        _noise(study, cell)
        _cost(study, cell)
        _weights(study, cell)


def check_settings(study: "Study", section: str, content: Tree, where: str) -> None:
    """Names, keys and values that a scale or `overrides` gives."""
    for name, settings in content.items():
        known = study.numbers[section] | (study.numbers["variants"] if section == "methods" else {})
        base, special = (place := Place.parse(name)).dataset, place.special
        if base not in known:
            raise WarlabError(f"{where}: {section}.{name} does not exist; {suggest(name, list(known))}")
        if section == "training":
            _place(study, name, where)
        elif special and special not in study.numbers["training"]:
            known = suggest(special, list(study.numbers["training"]))
            raise WarlabError(f"{where}: {section}.{name} is of no dataset; {known}")
        file = study.method_file(base) if section == "methods" else base
        keys = list(study.numbers[section].get(file, {}) | study.numbers[section].get(name, {}))
        for key, value in settings.items():
            if key not in keys:
                raise WarlabError(f"{where}: {section}.{name} has no {key!r}; {suggest(key, keys)}")
            study.allowed.value(section, file, key, value, where)


def _place(study: "Study", place: str, where: str) -> None:
    """Behind the @ of a place stands a noise, a sort of noise or a method; under another name no run would find it."""
    special = Place.parse(place).special
    named = [*methods.names(), *study.numbers["variants"]]
    if not special or special in named or any(f"{kind}_".startswith(f"{special}_") for kind in noise.kind_names()):
        return
    try:
        noise.parse(special)
    except WarlabError as error:
        known = suggest(special, [*named, *noise.kind_names()])
        raise WarlabError(f"{where}: training.{place} is of no noise and no method; {known}") from error


def _own_files(study: "Study") -> None:
    """A name under which nothing is read is a typing error."""
    for name in study.config.get("local_data", {}):
        data.resource(name)
    for name in study.config.get("noise_files", {}):
        if "given" not in noise.needs(name):
            raise WarlabError(f"noise_files: {name!r} reads no file; allowed are file and file_<name>.")


def _experiment(study: "Study", name: str) -> None:
    timing = study.is_timing(name)
    if timing and name != "timing":
        raise WarlabError(f"experiments.yaml: {name}.kind is timing; allowed is that for the experiment timing alone.")
    cells = study.cells(name)
    for cell in {(cell.dataset, cell.noise, cell.net): cell for cell in cells}.values():
        _names(study, cell)
    for method in dict.fromkeys(cell.method for cell in cells if not timing):
        check_method(study, method)
    if timing:
        _timing(study)


def _names(study: "Study", cell: "RunId") -> None:
    noise.parse(cell.noise)
    for kind, name, section in (("dataset", cell.dataset, "training"), ("network", cell.net, "nets")):
        if name not in study.numbers[section]:
            known = suggest(name, list(study.numbers[section]))
            raise WarlabError(f"There is no {kind} {name!r} in {section} of hyperparameters.yaml; {known}")


def check_method(study: "Study", method_id: str) -> None:
    method = MethodId.parse(method_id)
    base, changes = method.base, method.changes
    known = [*methods.names(), *study.numbers["variants"]]
    if base not in known:
        raise WarlabError(f"There is no method {base!r}; {suggest(base, known)}")
    if not _METHOD_ID.fullmatch(method_id):
        raise WarlabError(f"The method {short(method_id)} is also a folder: letters, digits and +=._- are allowed.")
    file = study.method_file(base)
    for change in changes:
        key, value = changed_setting(change, method_id, list(methods.declaration(file).settings))
        study.allowed.value("methods", file, key, value, f"The method {method_id}")


def _timing(study: "Study") -> None:
    if "seeds" in study.scale["experiments"]["timing"]:
        raise WarlabError(f"Scale {study.name}: timing has no seeds, its steps are timed once; remove the line.")
    steps = study.experiments["timing"].get("steps", {}) | study.scale["experiments"]["timing"].get("steps", {})
    for cell in study.timed:
        if cell.dataset not in steps:
            raise WarlabError(f"experiments.yaml: timing.steps lacks {cell.dataset!r}; write how many steps are timed.")
        check_method(study, study.timed_as(cell.method))


def _noise(study: "Study", cell: "RunId") -> None:
    needed = noise.needs(cell.noise)
    noise.check(cell.noise, cell.dataset)
    if "given" in needed:
        _there(study, f"noise_files.{cell.noise}", study.noise_file(cell.noise))
    if "images" in needed and needed["images"] not in study.scale["datasets"]:
        raise WarlabError(
            f"The noise {cell.noise} takes images of {needed['images']}; add it to the datasets of the scale."
        )


def _cost(study: "Study", cell: "RunId") -> None:
    if (name := study.method(cell.method, cell.dataset, cell.noise).get("cost")) is not None:
        study.cost_key(cell)
        study.features(name, cell.dataset)
        for key, file in study.cost_files(name, cell.dataset).items():
            _there(study, f"costs.{name.partition('.')[0]}.{key}", file)


def _weights(study: "Study", cell: "RunId") -> None:
    weights = study.net(cell.net, cell.dataset).get("weights")
    if weights not in (None, "none", "imagenet"):
        _there(study, f"nets.{cell.net}.weights", weights)


def _there(study: "Study", setting: str, file: str) -> None:
    """A file of the user's; finished runs are reported without it."""
    if not study.config.get("runs_from") and not Path(file).is_file():
        raise WarlabError(f"{setting} names {file}, which is not there; correct the path.")
