"""config/claims.yaml: read, and every name in it checked before anything runs, since a misspelt one would only make a
claim look untested. Nothing here imports pandas: the Snakefile reads it in every job."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from warlab import data, noise
from warlab.config.reading import check_known
from warlab.config.study import Study
from warlab.config.validate import check_method
from warlab.errors import WarlabError
from warlab.ids import base_method

Entry = Mapping[str, Any]
KEYS = ("id", "claim", "source", "check", "experiment", "settings", "exceptions", "with", "remark")
SOURCES = ("paper", "found", "ours")
SETTINGS = ("datasets", "noises", "nets", "metrics")
METHODS = ("method", "methods", "left", "right", "among")  # arguments of checks that name methods
METRICS = (
    "test_accuracy",
    "last",
    "best_on_test_diagnostic",
    "best_by_noisy_validation",
    "best_on_validation",
    "purity",
    "seconds_per_epoch",
)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_entries(path: Path) -> list[dict[str, Any]]:
    """The claims as they are written; lists of methods may be shared by anchors."""
    try:
        entries = yaml.load(path.read_text(), Loader=_LOADER)
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise WarlabError(f"{path} cannot be read as YAML ({' '.join(str(error).split())}); mend it.") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise WarlabError(f"{path} must be a list of claims, each with the keys {', '.join(KEYS)}.")
    return entries


def check_entries(entries: Iterable[Entry], study: Study) -> None:
    """A WarlabError for the first name that does not exist, with the one that was probably meant."""
    for entry in entries:
        try:
            _check(entry, study)
        except WarlabError as error:
            raise WarlabError(f"config/claims.yaml, claim {entry.get('id', 'without id')}: {error}") from error


def _check(entry: Entry, study: Study) -> None:
    _known("key", entry, KEYS)
    if absent := [key for key in ("id", "claim", "source", "check") if key not in entry]:
        raise WarlabError(f"the key {absent[0]!r} is missing; add it.")
    _known("source", [entry["source"]], SOURCES)
    _known("experiment", [entry["experiment"]] if "experiment" in entry else [], study.experiments)
    given = entry.get("settings", [])
    for block in [given] if isinstance(given, Mapping) else given:
        _check_settings(block, study)
    arguments = entry.get("with", {})
    named = [arguments[key] for key in METHODS if key in arguments]
    for method in [one for names in named for one in ([names] if isinstance(names, str) else names)]:
        if method not in study.labels["method"]:
            check_method(study.numbers, method)
    if "against" in arguments:  # the beginning of several ids, such as war_random+
        _known("method", [base_method(arguments["against"])], study.labels["method"])


def _check_settings(block: Mapping[str, list[str]], study: Study) -> None:
    _known("key of settings", block, SETTINGS)
    for key in ("datasets", "noises"):
        if key not in block:
            raise WarlabError(f"settings lacks the key {key!r}; add it.")
    _known("dataset", block["datasets"], data.names())
    _known("network", block.get("nets", []), study.numbers.nets)
    known = [name for entry in study.experiments.values() for name in entry["noises"]]
    for name in block["noises"]:
        try:
            noise.parse(name)
        except WarlabError:
            _known("noise", [name], known)
    measured = [one for entry in study.experiments.values() for one in (entry["metric"], *entry.get("metrics", []))]
    for metric in block.get("metrics", []):
        names = [*METRICS, *measured]
        if metric not in names and difflib.get_close_matches(metric, names, 1):  # a method may log others
            _known("metric", [metric], names)


def _known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    listed = list(dict.fromkeys(known))
    for name in names:
        check_known(name, listed, f"there is no {what} {name!r}")
