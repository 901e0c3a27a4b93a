"""Mistakes in a study, each found before anything runs and told in one sentence."""

import re
from pathlib import Path
from typing import Any, cast

from warlab import data, methods, noise
from warlab.artefacts.run_config import Options
from warlab.common.setting import Rule
from warlab.common.wording import short, suggest
from warlab.config.entries import Section
from warlab.config.numbers import FILE, SECTIONS, Numbers
from warlab.config.plan import Plan
from warlab.config.reading import check_known, problem
from warlab.config.settings import IMAGENET, Settings, changed_setting
from warlab.errors import WarlabError
from warlab.ids import MethodId, NoiseId, RunId, split_place

_METHOD_ID = re.compile(r"[A-Za-z0-9_+=.\-]+", re.ASCII)


def validate(plan: Plan) -> None:
    """From the parts to the whole, so that what is asked of a later check is there."""
    settings, where = plan.settings, f"scale {plan.name}"
    check_numbers(settings.numbers)
    for name in plan.scale["experiments"]:
        check_known(name, plan.experiments, f"Scale {plan.name} asks for the experiment {name!r}")
    for name in plan.scale["datasets"]:
        data.get(name)
    for section in SECTIONS:
        for layer, of in ((plan.scale, where), (settings.config.get("overrides", {}), "overrides")):
            check_settings(settings.numbers, section, cast(Section, layer.get(section, {})), of)
    _user_files(settings)
    for name in plan.scale["experiments"]:
        _experiment(plan, name)
    if not plan.runs and not plan.timed:
        raise WarlabError(f"Scale {plan.name} trains nothing: name a dataset of its experiments in its datasets.")
    for cell in {(cell.dataset, cell.noise, cell.method): cell for cell in plan.runs}.values():
        _noise(settings, cell)
        _cost(settings, cell)
        _weights(settings, cell)


# ---- numbers and settings


def check_numbers(numbers: Numbers) -> None:
    """Values, places and variants of hyperparameters.yaml and of the files of methods and networks."""
    for section, name, key, setting in numbers.each():
        check_value(f"{section}.{name}.{key}", setting.rule, setting.value, FILE)
        for place, at in setting.places.items():
            names = noise.kind_names() if section == "methods" else []
            what = f"{FILE}: {section}.{name}.{key} at {place}"
            _check_place(numbers, place, what, names, "a noise nor a sort of noise")
            check_value(f"{section}.{name}.{key} at {place}", setting.rule, at.value, FILE)
    for place in numbers.training:
        _training_place(numbers, place, FILE)
    for name, variant in numbers.variants.items():
        where, file = f"{FILE}, variants.{name}", variant["method"]
        check_known(file, numbers.methods, f"{where}: there is no method {file!r}")
        _values(numbers, "methods", file, variant["settings"], where)


def check_settings(numbers: Numbers, section: str, content: Section, where: str) -> None:
    """Names, keys and values that a scale or `overrides` gives."""
    for name, given in content.items():
        base, special = split_place(name)
        known = [*numbers.section(section), *(numbers.variants if section == "methods" else ())]
        check_known(base, known, f"{where}: {section}.{name} does not exist")
        if section == "training":
            _training_place(numbers, name, where)
        elif special:
            _check_place(numbers, special, f"{where}: {section}.{name}", [], "")
        _values(numbers, section, name if section == "training" else base, given, where)


def _values(numbers: Numbers, section: str, name: str, given: Options, where: str) -> None:
    """Keys and values that are given to a schedule, network, method, variant, cost or noise."""
    file = numbers.method_file(name) if section == "methods" else name
    base, _ = split_place(file)
    known = numbers.section(section).get(base, {}) | numbers.section(section).get(file, {})
    for key, value in given.items():
        check_known(key, known, f"{where}: {section}.{name} has no {key!r}")
        check_value(f"{section}.{base}.{key}", known[key].rule, value, where)


def check_value(name: str, rule: Rule | None, value: Any, where: str) -> None:
    """A WarlabError that names the setting, its value and what it must be, unless that is so."""
    if found := problem(value, rule or {}, name):
        raise WarlabError(f"{where}: {found}")


def _training_place(numbers: Numbers, place: str, where: str) -> None:
    names = [*noise.kind_names(), *numbers.methods, *numbers.variants]
    _check_place(numbers, place, f"{where}: training.{place}", names, "a noise nor a method")


def _check_place(numbers: Numbers, place: str, what: str, names: list[str], kinds: str) -> None:
    """A place is a dataset, or a dataset with one of these names or with a noise; no run would find another one."""
    datasets = [name for name in numbers.training if "@" not in name]
    dataset, special = split_place(place)
    check_known(dataset, datasets, f"{what}: {dataset!r} is not a dataset")
    if "@" in place and not names:
        raise WarlabError(f"{what}: the value depends on the dataset only; write {dataset} without @{special}.")
    if "@" in place and special not in names and not _is_noise(special):
        raise WarlabError(f"{what}: {special!r} is neither {kinds}; {suggest(NoiseId.parse(special).kind, names)}")


def _is_noise(name: str) -> bool:
    """Whether it is a noise, such as asym-40, or a sort of noise, such as openset."""
    if name and any(f"{kind}_".startswith(f"{name}_") for kind in noise.kind_names()):
        return True
    try:
        noise.parse(name)
    except WarlabError:
        return False
    return True


# ---- experiments


def _user_files(settings: Settings) -> None:
    """A name under which nothing is read is a typing error."""
    for name in settings.config.get("local_data", {}):
        data.resource(name)
    for name in settings.config.get("noise_files", {}):
        if "given" not in noise.needs(name):
            raise WarlabError(f"noise_files: {name!r} reads no file; the name must be file or file_<name>.")


def _experiment(plan: Plan, name: str) -> None:
    timing = plan.is_timing(name)
    if timing and name != "timing":
        raise WarlabError(f"experiments.yaml: {name}.kind is timing; only the experiment timing can have this kind.")
    cells = plan.cells(name)
    for cell in {(cell.dataset, cell.noise, cell.net): cell for cell in cells}.values():
        _names(plan.settings.numbers, cell)
    for method in dict.fromkeys(cell.method for cell in cells if not timing):
        check_method(plan.settings.numbers, method)
    if timing:
        _timing(plan)


def _names(numbers: Numbers, cell: RunId) -> None:
    noise.parse(cell.noise)
    check_known(cell.dataset, numbers.training, f"There is no dataset {cell.dataset!r} in training of {FILE}")
    check_known(cell.net, numbers.nets, f"There is no network {cell.net!r}")


def check_method(numbers: Numbers, method_id: str) -> None:
    method = MethodId.parse(method_id)
    check_known(method.base, [*methods.names(), *numbers.variants], f"There is no method {method.base!r}")
    if not _METHOD_ID.fullmatch(method_id):
        raise WarlabError(f"The method {short(method_id)} is also a folder: it must be letters, digits and +=._- only.")
    file = numbers.method_file(method.base)
    changes = [changed_setting(change, method_id, list(numbers.methods[file])) for change in method.changes]
    _values(numbers, "methods", file, dict(changes), f"The method {method_id}")


def _timing(plan: Plan) -> None:
    if "seeds" in plan.scale["experiments"]["timing"]:
        raise WarlabError(f"Scale {plan.name}: timing has no seeds, its steps are timed once; remove the line.")
    for cell in plan.timed:
        if cell.dataset not in plan.timed_steps:
            raise WarlabError(f"experiments.yaml: timing.steps lacks {cell.dataset!r}; write how many steps are timed.")
        check_method(plan.settings.numbers, plan.timed_as(cell.method))


# ---- runs


def _noise(settings: Settings, cell: RunId) -> None:
    needed = noise.needs(cell.noise)
    noise.check(cell.noise, cell.dataset)
    if "given" in needed:
        _check_file(settings, f"noise_files.{cell.noise}", settings.noise_file(cell.noise))
    if "images" in needed and needed["images"] not in settings.scale["datasets"]:
        raise WarlabError(
            f"The noise {cell.noise} takes images of {needed['images']}; add it to the datasets of the scale."
        )


def _cost(settings: Settings, cell: RunId) -> None:
    if (name := settings.cost_name(cell)) is not None:
        settings.cost_key(cell)
        settings.features(name, cell.dataset)
        for key, file in settings.cost_files(name, cell.dataset).items():
            _check_file(settings, f"costs.{name.partition('.')[0]}.{key}", file)


def _weights(settings: Settings, cell: RunId) -> None:
    weights = settings.weights(cell.net, cell.dataset)
    if weights not in (None, IMAGENET):
        _check_file(settings, f"nets.{cell.net}.weights", weights)


def _check_file(settings: Settings, setting: str, file: str) -> None:
    """A file of the user's; finished runs are reported without it."""
    if not settings.config.get("runs_from") and not Path(file).is_file():
        raise WarlabError(f"{setting} names {file}, which does not exist; correct the path.")
