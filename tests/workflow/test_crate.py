"""`make crate`: an RO-Crate of a finished scale."""

import json
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from tests.helpers.scripts import load
from warlab.common.files import file_digest, write_json, write_text
from warlab.errors import WarlabError

CRATE = load("tools/make_crate.py")


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    folder, run = tmp_path / "results" / "my tiny", "runs/fashion_mnist/asym-40/cnn9/cce/seed0"
    for name in ("report.html", "runs.csv", "tables/main_benchmark.csv", f"{run}/metrics.csv", f"{run}/weights.pt"):
        write_text(folder / name, name)
    write_text(folder / run / "checkpoint" / "x" / "result.json", "{}")
    write_json(folder / "data" / "fashion_mnist.json", {"title": "Fashion-MNIST"})
    return folder


def test_every_file_is_described_by_its_checksum_and_every_name_by_an_entity(finished: Path, tmp_path: Path) -> None:
    described = CRATE.make_crate(finished, tmp_path / "crate")
    graph = {entity["@id"]: entity for entity in json.loads(described.read_text())["@graph"]}
    root = graph["./"]
    assert graph["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert {"name", "description", "datePublished", "license"} <= set(root) and "Fashion-MNIST" in root["description"]
    assert not [name for name in graph if " " in name], "RO-Crate wants addresses"
    parts = {unquote(part["@id"]) for part in root["hasPart"]}
    there = {p.relative_to(tmp_path / "crate").as_posix() for p in (tmp_path / "crate").rglob("*") if p.is_file()}
    assert parts == there - {"ro-crate-metadata.json"}
    for name in parts:
        assert graph[quote(name)]["sha256"] == file_digest(tmp_path / "crate" / name)
    assert {"Snakefile", "config/config.yaml", "LICENSE", "results/my tiny/report.html"} <= parts
    assert not [name for name in parts if name.endswith(".pt") or "checkpoint" in name]
    named = [value for entity in graph.values() for value in entity.values() if isinstance(value, dict)]
    inside = {value["@id"] for value in named if "://" not in value["@id"]}
    assert inside <= set(graph)
    assert "ComputationalWorkflow" in graph[root["mainEntity"]["@id"]]["@type"]


def test_what_is_not_finished_makes_no_crate(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(WarlabError, match="is not empty"):
        CRATE.make_crate(finished, finished)
    (finished / "report.html").unlink()
    with pytest.raises(WarlabError, match="run the whole scale first"):
        CRATE.make_crate(finished, tmp_path / "crate")
    assert CRATE.main([str(finished), str(tmp_path / "crate")]) == 1 and not (tmp_path / "crate").exists()


@pytest.mark.slow
def test_the_rocrate_package_reads_it(finished: Path, tmp_path: Path) -> None:
    rocrate = pytest.importorskip("rocrate.rocrate", reason="pip install rocrate")
    CRATE.make_crate(finished, tmp_path / "crate")
    crate = rocrate.ROCrate(tmp_path / "crate")
    assert crate.mainEntity.id == "Snakefile" and crate.root_dataset["license"].id == "LICENSE"
    assert len(crate.data_entities) == len(crate.root_dataset["hasPart"])
    crate.write(tmp_path / "again")
    assert (tmp_path / "again" / "results" / "my tiny" / "report.html").read_text() == "report.html"
