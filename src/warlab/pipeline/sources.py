"""What the results of a study are made from: datasets, human labels, weights of networks, the user's files, code."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from warlab import data, noise
from warlab.artefacts.run_config import Options
from warlab.common.cache import remembered_digest
from warlab.config.settings import IMAGENET
from warlab.config.study import Study
from warlab.data.in_place import POINTER, content_digest, points_to
from warlab.ids import RunId
from warlab.methods import METHODS
from warlab.nets import NETS
from warlab.ot import costs
from warlab.pipeline.digests import module_digests
from warlab.pipeline.paths import Paths

_module_digests = cache(module_digests)  # planning asks for every job


@dataclass(frozen=True, order=True)
class Source:
    """A dataset or another resource, and its form: embedded, stand_in or real."""

    name: str
    source: str
    content: str | None = None  # of the user's own files

    @property
    def folder(self) -> str:
        """Folder of the receipt: the user's files have one for each content, so that studies do not disturb each
        other, and files that are touched, copied or moved are not new."""
        return f"{self.source}-{self.content}" if self.content else self.source


def list_sources(study: Study) -> list[Source]:
    """Return everything that `snakemake data` fetches and `warlab doctor` looks for."""
    others = {pair for run in study.plan.runs for pair in _others(study, run)}
    return sorted(
        {find_source(study, name) for name in datasets(study)} | {find_source(study, *pair) for pair in others}
    )


def datasets(study: Study) -> list[str]:
    """Return the datasets that are prepared: those of the runs, and those whose images open-set noise inserts."""
    noises = {run.noise for run in study.plan.runs}
    inserted = {needs["images"] for needs in map(noise.needs, noises) if "images" in needs}
    return sorted({run.dataset for run in study.plan.runs} | inserted)


def _others(study: Study, run: RunId) -> Iterator[tuple[str, str]]:
    """Yield the human labels and pre-trained networks that a run needs, each after the dataset that it belongs to."""
    needs = noise.needs(run.noise)
    if "human" in needs:
        yield run.dataset, needs["human"]
    if study.settings.weights(run.net, run.dataset) == IMAGENET:
        yield run.dataset, run.net
    cost = study.settings.cost_name(run)
    if cost and (features := study.settings.features(cost, run.dataset)):
        for dataset in {run.dataset, needs.get("images", run.dataset)}:
            yield dataset, features.rsplit("-", 1)[0]


def find_source(study: Study, dataset: str, other: str | None = None) -> Source:
    """Return a dataset, or another resource that belongs to it; beside a stand-in that is also a stand-in, so that
    nothing has to be downloaded."""
    source = study.settings.data_spec(dataset).source
    if other is not None:
        return Source(other, "stand_in" if source == "stand_in" else "real")
    return Source(dataset, source, user_files_digest(study, dataset))


def user_files_digest(study: Study, dataset: str) -> str | None:
    """Return the first digits of the checksum of the files that the user keeps in place; None for other datasets, and
    where no file is."""
    local = study.config.get("local_data", {}).get(dataset)
    if study.settings.data_spec(dataset).source != "real" or not local:
        return None
    return _files_digest(dataset, Path(local), Path(Paths.of(study).raw) / dataset)


@cache
def _files_digest(dataset: str, local: Path, raw: Path) -> str | None:
    """Look at every file once, although planning asks for every job. Files on a disk that is not mounted are taken for
    those that were last fetched from there, so that results can be used without them."""
    if content := content_digest(data.resource(dataset), local, remembered_digest):
        return content[:12]
    fetched = [folder for folder in raw.glob("real-*") if points_to(folder, local)]
    fetched.sort(key=lambda folder: (folder / POINTER).stat().st_mtime_ns)
    return fetched[-1].name.removeprefix("real-") if fetched else None


def gated(name: str) -> bool:
    """Return whether no program can download it: users get it from its owners and name the folder in local_data."""
    resource = data.resource(name)
    return not resource.packages and not any(source.addresses for source in resource.sources)


# ---- what a run depends on before it reads a file


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
