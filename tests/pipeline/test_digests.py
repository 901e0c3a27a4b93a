"""A change of the code reruns the jobs whose numbers can change, and no others."""

import shutil
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import FrameType

import pytest

from tests.conftest import ROOT
from tests.helpers.runs import resolved, run_training, write_files
from tests.helpers.tiles import tile_run, write_tile_files
from warlab import data, methods, nets
from warlab.common.cache import FileCache, remembered_digest
from warlab.common.files import file_digest
from warlab.noise import KINDS
from warlab.ot.costs import COSTS
from warlab.pipeline import digests
from warlab.pipeline.digests import DECIDES_NO_NUMBER, code_digest, module_digests, read_source
from warlab.pipeline.digests import ROOT as PACKAGE
from warlab.reporting import figures

SCRIPTS = ROOT / "workflow" / "scripts"
ALL = set(methods.names())
WAR = {"war", "war_select", "war_unlabelled"}  # they share the transport


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("edited") / "warlab"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "fashion_mnist"))
    return copy


@pytest.fixture
def package(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of src/warlab whose edits end with the test."""
    before = {file: file.read_bytes() for file in copied.rglob("*") if file.is_file()}
    monkeypatch.setattr(digests, "ROOT", copied)
    yield copied
    for file in [file for file in copied.rglob("*") if file.is_file() and file not in before]:
        file.unlink()
    for file, content in before.items():
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, f"{file.name} does not have {old!r}: choose another example"
    file.write_text(text.replace(old, new, 1))


def trainings() -> dict[str, str]:
    """Return method → digest of its trainings."""
    common = ("warlab.nets.cnn9", "warlab.engine.images")
    return {name: code_digest(SCRIPTS / "train.py", f"warlab.methods.{name}", *common) for name in methods.names()}


def changed(prints: Callable[[], dict[str, str]], file: Path, old: str, new: str) -> set[str]:
    before = prints()
    edit(file, old, new)
    return {name for name, value in prints().items() if value != before[name]}


# ---- which edits count

NOTHING = {
    "artefacts/ground_cost.py": [("\n\n\n", "\n\n\ndef unused() -> int:\n    return 1\n\n\n")],
    "common/files.py": [("indent=2", "indent=4"), ("cannot be read as JSON", "is no JSON")],
    "engine/run.py": [("another process finished", "somebody else finished")],
    "engine/train.py": [("resumed from", "goes on from"), ("is not a finite number in epoch", "is infinite in epoch")],
    "engine/build.py": [("are not given.", "are missing."), (") -> Trainer:\n", ") -> object:\n    # why\n")],
    "methods/war.py": [("mean losses of its last two epochs", "the last losses")],
    "losses/backward.py": [("uses its pseudo-inverse", "takes the pseudo-inverse")],
    "ot/sinkhorn.py": [('"""\n\n', 'In other words.\n"""\n\n')],
}


@pytest.mark.parametrize(
    ("file", "old", "new"), [(file, *words) for file, several in NOTHING.items() for words in several]
)
def test_other_words_types_or_layouts_of_files_train_nothing(package: Path, file: str, old: str, new: str) -> None:
    assert changed(trainings, package / file, old, new) == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "retrained"),
    [
        ("common/seeds.py", ">> 1", ">> 2", ALL),
        ("engine/train.py", 'derive_seed("step"', 'derive_seed("steps"', ALL),
        ("engine/build.py", "betas=(0.9, 0.999)", "betas=(0.9, 0.99)", ALL),
        ("engine/build.py", 'derive_seed("network"', 'derive_seed("net"', ALL),
        ("engine/build.py", "raise WarlabError", "print", ALL),
        ("engine/device.py", "cudnn.benchmark = False", "cudnn.benchmark = True", ALL),
        ("engine/train.py", "accuracy[-1]", "accuracy[-2]", ALL),
        ("nets/_layers.py", "BatchNorm2d", "InstanceNorm2d", ALL),
        (
            "nets/__init__.py",
            "    return net\n",
            "    for p in net.parameters(): p.data.mul_(2)\n    return net\n",
            ALL,
        ),
        ("methods/__init__.py", "    module = METHODS", '    settings["beta"] = 0\n    module = METHODS', ALL),
        ("war/perturbation.py", "torch.randn_like", "torch.rand_like", {"ar", "tv", *WAR}),
        ("ot/sinkhorn.py", "1e-18", "1e-17", WAR),
        ("methods/coteaching_plus.py", "EARLY = 5000", "EARLY = 4000", {"coteaching_plus"}),
        ("losses/backward.py", "1e3", "1e4", {"backward"}),
        ("losses/gce.py", "1 - p**self.q", "1 + p**self.q", {"gce"}),
        ("war/tv.py", "0.5 *", "0.6 *", {"tv"}),
        ("war/ar.py", "(clean, adversarial) if", "(adversarial, clean) if", {"ar"}),
        (
            "methods/_selection.py",
            "MOST = 0.9",
            "MOST = 0.8",
            {"coteaching", "coteaching_plus", "jocor", "war_unlabelled"},
        ),
        ("methods/war.py", "self.epsilon /= 10", "self.epsilon /= 5", {"war"}),
    ],
)
def test_another_number_trains_exactly_the_methods_that_use_it(
    package: Path, file: str, old: str, new: str, retrained: set[str]
) -> None:
    assert changed(trainings, package / file, old, new) == retrained


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("my_losses.py", "warlab.my_losses"),
        ("my_losses.py", "..my_losses"),
        ("methods/_mine.py", "._mine"),
        ("methods/_mine.py", "."),
    ],
)
def test_a_helper_module_of_the_user_counts(package: Path, file: str, module: str) -> None:
    (package / file).write_text("FACTOR = 1\n")
    names = "_mine" if module == "." else "FACTOR"
    edit(package / "methods" / "cce.py", '"""\n', f'"""\nfrom {module} import {names}\nprint({names})\n')
    assert changed(trainings, package / file, "1", "2") == {"cce"}


def drawn() -> dict[str, str]:
    return {name: code_digest(SCRIPTS / "figure.py", f"warlab.reporting.figures.{name}") for name in figures.names()}


def test_another_caption_draws_its_figure_alone(package: Path) -> None:
    file = package / "reporting" / "figures" / "purity.py"
    assert changed(drawn, file, "mean of both networks", "mean of two networks") == {"purity"}


@pytest.mark.parametrize(
    ("script", "asset", "others"),
    [
        ("report", "reporting/page/style.html", ("hyperparameters", "table", "figure")),
        ("figure", "reporting/warlab.mplstyle", ("hyperparameters", "table", "claims")),
        ("cost", "assets/wordvectors/glove_6b_100d_classes.txt", ("train", "verify_cost", "corrupt")),
    ],
)
def test_an_edited_asset_changes_the_digest_of_the_job_that_reads_it(
    script: str, asset: str, others: tuple[str, ...], package: Path
) -> None:
    def prints() -> dict[str, str]:
        modules = {"cost": ["warlab.ot.costs.w2v"]}
        return {name: code_digest(SCRIPTS / f"{name}.py", *modules.get(name, [])) for name in (script, *others)}

    before = prints()
    (package / asset).write_text((package / asset).read_text() + "\n")
    assert {name for name, value in prints().items() if value != before[name]} == {script}
    digests = module_digests(SCRIPTS / f"{script}.py", "warlab.ot.costs.w2v")
    assert asset in digests and list(digests) == sorted(digests), "Snakemake compares the text of a parameter"


# ---- the lists of modules

# The packages that compute the numbers of a training: its data, labels, ground cost, networks, method and loop.
COMPUTES = ("audit.record", "common.labels", "common.precision", "common.readings", "common.seeds", "common.vision")
COMPUTES += ("data", "engine", "losses", "methods", "nets", "noise", "ot", "war")


def is_listed(module: str) -> bool:
    return not digests.counts(module) or module.startswith(tuple(f"warlab.{name}" for name in COMPUTES))


def test_every_module_that_a_training_reaches_is_on_one_of_the_lists() -> None:
    """The scripts are those whose outputs a training reads."""
    registries = (methods.METHODS, nets.NETS, KINDS, COSTS, data.DATASETS, data.RESOURCES)
    members = [registry.module(name) for registry in registries for name in registry.names()]
    members += [f"warlab.engine.{samples}" for samples in ("images", "stored", "tiles")]
    scripts = ("train", "predict", "fetch", "prepare", "corrupt", "cost", "features")
    reached = {module for name in scripts for module in digests.reached_modules(SCRIPTS / f"{name}.py", *members)}
    assert {module for module in reached if not is_listed(module)} == set()
    files = [path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py")]
    modules = [".".join(file.parts).removesuffix(".__init__") for file in files]
    for pattern in DECIDES_NO_NUMBER:
        assert any(fnmatchcase(module, pattern) for module in modules), f"there is no {pattern}"


@pytest.mark.parametrize("samples", ["images", "tiles"])
def test_every_module_that_runs_in_a_training_is_on_one_of_the_lists(samples: str, tmp_path: Path) -> None:
    files = write_files(tmp_path) if samples == "images" else write_tile_files(tmp_path, "clean")
    run = resolved("war_w2v", epochs=2) if samples == "images" else tile_run("war_w2v", warmup=0)
    methods.METHODS.load("war")  # an import is not traced
    ran: set[str] = set()

    def trace(frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            ran.add(frame.f_code.co_filename)

    sys.setprofile(trace)
    try:
        run_training(run, files, tmp_path / "out")
    finally:
        sys.setprofile(None)
    inside = [Path(file).relative_to(PACKAGE) for file in ran if file.startswith(str(PACKAGE))]
    modules = {".".join(("warlab", *path.with_suffix("").parts)).removesuffix(".__init__") for path in inside}
    assert {"warlab.engine.train", "warlab.methods.war", "warlab.ot.sinkhorn", "warlab.nets"} <= modules
    assert {module for module in modules if not is_listed(module)} == set()
    training = f"warlab.engine.{samples}", "warlab.methods.war", f"warlab.nets.{run['net']['name']}"
    counted = module_digests(SCRIPTS / "train.py", *training)
    assert {module for module in modules if digests.counts(module) and not set(paths(module)) & set(counted)} == set()


def paths(module: str) -> tuple[str, str]:
    path = "/".join(module.split(".")[1:])
    return f"{path}.py", f"{path}/__init__.py"


# ---- the digest of one file

SAMPLE = '''"""Many kinds of nodes."""
from __future__ import annotations
import math as m
from dataclasses import dataclass
from typing import TYPE_CHECKING
from warlab.common.seeds import derive_seed
from warlab.war.tv import TVLoss as Loss
if TYPE_CHECKING:
    from torch import Tensor
LIMIT: int = 0x10

@dataclass(frozen=True)
class Config:
    """A docstring."""
    beta: float = 1e-3
    words: tuple[str, ...] = ("ä", "\\u1e9e", b"x", None, ..., True, -1.5j)

    @property
    def name(self) -> str:
        return f"{self.beta!r:>{LIMIT}.3f} {self.words=} %" "and " "more"

async def gather(*parts, key=lambda x, /, y=2, *, z: x ** y @ z, **options):
    async with parts as [first, *rest]:
        await (yield)
    return {**options, "a": [x async for x in rest if not x], 1: {*parts}, 2: (yield from ())}

def act(x: Tensor, *, steps: int = 3) -> Tensor:
    global LIMIT
    logger.info("a line %s", x)
    for step, _ in enumerate(x[1:, ..., ::-1]):
        while (n := step) < 3 <= LIMIT != 4 or x is not None and x not in [n]:
            x += m.pi if n else ~derive_seed("a", n) >> 1; break
        else:
            continue
    try:
        with open("a") as a, open("b"):
            del x.a, x["b"]
    except* (ValueError, TypeError) as error:
        raise WarlabError(f"words {error}") from error
    finally:
        assert x, "why"
    match x:
        case {"a": 1, **others} | [Config(beta=0.5), *others] if others:
            return Loss(others)
        case -1 | None | str() as y:
            pass
    value: int
    return [a if b else c for a in x for b, c in a if a]
'''


def test_the_digest_of_a_source_is_the_same_in_every_version_of_python() -> None:
    """These values were also computed by Python 3.12 and 3.13; change them only with a change of `serialise`."""
    source = read_source(SAMPLE)
    assert source.digest == "bd44f413dfb0"
    origins = ("warlab.common.seeds.derive_seed", "warlab.war.tv.TVLoss")
    assert source.imports == sorted({*origins, *(origin.rpartition(".")[0] for origin in origins)})


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('"""A docstring."""', '"""Other words."""', True),
        ("x: Tensor, *, steps: int = 3) -> Tensor", "x, *, steps=3)", True),
        ("LIMIT: int = 0x10", "LIMIT: int = 16  # sixteen", True),
        ('logger.info("a line %s", x)\n', 'logger.warning("more lines")\n', True),
        ('f"words {error}"', '"other words"', True),
        ("    from torch import Tensor", "    from numpy import ndarray as Tensor", True),
        (
            "import math as m\nfrom dataclasses import dataclass",
            "from dataclasses import dataclass\nimport math as m",
            True,
        ),
        ("TVLoss as Loss", "ARLoss as Loss", False),
        ("import math as m", "import cmath as m", False),
        ("beta: float = 1e-3", "beta: float = 1e-4", False),
        ("beta: float = 1e-3", "beta: ClassVar[float] = 1e-3", False),
        ("::-1", "::-2", False),
        ("!= 4", "== 4", False),
        (":>{LIMIT}.3f", ":>{LIMIT}.2f", False),
        ("x is not None and", "x is not None or", False),
    ],
)
def test_a_digest_is_that_of_the_meaning(old: str, new: str, same: bool) -> None:
    assert old in SAMPLE
    assert (read_source(SAMPLE.replace(old, new, 1)).digest == read_source(SAMPLE).digest) is same


def test_the_value_of_a_setting_is_not_part_of_the_code() -> None:
    """It is a parameter of the rules: another value trains only the runs that have it."""

    def digest_of(value: str) -> str:
        return read_source(f"class Config:\n    a: float = {value}\n").digest

    assert digest_of('setting(1.0, "paper")') == digest_of('setting(2.0, "our choice", minimum=0)') != digest_of("1.0")


# ---- the cache


def test_a_cache_is_written_beside_snakemakes_files_and_a_damaged_one_is_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    cache = FileCache("x", folder)
    assert cache.get("0123", lambda: [1]) == [1] == cache.get("0123", lambda: [2])
    cache.save()
    assert not folder.exists()  # there is no folder of Snakemake to keep it in
    folder.mkdir()
    cache.save()
    assert FileCache("x", folder).known == cache.known
    cache.file.write_text("{not json")
    assert FileCache("x", folder).known == {}


def test_a_remembered_digest_is_that_of_the_content(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    for text in ("one", "three", "two"):
        file.write_text(text)
        assert remembered_digest(file) == remembered_digest(file) == file_digest(file)
