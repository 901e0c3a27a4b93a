"""From raw files to the arrays that everything later reads, and a description of them."""

from collections.abc import Mapping
from pathlib import Path

from warlab.artefacts.prepared_data import PreparedData
from warlab.data.base import Dataset, DataSpec
from warlab.data.check import wrong_embedded, wrong_sources
from warlab.errors import WarlabError


def prepare(dataset: Dataset, raw_root: Path, settings: Mapping[str, object], threads: int = 1) -> PreparedData:
    """Read, check and take the part that `settings`, the fields of a `DataSpec`, ask for."""
    spec, root = DataSpec.of(settings), Path(raw_root)
    # Never call something real that is not: a stand-in in the wrong folder stops here.
    wrong: list[str] = []
    if spec.source == "real":
        wrong = [entry.file for entry in wrong_sources(dataset, root)]
    elif spec.source == "embedded":
        wrong = wrong_embedded(dataset, root)
    if wrong:
        raise WarlabError(
            f"{', '.join(wrong)} in {root} are not the {spec.source} files of {dataset.title}; fetch them again."
        )
    if spec.size is not None and not dataset.resizes:
        raise WarlabError(f"`size` is for your own images; {dataset.title} is made smaller by `pool`.")
    return dataset.prepare(root, spec, threads)
