"""An edit of the code reruns the jobs whose numbers can change, and no others."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from warlab import methods
from warlab.pipeline import fingerprint as module
from warlab.pipeline.fingerprint import INERT, fingerprint
from warlab.pipeline.fingerprint import ROOT as PACKAGE
from warlab.reporting import figures

SCRIPTS = ROOT / "workflow" / "scripts"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("edited") / "warlab"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "assets"))
    return copy


@pytest.fixture
def package(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of src/warlab whose edits end with the test."""
    before = {file: file.read_text() for file in copied.rglob("*.py")}
    monkeypatch.setattr(module, "ROOT", copied)
    yield copied
    for file in copied.rglob("*.py"):
        if file not in before:
            file.unlink()
    for file, text in before.items():
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, f"{file.name} does not have {old!r}: choose another example"
    file.write_text(text.replace(old, new))


def trainings() -> dict[str, str]:
    """Method → fingerprint of its trainings, as the rule makes it."""
    common = ("warlab.nets.cnn9", "warlab.engine.images")
    return {name: fingerprint(SCRIPTS / "train.py", f"warlab.methods.{name}", *common) for name in methods.names()}


def changed(prints: Callable[[], dict[str, str]], file: Path, old: str, new: str) -> set[str]:
    before = prints()
    edit(file, old, new)
    return {name for name, value in prints().items() if value != before[name]}


OTHER_WORDS = {
    "common/files.py": [("indent=2", "indent=4"), ("cannot be read as JSON", "is no JSON")],
    "common/progress.py": [("remaining {duration", "left {duration")],
    "engine/run.py": [
        ("another process has finished", "somebody else has finished"),
        ("s/epoch  remaining", "seconds per epoch, left"),
    ],
    "engine/train.py": [("resumed from", "goes on from"), ("is not a finite number in epoch", "is infinite in epoch")],
    "engine/build.py": [("are not given.", "are missing."), ("The optimiser must be", "An optimiser is")],
    "methods/war.py": [("mean losses of its last two epochs", "the last losses")],
    "methods/backward.py": [("uses its pseudo-inverse", "takes the pseudo-inverse")],
    "ot/sinkhorn.py": [('"""\n\n', 'In other words.\n"""\n\n')],
}


@pytest.mark.parametrize(
    ("file", "old", "new"), [(file, *words) for file, several in OTHER_WORDS.items() for words in several]
)
def test_other_words_or_another_layout_of_files_train_nothing(package: Path, file: str, old: str, new: str) -> None:
    assert changed(trainings, package / file, old, new) == set()


def test_a_module_of_reporting_with_another_name_trains_nothing(package: Path) -> None:
    before = trainings()
    old = next(file for file in sorted((package / "reporting" / "stats").glob("*.py")) if file.stem != "__init__")
    old.rename(old.with_name("renamed.py"))
    for file in package.rglob("*.py"):
        if f"stats.{old.stem} " in file.read_text():
            edit(file, f"stats.{old.stem} ", "stats.renamed ")
    assert trainings() == before


ALL = set(methods.names())


@pytest.mark.parametrize(
    ("file", "old", "new", "retrained"),
    [
        ("common/seeds.py", ">> 1", ">> 2", ALL),
        ("engine/train.py", 'derive_seed("step"', 'derive_seed("steps"', ALL),
        ("engine/build.py", "0.999", "0.99", ALL),
        ("engine/build.py", 'derive_seed("network"', 'derive_seed("net"', ALL),
        ("engine/device.py", "cudnn.benchmark = False", "cudnn.benchmark = True", ALL),
        ("engine/train.py", "accuracy[-1]", "accuracy[-2]", ALL),
        ("nets/_layers.py", "BatchNorm2d", "InstanceNorm2d", ALL),
        ("war/adversarial.py", "torch.randn_like", "torch.rand_like", {"ar", "tv", "war"}),
        ("ot/sinkhorn.py", "1e-18", "1e-17", {"war"}),
        ("methods/coteaching_plus.py", "EARLY = 5000", "EARLY = 4000", {"coteaching_plus"}),
        ("methods/backward.py", "1e3", "1e4", {"backward"}),
        ("war/tv.py", "0.5 *", "0.6 *", {"tv"}),
        ("war/ar.py", "(clean, adversarial) if", "(adversarial, clean) if", {"ar"}),
        ("methods/_selection.py", "MOST = 0.9", "MOST = 0.8", {"coteaching", "coteaching_plus", "jocor"}),
        ("methods/war.py", "self.epsilon /= 10", "self.epsilon /= 5", {"war"}),
    ],
)
def test_another_number_trains_exactly_the_methods_that_use_it(
    package: Path, file: str, old: str, new: str, retrained: set[str]
) -> None:
    assert changed(trainings, package / file, old, new) == retrained


def test_an_error_that_is_no_longer_raised_counts(package: Path) -> None:
    assert changed(trainings, package / "engine" / "build.py", "raise WarlabError", "print") == ALL


def drawn() -> dict[str, str]:
    return {name: fingerprint(SCRIPTS / "figure.py", f"warlab.reporting.figures.{name}") for name in figures.names()}


def test_another_caption_draws_its_figure_alone(package: Path) -> None:
    file = package / "reporting" / "figures" / "purity.py"
    assert changed(drawn, file, "def caption(inputs: Inputs) -> str:\n", CAPTION) == {"purity"}


CAPTION = "def caption(inputs: Inputs) -> str:\n    inputs = inputs\n"


def test_what_counts_for_nothing_is_there() -> None:
    """A module that was moved must not leave its old name in the list."""
    assert all(module._file(name).is_file() for name in INERT)
