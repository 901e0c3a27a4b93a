"""What a run depends on before it reads a file: the code of all its jobs, and what its input files are made from."""

from dataclasses import asdict
from functools import cache
from pathlib import Path

from warlab import data, noise
from warlab.artefacts.run_config import Options
from warlab.common.cache import remembered_digest
from warlab.config.study import Study
from warlab.ids import RunId
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.ot import costs
from warlab.pipeline.digests import module_digests
from warlab.pipeline.sources import user_files_digest

_module_digests = cache(module_digests)  # planning asks for every job


def code_of_run(study: Study, root: Path, run: RunId) -> dict[str, str]:
    """Return the digests of all code that a run depends on: that of its training, and that of its data, noise and
    ground cost, since Snakemake trains again what reads a file that is made again."""
    needs, settings = noise.needs(run.noise), study.settings
    datasets = [data.module(name) for name in (run.dataset, needs.get("images"), needs.get("human")) if name]
    method = METHODS.module(study.numbers.method_file(run.method))
    jobs = {
        "train": [method, NETS.module(run.net), f"warlab.engine.{data.get(run.dataset).samples}"],
        "fetch": datasets,
        "prepare": datasets,
        "corrupt": [noise.module(run.noise)],
    }
    if cost := settings.cost_name(run):
        jobs["cost"] = [costs.module(settings.cost_kind(cost, run.dataset))]
        if features := settings.features(cost, run.dataset):
            network = features.rsplit("-", 1)[0]
            jobs["features"] = [*datasets, NETS.module(network), data.module(network)]
    if study.plan.needed_run(run):
        jobs["predict"] = []
    digests: dict[str, str] = {}
    for script, modules in jobs.items():
        digests |= _module_digests(root / "workflow" / "scripts" / f"{script}.py", *modules)
    return dict(sorted(digests.items()))


def sources_of_run(study: Study, run: RunId) -> dict[str, Options]:
    """Return the settings and the checksums of the user's files that data, noise and ground cost are made from."""
    settings, needs = study.settings, noise.needs(run.noise)
    own = user_files_digest(study, run.dataset)
    files = {role: settings.noise_file(name) for role, name in needs.items() if role not in ("images", "human")}
    sources = {
        "data": asdict(settings.data_spec(run.dataset)) | ({"files_sha256": own} if own else {}),
        "noise": settings.noise(run.noise, run.dataset) | _checksums(files),
    }
    if "images" in needs:
        sources["images"] = asdict(settings.data_spec(needs["images"]))
    if cost := settings.cost_name(run):
        sources["cost"] = settings.cost(cost, run.dataset) | _checksums(settings.cost_files(cost, run.dataset))
    return sources


def _checksums(files: dict[str, str]) -> Options:
    return {f"{role}_sha256": remembered_digest(Path(path)) for role, path in files.items()}
