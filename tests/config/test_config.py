"""Configuration: from YAML to fully resolved runs."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT
from tests.helpers.studies import changed_scale, study_of
from tools.write_schemas import schemas
from warlab import methods
from warlab.artefacts.run_config import RunConfig
from warlab.config.reading import as_yaml, parse_changes, read_yaml, read_yaml_file
from warlab.errors import WarlabError
from warlab.ids import RunId
from warlab.pipeline.paths import Paths
from warlab.registry import PLUGINS, Registry

CELL = RunId("fashion_mnist", "asym-40", "cnn9", "war_w2v", 0)


def test_a_runs_configuration_survives_the_way_through_json() -> None:
    """The dictionary is a parameter of rules and part of a run's identity."""
    run = study_of("paper").settings.run(CELL)
    kept = json.loads(json.dumps(run.to_dict()))
    assert list(kept) == ["dataset", "noise", "net", "method", "training", "seed"]
    assert RunConfig.from_dict(kept) == run
    assert kept["net"]["name"] == "cnn9" and set(kept["method"]) == {"id", "file", "settings"}


def cell(method: str) -> RunId:
    return RunId("fashion_mnist", "asym-40", "cnn9", method, 0)


def test_variants_of_war_differ_in_the_cost_alone() -> None:
    runs = {
        m: study_of().settings.run(cell(m)).method.settings for m in ("war_01", "war_w2v", "war_embed", "war_random")
    }
    costs = {m: settings_.pop("cost") for m, settings_ in runs.items()}
    assert costs == {"war_01": "zero_one", "war_w2v": "w2v", "war_embed": "embed", "war_random": "random"}
    assert len({str(settings_) for settings_ in runs.values()}) == 1


def test_costs_that_read_labels_have_a_folder_per_noise_and_seed() -> None:
    assert study_of().settings.cost_key(cell("war_w2v")) == "w2v"
    assert study_of().settings.cost_key(cell("war_embed")) == "embed@asym-40@seed0"
    assert study_of().settings.cost_key(cell("cce")) is None


def test_the_schemas_for_editors_are_those_of_the_models() -> None:
    """Otherwise run python tools/write_schemas.py."""
    written = {file.name: file.read_text() for file in (ROOT / "workflow" / "schemas").iterdir()}
    assert written == schemas()


@pytest.mark.parametrize("name", ["config", "scales/demo", "experiments", "hyperparameters", "claims"])
def test_an_editor_finds_no_mistake_in_our_files(name: str) -> None:
    """The schemas agree with what pydantic accepts, which tests/faults/test_config_fuzz.py mutates."""
    schema = json.loads(schemas()[f"{name.replace('scales/demo', 'scale')}.schema.json"])
    jsonschema.validate(read_yaml_file(ROOT / "config" / f"{name}.yaml"), schema)


def test_lock_environment_and_project_agree() -> None:
    pins = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if "==" in line]
    locked = {pin.split("==")[0] for pin in pins}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [Requirement(text) for name in ("words", "workflow", "dev") for text in extras[name]]
    core = [Requirement(text) for text in project["dependencies"]]
    names = {one.name.lower() for one in core + wanted} - {"warlab"}
    assert names <= locked and {"snakemake", "pot", "gensim", "pytest"} <= names
    assert {one.name for one in core} == {"torch", "numpy"} and set(extras) >= {"slurm", "docs"}
    versions = dict(pin.split("==") for pin in pins)
    assert all(one.specifier.contains(versions[one.name.lower()]) for one in core + wanted if one.name != "warlab")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('a: float = setting(0.1, "papr")', "the source 'papr' must be one of paper"),
        ('a: float = setting(0.1, "paper", minimun=0)', "unexpected keyword argument 'minimun'"),
        ("a: float = DEFAULT", "malformed node"),
        ("a: float", "cannot be read"),
    ],
)
def test_a_setting_that_cannot_be_read_is_one_sentence(line: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"class Config:\n    {line}\n")
    registry = Registry("warlab.methods", "method")
    registry.folder = tmp_path
    with pytest.raises(WarlabError, match=r"mine.py: a: float") as caught:
        registry.settings("mine")
    assert reason in str(caught.value)


ALGORITHM = "class Algorithm:\n    label = 'Mine'\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class Config(War):\n    a: float = 1.0\n" + ALGORITHM, "takes Config from elsewhere"),
        ("from warlab.methods.war import Config\n" + ALGORITHM, "takes Config from elsewhere"),
        ("from warlab.methods import war\nConfig = war.Config\n" + ALGORITHM, "takes Config from elsewhere"),
        (ALGORITHM + "    needs_run = 'ccee'\n", "There is no method 'ccee'; did you mean 'cce'?"),
        (ALGORITHM + "    needs_run = ('a', {'x': 'cce'})\n", "no method in needs_run for a=None"),
        ("class Algorithm\n", "is not Python in line 1"),
    ],
)
def test_a_method_that_the_plan_cannot_read_is_one_sentence(
    text: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An inherited Config would train with defaults that nobody scales to the number of epochs."""
    monkeypatch.setenv(PLUGINS, "")  # and is removed afterwards
    (tmp_path / "methods").mkdir()
    (tmp_path / "methods" / "mine.py").write_text(text)
    scale = changed_scale("demo", "pencil, war_w2v]", "mine]", tmp_path)
    methods.declaration.cache_clear()
    with pytest.raises(WarlabError) as caught:
        study_of(scale, plugins=str(tmp_path))
    assert reason in str(caught.value)
    methods.declaration.cache_clear()


INHERITING = {
    "imported": "from warlab.methods.forward import Algorithm\nclass Algorithm(Algorithm):\n    pass\n",
    "of a module": "from warlab.methods import forward as f\nclass Algorithm(f.Algorithm):\n    pass\n",
    "of a package": "import warlab.methods.forward\nclass Algorithm(warlab.methods.forward.Algorithm):\n    pass\n",
    "relative, through two": "from ._mine import Base\nclass M(Base):\n    a = 1\nclass Algorithm(M):\n    b = 1\n",
    "no literal": "from warlab.methods.forward import Algorithm as F\nclass Algorithm:\n    needs_run = F.needs_run\n",
}


@pytest.mark.parametrize("text", INHERITING.values(), ids=INHERITING)
def test_what_a_method_inherits_is_planned_or_refused(text: str, tmp_path: Path, monkeypatch) -> None:
    """Without the run that it needs, or on tiles, it would fail after hours of other trainings."""
    forward = methods.declaration("forward")
    (tmp_path / "methods").mkdir()
    (tmp_path / "methods" / "mine.py").write_text(text)
    shared = "from warlab.methods.forward import Algorithm\nclass Base(Algorithm):\n    pass\n"
    (tmp_path / "methods" / "_mine.py").write_text(shared)
    monkeypatch.setenv(PLUGINS, str(tmp_path))
    monkeypatch.setattr(sys.modules["warlab.methods"], "__path__", [*sys.modules["warlab.methods"].__path__])
    methods.declaration.cache_clear()
    try:
        found = methods.declaration("mine")
        assert found.label == "mine"
        if "F.needs_run" in text:
            with pytest.raises(WarlabError, match="which the plan does not see; write it"):
                methods.make("mine", {}, None)
        else:
            assert (found.needs_run, found.images_only) == (forward.needs_run, True)
    finally:
        methods.declaration.cache_clear()
        for module in ("mine", "_mine"):
            sys.modules.pop(f"warlab.methods.{module}", None)


HOSTILE = ["- a", "a: [", "{", "a: 1\na: : 2", "\x00", "a: 2026-99-99\n", "[" * 5000 + "]" * 5000, "a: \udcff"]


@pytest.mark.parametrize("text", [*HOSTILE, "a: !!python/object/apply:os.system [touch evil]\n"])
def test_broken_yaml_is_one_sentence_and_runs_nothing(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.yaml"
    file.write_text(text, errors="surrogateescape")
    with pytest.raises(WarlabError) as caught:
        study_of(str(file))
    assert "mine.yaml" in str(caught.value)
    assert list(tmp_path.iterdir()) == [file]


YAML_1_2 = [("off", "off"), ("no", "no"), ("true", True), ("5", 5), ("0.5", 0.5), ("1e-3", 0.001), ("2E3", 2000.0)]


@pytest.mark.parametrize(("text", "value"), YAML_1_2)
def test_words_and_numbers_are_read_alike_in_ids_files_and_overrides(text: str, value: object, tmp_path: Path) -> None:
    """YAML 1.1 reads off as false and 1e-3 as a word."""
    assert parse_changes(f"war+key={text}", ["key"]) == {"key": value}
    (tmp_path / "some.yaml").write_text(f"key: {text}")
    assert read_yaml(tmp_path / "some.yaml") == {"key": value} == as_yaml({"key": text})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: {b: 1}\nc: 2\na: {d: 3}\n", "line 3: the key 'a' is given twice; remove one of them."),
        ("a: {b: 1, b: 1}\n", "line 1: the key 'b' is given twice"),
    ],
)
def test_a_key_given_twice_in_a_file_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(WarlabError) as caught:
        read_yaml(tmp_path / "mine.yaml")
    assert reason in str(caught.value)


def test_options_of_the_device_may_come_from_the_command_line() -> None:
    """Snakemake passes the values inside `--config 'device={tf32: true}'` as text."""
    assert study_of(device={"tf32": "true"}).settings.run(CELL).device.tf32 is True


def test_the_home_folder_is_meant_by_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every path of the configuration; otherwise a folder called ~ appears."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "smoke.yaml").write_text((ROOT / "config" / "scales" / "smoke.yaml").read_text())
    (tmp_path / "cost.csv").touch()
    own = study_of(
        "~/smoke.yaml",
        results_root="~/results",
        data_root="~/data",
        local_data={"cifar10": "~/cifar"},
        noise_files={"file_mine": "~/noise.csv"},
        runs_from="~",
        overrides={"costs": {"file": {"path": "~/cost.csv"}}},
    )
    assert Paths.of(own) == Paths(f"{tmp_path}/data", f"{tmp_path}/results/smoke", f"{tmp_path}/results/common")
    assert "~" not in str(own.config) and own.settings.cost_files("file", "cifar10") == {"path": f"{tmp_path}/cost.csv"}


def test_a_key_given_twice_in_a_file_that_snakemake_reads_is_refused(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("overrides: {methods: {war: {beta: 5}}}\nscale: smoke\noverrides: {nets: {cnn9: {width: 0.5}}}\n")
    command = [sys.executable, "-m", "snakemake", "-n", "-q", "--cores", "1", "--configfile", str(mine)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 1 and "in line 3: the key 'overrides' is given twice" in run.stderr + run.stdout
