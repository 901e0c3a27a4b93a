"""config/claims.yaml as claims, with every name checked before anything runs: a misspelt one would only make a claim
look untested. Nothing here imports pandas, because the Snakefile reads the claims in every job."""

import difflib
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from warlab import data, noise
from warlab.artefacts.claim import Claim
from warlab.config.models import ClaimEntry
from warlab.config.reading import check, check_known, read_yaml_file
from warlab.config.study import Study
from warlab.config.validate import check_method
from warlab.errors import WarlabError
from warlab.ids import base_method

FILE = "config/claims.yaml"
METHODS = ("method", "methods", "left", "right", "among")  # arguments of checks that name methods
AXES = ("datasets", "noises", "nets", "metrics")
METRICS = (
    "test_accuracy",
    "last",
    "best_on_test_diagnostic",
    "best_by_noisy_validation",
    "best_on_validation",
    "purity",
    "seconds_per_epoch",
)


def read_claims(path: Path) -> list[Claim]:
    """Return the claims in config/claims.yaml of a repository."""
    entries = read_yaml_file(path)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise WarlabError(f"{path} must be a list of claims.")
    return parse_claims(entries)


def parse_claims(entries: Iterable[Mapping[str, Any]]) -> list[Claim]:
    """Return each entry as a claim, if it follows the model and its id is the only one of its kind."""
    claims: dict[str, Claim] = {}
    for entry in entries:
        entry = check(entry, ClaimEntry, f"{FILE}, claim {entry.get('id', 'without id')}")
        if entry["id"] in claims:
            raise WarlabError(f"{FILE} has the claim {entry['id']!r} twice; give one of them another id.")
        usual = {"nets": ["cnn9"], "metrics": METRICS[:1]}
        blocks = [usual | block for block in entry.pop("settings", [])]
        settings = [one for block in blocks for one in product(*(block[axis] for axis in AXES))]
        text, arguments = entry.pop("claim"), entry.pop("with", {})
        claims[entry["id"]] = Claim(text=text, arguments=arguments, settings=tuple(settings), **entry)
    return list(claims.values())


def check_claims(claims: Iterable[Claim], study: Study) -> None:
    """Raise a WarlabError for the first name that does not exist, with the one that was probably meant."""
    for claim in claims:
        try:
            _check(claim, study)
        except WarlabError as error:
            raise WarlabError(f"{FILE}, claim {claim.id}: {error}") from error


def _check(claim: Claim, study: Study) -> None:
    if claim.experiment is not None:
        _known("experiment", [claim.experiment], study.experiments)
    if claim.settings:
        _check_settings(claim, study)
    named = [claim.arguments[key] for key in METHODS if key in claim.arguments]
    for method in [one for names in named for one in (names if isinstance(names, list) else [str(names)])]:
        if method not in study.labels["method"]:
            check_method(study.numbers, method)
    if "against" in claim.arguments:
        _known("method", [base_method(str(claim.arguments["against"]))], study.labels["method"])


def _check_settings(claim: Claim, study: Study) -> None:
    datasets, noises, nets, metrics = (dict.fromkeys(names) for names in zip(*claim.settings, strict=True))
    _known("dataset", datasets, data.names())
    _known("network", nets, study.numbers.nets)
    declared = [name for entry in study.experiments.values() for name in entry["noises"]]
    for name in noises:
        try:
            noise.parse(name)
        except WarlabError:
            _known("noise", [name], declared)
    measured = [one for entry in study.experiments.values() for one in (entry["metric"], *entry.get("metrics", []))]
    known = [*METRICS, *measured]
    # a method may log metrics of its own
    _known("metric", [one for one in metrics if difflib.get_close_matches(one, known, 1)], known)


def _known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    listed = list(dict.fromkeys(known))
    for name in names:
        check_known(name, listed, f"there is no {what} {name!r}")
