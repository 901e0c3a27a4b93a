"""What a study fetches from outside: datasets, human labels and weights of networks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warlab import data, noise
from warlab.common.cache import remembered_digest
from warlab.config.settings import IMAGENET
from warlab.config.study import Study
from warlab.data.in_place import POINTER, content_digest, points_to
from warlab.ids import RunId
from warlab.pipeline.paths import Paths


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
