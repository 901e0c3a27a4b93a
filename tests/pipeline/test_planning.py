"""Planning resolves the settings of a study once for each setting, not once per seed."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from warlab.config.reading import read_yaml
from warlab.config.settings import Settings
from warlab.config.study import Study, load_study

ROOT = Path(__file__).parents[2]


def study_of(scale: str = "smoke", seeds: int | None = None) -> Study:
    config = read_yaml(ROOT / "config" / "config.yaml") | {"scale": scale}
    study = load_study(config, ROOT)
    return study if seeds is None else replace(study, scale=study.scale | {"seeds": seeds})


def ask(study: Study) -> int:
    """What the rules ask for every run."""
    for cell in study.plan.runs:
        (
            study.settings.run(cell),
            study.settings.cost_key(cell),
            study.plan.needed_run(cell),
        )
    return len(study.plan.runs)


def test_more_seeds_resolve_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    resolve = Settings._resolve
    monkeypatch.setattr(Settings, "_resolve", lambda *given: asked.append(given[1:]) or resolve(*given))
    runs, counts = [], []
    for seeds in (1, 6):
        asked.clear()
        runs.append(ask(study_of("sixteenth", seeds)))
        counts.append(len(asked))
    assert runs[1] == 6 * runs[0]
    assert counts[1] == counts[0]


def test_what_a_caller_changes_in_an_answer_changes_no_later_one() -> None:
    study = study_of()
    study.settings.method("war_w2v", "fashion_mnist")["beta"] = -1
    study.plan.cells("main_benchmark").clear()
    assert study.settings.method("war_w2v", "fashion_mnist")["beta"] > 0
    assert study.plan.cells("main_benchmark")


def test_two_studies_share_no_answers() -> None:
    demo, paper = study_of("demo"), study_of("paper")
    first, second = (one.settings.training("fashion_mnist")["batch_size"] for one in (demo, paper))
    assert first != second


def test_planning_imports_neither_torch_nor_scipy() -> None:
    """Every job of a cluster reads the study before it does anything."""
    read = "from tests.pipeline.test_planning import study_of; study_of('paper').labels"
    heavy = "{'torch', 'scipy', 'gensim', 'pandas', 'matplotlib'}"
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; {read}; print({heavy} & set(sys.modules))"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout.strip() == "set()"


def test_no_input_list_is_made_while_the_rules_are_read() -> None:
    """Every job of a cluster reads the rules. What is long comes from a function that is named and not called."""
    for file in (ROOT / "rules").glob("*.smk"):
        for call in re.findall(r"collect\(.*?=([\w.]+)([(,)])", file.read_text()):
            assert call[1] != "(", f"{file.name} calls {call[0]}"
