"""Every command and code block in README.md and docs/ is carried out as it stands there, as a dry run where it trains.

The tutorials are carried out by tests/project/test_tutorials.py. The site is built where `make docs` has made
.venv-docs.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.helpers.checkout import PARTS
from warlab import methods, nets

TUTORIALS = ROOT / "docs" / "tutorials"  # their pages are made by `make docs`
SITE = sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent != TUTORIALS)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROGRAMS = ("snakemake", "warlab", "make", "pytest", "pip", "python", "source", "tmux")
OPTIONS = ("--config ", "--configfile ", "--workflow-profile ")  # of snakemake, named alone
# What cannot be carried out here, by how the command begins, with the reason.
NOT_HERE = {
    "pip install": "installs packages from a network",
    "source .venv/bin/activate": "is of the user's shell",
    "tmux new": "needs a terminal",
    "python benchmarks/": "measures for minutes",
    "python -c": "downloads weights",
    "python tools/make_evidence.py": "needs the finished runs of a study",
    "python docs/evidence/mechanism/": "needs the finished runs of the study, or writes its committed tables again",
    "snakemake --workflow-profile profiles/mine": "the profile is the user's own copy of profiles/slurm",
    "snakemake --sdm apptainer": "needs Apptainer; tests/workflow/test_container.py has a script in its place",
    "--workflow-profile profiles/slurm": "needs the Slurm plugin; tests/cluster uses it",
    "--configfile my.yaml": "the file is the user's own; tests/workflow/test_own_data.py has one",
    "snakemake -s ~/warlab/Snakefile": "the clone is the user's; tests/workflow/test_bare.py has another folder",
    "snakemake --cores 2 --configfile my.yaml": "tests/workflow/test_own_data.py carries it out with the page's files",
    "snakemake --cores 2 --config scale=table.yaml": "tests/workflow/test_own_data.py carries it out",
    "warlab audit photos": "tests/audit/test_find_wrong_labels.py carries it out",
    "warlab audit FOLDER": "the folder is the user's own; tests/audit/test_folder.py has one",
    "warlab check-plugin my_parts": "tests/project/test_adding_a_method.py carries it out",
    "snakemake --cores 1 --config scale=my_scale.yaml": "tests/project/test_adding_a_method.py carries it out",
    "pytest tests/methods/test_methods.py tests/engine/test_resume.py -k confidence_penalty": "after the steps",
}


def is_command(text: str) -> bool:
    words = text.split()
    known = text.startswith(OPTIONS) or (len(words) > 1 and words[0] in PROGRAMS)
    return known and not text.endswith("…")


def commands_of(text: str) -> Iterator[str]:
    """Lines of fenced and indented blocks, and code in the text or in a table."""
    fenced = [block for language, block in FENCE.findall(text) if language in ("", "sh", "bash")]
    without = FENCE.sub("", text)
    indented = re.findall(r"^ {4,}(\S.*)$", without, re.MULTILINE)
    spans = [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", without)]
    lines = [line.split("  #")[0].strip() for block in (*fenced, *indented) for line in block.splitlines()]
    yield from (line for line in [*lines, *spans] if is_command(line))


FOUND = {command: page for page in PAGES for command in commands_of(page.read_text())}
# commands that differ only in the number of cores count once
HERE = list({re.sub(r" --cores \w+", "", one): one for one in FOUND if not one.startswith(tuple(NOT_HERE))}.values())


def dry(command: str) -> str:
    """The same command, doing nothing where it would train, fetch or install."""
    if command.startswith(OPTIONS):
        command = f"snakemake --cores 1 {command}"
    program, rest = command.split(" ", 1)
    return f"{program} -n {rest}" if program in ("snakemake", "make") and "--unlock" not in rest else command


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for part in (
        *PARTS,
        "docs",
        "tests",
        "tools",
        "Makefile",
        "requirements.txt",
        "requirements-docs.txt",
        "pyproject.toml",
    ):
        (folder / part).symlink_to(ROOT / part)
    return folder


@pytest.mark.parametrize("command", HERE)
def test_a_documented_command_works(command: str, checkout: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        dry(command), shell=True, cwd=checkout, env=environment, capture_output=True, text=True, timeout=300
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said, f"{FOUND[command].name}: {said[-2000:]}"
    may_find_fault = command.split()[-1] == "doctor"  # of this machine, in its own words
    assert done.returncode == 0 or (may_find_fault and "Wrong: " in said), f"{FOUND[command].name}: {said[-2000:]}"


def test_commands_are_found_and_every_exception_is_one() -> None:
    assert len(HERE) >= 20 and {"README.md", "segmentation.md", "cluster.md"} <= {FOUND[c].name for c in HERE}
    for beginning in NOT_HERE:
        assert any(command.startswith(beginning) for command in FOUND), f"{beginning} stands nowhere"
    assert all(shlex.split(command) for command in FOUND)


# ---- blocks of code

# Pages whose blocks another test puts in place and runs, all of them.
ELSEWHERE = {
    "adding-a-method.md": "project/test_adding_a_method.py",
    "extending.md": "project/test_adding.py",
    "your-own-data.md": "workflow/test_own_data.py",
    "find-wrong-labels.md": "audit/test_find_wrong_labels.py",
}
# Blocks in other languages than Python and the shell, by how they begin, with what becomes of them.
OTHER = {
    "overrides: { costs: { embed: { features: efficientnet_lite0 } } }": "read by test_settings_are_read",
    "device:\n": "read by test_settings_are_read",
    "training: # in a scale\n": "read by test_settings_are_read",
}
BEFORE = """
import torch
from torch.nn.functional import cross_entropy
torch.manual_seed(0)
model, epoch = torch.nn.Linear(8, 3), 20
loader = [(torch.randn(16, 8), torch.randint(3, (16,))) for _ in range(2)]
optimiser = torch.optim.Adam(model.parameters())
"""


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text())


def python_of(page: Path) -> str:
    return "\n".join(block for language, block in blocks(page) if language == "python")


@pytest.mark.parametrize("page", [page for page in PAGES if python_of(page)], ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_its_top_to_its_end(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.name in ("adding-a-method.md", "extending.md"):
        pytest.skip("files of the library; test_adding_a_method.py and test_adding_reports.py put them in place")
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # what pages read; what they write stays in the other folder
    monkeypatch.chdir(tmp_path)
    exec(compile(BEFORE + python_of(page), page.name, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_carried_out_or_said_to_be_another_tests(page: Path) -> None:
    if page.name in ELSEWHERE:
        text = (ROOT / "tests" / ELSEWHERE[page.name]).read_text()
        assert f'"{page.name}"' in text, f"{ELSEWHERE[page.name]} does not read {page.name}"
        return
    for language, block in blocks(page):
        if language in ("", "sh", "bash"):
            lines = [line.split("  #")[0].strip() for line in block.splitlines() if line.strip()]
            assert all(is_command(line) for line in lines), f"in {page.name} neither run nor marked: {block}"
        else:
            assert language in ("python", "text") or block.startswith(tuple(OTHER)), f"{page.name}: {block}"


def test_settings_are_read() -> None:
    from warlab.artefacts.run_config import DeviceOptions
    from warlab.config.study import load_study

    found = [yaml.safe_load(block) for page in PAGES for _, block in blocks(page) if block.startswith(tuple(OTHER))]
    overrides, training, device = sorted(found, key=lambda content: ["overrides", "training", "device"].index(*content))
    study = load_study({"scale": "cifar", **overrides}, ROOT)
    assert study.settings.cost("embed", "cifar10")["features"] == "efficientnet_lite0"
    study = load_study({"scale": "cifar", **device}, ROOT)
    assert study.settings.run(study.plan.runs[0]).device == DeviceOptions(tf32=True, channels_last=True, compile=True)
    study = load_study({"scale": "cifar", "overrides": training}, ROOT)
    kinds = [study.settings.training("cifar10", "asym-40", method)["augmentation"] for method in ("cce", "gjs")]
    assert kinds == ["shift_flip", "two_views"]


# ---- links and the site

LINK = re.compile(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        if place.parent == TUTORIALS:
            place = place.with_suffix(".py")
        assert place.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(place), f"{page.name} links to {target}"
        assert page not in SITE or place.is_relative_to(ROOT / "docs"), f"{target} is no part of the site"


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs").rglob("*.yaml"))], ids=lambda page: page.name)
def test_named_tests_and_tools_are_there(page: Path) -> None:
    named = re.findall(r"\b(?:(?:tests|tools|benchmarks)/|docs/evidence/)[\w/]+\.py", page.read_text(encoding="utf-8"))
    assert not [name for name in named if not (ROOT / name).is_file()]


def test_every_page_has_its_place_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    nav = set(re.findall(r": ([\w./-]+\.md)$", text[text.index("\nnav:") :], re.MULTILINE))
    names = {page.relative_to(ROOT / "docs").as_posix() for page in SITE if "evidence" not in page.parts}
    tutorials = {f"tutorials/{path.stem}.md" for path in TUTORIALS.glob("*.py")}
    assert nav == names | tutorials | {"evidence/README.md"}
    evidence = ROOT / "docs" / "evidence"
    linked = set(re.findall(r"\]\(([\w./-]+\.md)", (evidence / "README.md").read_text(encoding="utf-8")))
    assert linked >= {path.relative_to(evidence).as_posix() for path in evidence.glob("*/README.md")}


def test_every_method_and_network_is_on_its_page() -> None:
    named = set(re.findall(r"`(\w+)(?:\.NAME)?`", (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")))
    assert {*methods.names(), *nets.trainable()} - {"war"} <= named


MARKER = re.compile(r"([-*]|\d+\.) ")


def broken_lists(text: str) -> list[str]:
    """Return lines that Python-Markdown does not read as in a list: a first item, or one below a second paragraph of
    the item before it, without an empty line, and what follows an empty line with one to three spaces, where four
    continue the item."""
    broken, before, in_list, in_paragraph = [], "", False, False
    for line in FENCE.sub("", text).splitlines():
        is_item, indent = bool(MARKER.match(line.lstrip())), len(line) - len(line.lstrip())
        joined = is_item and indent == 0 and before and before[0] != "#" and (not in_list or in_paragraph)
        if joined or (in_list and not before and 1 <= indent <= 3):
            broken.append(line)
        in_paragraph = not is_item and line != "" and (in_paragraph or (in_list and not before and 4 <= indent < 8))
        in_list = is_item or (in_list and (indent > 0 or before != "" or not line))
        before = line
    return broken


@pytest.mark.parametrize("page", SITE, ids=lambda page: str(page.relative_to(ROOT)))
def test_lists_are_lists_on_the_site(page: Path) -> None:
    assert broken_lists(page.read_text()) == []


def test_broken_lists_are_found() -> None:
    assert broken_lists("Do:\n1. one\n2. two\n") == ["1. one"] and broken_lists("1. one\n\n   code\n") == ["   code"]
    assert broken_lists("1. one\n\n    more\n    of it\n2. two\n") == ["2. two"]
    assert broken_lists("1. one\n\n    more\n\n2. two\n") == []
    assert broken_lists("Do:\n\n1. one\n    on\n\n        code\n2. two\n\nText.\n") == []


MKDOCS = ROOT / ".venv-docs" / "bin" / "mkdocs"


@pytest.mark.skipif(not MKDOCS.exists(), reason="no .venv-docs here; make docs sets it up")
def test_the_site_is_built_and_asks_no_network(tmp_path: Path) -> None:
    for part in ("src", "tools", "mkdocs.yml"):
        (tmp_path / part).symlink_to(ROOT / part)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for path in (tmp_path / "docs" / "tutorials").glob("*.py"):
        path.with_suffix(".md").write_text(f"# {path.stem}\n")
    done = subprocess.run([MKDOCS, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|iframe|link)[^>]* (?:src|href)=\"?([^\" >]+)", page.read_text())
        assert not [one for one in loaded if one.startswith(("http", "//"))], page.name
        paragraphs = re.findall(r"<p>(.*?)</p>", page.read_text(), re.DOTALL)
        assert not [one for one in paragraphs if re.search(r"^\s*(- |\d+\. )", one, re.MULTILINE)], page.name
    reference = (site / "api.html").read_text()
    assert ".. math::" not in reference and reference.count("<math") >= 6
    assert (site / "search" / "search_index.js").exists()


def test_the_page_on_tiles_names_the_methods_that_cannot_train_on_them() -> None:
    words = {*re.findall(r"[\w+-]+", (ROOT / "docs" / "segmentation.md").read_text().lower())}
    declared = {name: methods.declaration(name) for name in methods.names()}
    refused = {name: one.label.lower() for name, one in declared.items() if one.images_only is True}
    assert len(refused) > 5 and not [name for name, label in refused.items() if not {name, label} & words]
