"""From raw files to the four arrays that everything later reads, and a description of them."""

from importlib import import_module
from pathlib import Path
from typing import Any

from warlab.common.files import digest
from warlab.data.base import Arrays, Dataset, choose, pool, subset, subset_seed, validate
from warlab.data.check import wrong_embedded, wrong_sources
from warlab.data.user_data import described
from warlab.errors import WarlabError

_SENTENCES = {
    "embedded": "embedded subset of {title}",
    "stand_in": "procedural stand-in for {title}",
    "real": "{title}, official files",
}
_OWN = "the user's own data"
_KEYS = {"source", "train", "test", "pool", "size"}


def prepare(dataset: Dataset, raw_root: Path, spec: dict[str, Any], threads: int = 1) -> tuple[Any, dict[str, Any]]:
    """Read, check, take the stratified subset and pool, as `spec` says (train or test None: all of it).

    Arrays and their description; of tiles, TileArrays.
    """
    _check_spec(spec)
    raw_root = Path(raw_root)
    _check_files(dataset, raw_root, spec["source"])
    if dataset.tiles is not None:
        # By name, as the data set's own module imports it: a change there prepares no images anew.
        arrays, meta = import_module("warlab.data.formats.tiles").prepare_tiles(dataset, raw_root, spec)
        return arrays, meta
    if dataset.prepare is not None:
        return dataset.prepare(dataset, raw_root, spec, threads)
    dataset, arrays, files = _read(dataset, raw_root, spec.get("size"))
    validate(arrays, len(dataset.class_names))
    _check_counts(dataset, arrays, spec["source"])
    kept = choose(arrays.train_y, spec.get("train"), subset_seed(dataset.name), "training")
    arrays = subset(arrays, spec.get("train"), spec.get("test"), subset_seed(dataset.name))
    arrays = pool(arrays, spec.get("pool", 1))
    # Not among the arrays: a name changes no training.
    named = {"train_files": [files[number] for number in kept]} if files else {}
    return arrays, _describe(dataset, arrays, spec["source"]) | named


def _read(dataset: Dataset, root: Path, size: int | None) -> tuple[Dataset, Arrays, tuple[str, ...]]:
    """The user's own data say which classes they have when they are read."""
    if dataset.read is not None:
        own = dataset.read(root, size)
        validate(own.arrays, len(own.names))
        return described(dataset, own), own.arrays, own.files
    if size is not None:
        raise WarlabError(f"`size` is for images of one's own; {dataset.title} is made smaller by `pool`.")
    return dataset, dataset.load(root), ()


def _check_spec(spec: dict[str, Any]) -> None:
    unknown = set(spec) - _KEYS
    if unknown:
        raise WarlabError(f"Unknown data settings {', '.join(sorted(unknown))}; there are {', '.join(sorted(_KEYS))}.")
    if spec.get("source") not in _SENTENCES:
        raise WarlabError(f"There is no data source {spec.get('source')!r}; choose one of: {', '.join(_SENTENCES)}.")


def _check_files(dataset: Dataset, root: Path, source: str) -> None:
    """Never call something real that is not: a stand-in in the wrong folder stops here."""
    wrong: list[str] = []
    if source == "real":
        wrong = [entry.file for entry in wrong_sources(dataset, root)]
    if source == "embedded":
        wrong = wrong_embedded(dataset, root)
    if wrong:
        raise WarlabError(
            f"{', '.join(wrong)} in {root} are not the {source} files of {dataset.title}; fetch them again."
        )


def _check_counts(dataset: Dataset, arrays: Arrays, source: str) -> None:
    """The official data have a known number of images; where the owners publish no checksums this tells a part of
    them, or a stand-in, from the whole. Of the user's own data nothing is known."""
    found = (len(arrays.train_y), len(arrays.test_y))
    if source == "real" and dataset.read is None and found != dataset.images:
        raise WarlabError(
            f"{dataset.title} has {dataset.images[0]} training and {dataset.images[1]} test images, but the files have "
            f"{found[0]} and {found[1]}; get all of them from {dataset.homepage}."
        )


def _describe(dataset: Dataset, arrays: Arrays, source: str) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "data": "stand-in" if source == "stand_in" else "real",
        "source": _OWN if dataset.read and source == "real" else _SENTENCES[source].format(title=dataset.title),
        "class_names": list(dataset.class_names),
        "words": list(dataset.words),
        "mean": list(dataset.mean),
        "std": list(dataset.std),
        "n_train": len(arrays.train_y),
        "n_test": len(arrays.test_y),
        "shape": list(arrays.train_x.shape[1:]),
        "sha256": {name: digest(array) for name, array in vars(arrays).items()},
        "licence": dataset.licence,
    }
