"""config/claims.yaml as claims, with every name checked before anything runs: a misspelt one would only make a claim
look untested. Nothing here imports pandas, because the Snakefile reads the claims in every job."""

import difflib
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from warlab import data, nets, noise
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
        check_known(claim.experiment, study.experiments, f"there is no experiment {claim.experiment!r}")
    named = [claim.arguments[key] for key in METHODS if key in claim.arguments]
    for method in [one for names in named for one in (names if isinstance(names, list) else [str(names)])]:
        if method not in study.labels["method"]:
            check_method(study.numbers, method)
    if "against" in claim.arguments:
        other = base_method(str(claim.arguments["against"]))
        check_known(other, study.labels["method"], f"there is no method {other!r}")
    entries = study.experiments.values()
    noises = [name for entry in entries for name in entry["noises"]]
    measured = dict.fromkeys([*METRICS, *(one for e in entries for one in (e["metric"], *e.get("metrics", [])))])
    for dataset, noise_id, net, metric in claim.settings:
        check_known(dataset, data.names(), f"there is no dataset {dataset!r}")
        nets.check(net)
        try:
            noise.parse(noise_id)
        except WarlabError:
            check_known(noise_id, dict.fromkeys(noises), f"there is no noise {noise_id!r}")
        if difflib.get_close_matches(metric, measured, 1):  # a method may log metrics of its own
            check_known(metric, measured, f"there is no metric {metric!r}")
