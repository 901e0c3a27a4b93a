"""The finished results of a scale as an RO-Crate 1.1 for Zenodo or WorkflowHub: a folder with ro-crate-metadata.json.

    python tools/make_crate.py results/demo crate

It has the workflow, the configuration, descriptions of the inputs with checksums, results and licence. Weights,
predictions and data are left out: they can be made again, and we may not distribute the data.
"""

import argparse
import json
import mimetypes
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from warlab.common.files import file_digest, read_json, write_text
from warlab.errors import WarlabError

ROOT = Path(__file__).resolve().parent.parent
Entity = dict[str, Any]
CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}]
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
WORKFLOW = ("Snakefile", "rules/*.smk", "workflow/**/*", "config/**/*", "envs/*", "requirements.txt", "pyproject.toml")
ABOUT = ("LICENSE", "CITATION.cff", "README.md")
RESULTS = (
    "report.html", "*.csv", "*.md", "*.pdf", "tables/*", "figures/*.*", "data/*.json", "noise/**/*.json",
    "costs/**/*.json", "costs/**/*.csv", "runs/**/metrics.csv", "runs/**/result.json",
)  # fmt: skip


def make_crate(results: Path, target: Path) -> Path:
    """Copy the files of the crate, describe them, and return the path of the description."""
    if not (results / "report.html").is_file():
        raise WarlabError(f"{results} has no report.html; run the whole scale first.")
    if target.exists() and any(target.iterdir()):
        raise WarlabError(f"{target} is not empty; name a new folder.")
    files = [*_copied(ROOT, (*WORKFLOW, *ABOUT), target), *_copied(results, RESULTS, target, f"results/{results.name}")]
    graph = [_descriptor(), _root(results, files), *_people(), *_terms(), *(_file(target, name) for name in files)]
    described = target / "ro-crate-metadata.json"
    write_text(described, json.dumps({"@context": CONTEXT, "@graph": graph}, indent=2) + "\n")
    return described


def _copied(source: Path, patterns: tuple[str, ...], target: Path, below: str = "") -> list[str]:
    files = {path for pattern in patterns for path in source.glob(pattern) if path.is_file()}
    wanted = sorted(path for path in files if _wanted(path.relative_to(source)))
    names = [(Path(below) / path.relative_to(source)).as_posix() for path in wanted]
    for path, name in zip(wanted, names, strict=True):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)
    return names


def _wanted(path: Path) -> bool:
    return path.suffix not in (".pyc", ".ckpt") and not {"checkpoint", "__pycache__"} & set(path.parts)


def _descriptor() -> Entity:
    return {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": [{"@id": SPECIFICATION}, {"@id": PROFILE}],
    }


def _root(results: Path, files: list[str]) -> Entity:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    inputs = [read_json(path) for path in sorted(results.glob("data/*.json"))]
    trained_on = ", ".join(sorted({f"{one.get('title', one.get('dataset', ''))}".strip() for one in inputs} - {""}))
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{cited['title']}: results of the scale {results.name}",
        "description": f"A finished study by the warlab workflow{f', trained on {trained_on}' if trained_on else ''}.",
        "datePublished": datetime.now(UTC).date().isoformat(),
        "license": {"@id": "LICENSE"},
        "author": [{"@id": person["@id"]} for person in _people()],
        "mainEntity": {"@id": "Snakefile"},
        "hasPart": [{"@id": name} for name in files],
    }


def _people() -> list[Entity]:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    names = [_name(author) for author in cited["authors"]]
    return [{"@id": f"#author{number}", "@type": kind, "name": name} for number, (kind, name) in enumerate(names)]


def _name(author: dict[str, str]) -> tuple[str, str]:
    if "name" in author:
        return "Organization", author["name"]
    return "Person", " ".join(part for key in ("given-names", "family-names") if (part := author.get(key)))


def _terms() -> list[Entity]:
    return [
        {
            "@id": SNAKEMAKE,
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
            "url": {"@id": "https://snakemake.readthedocs.io"},
        }
    ]


def _file(target: Path, name: str) -> Entity:
    path = target / name
    entity: Entity = {
        "@id": name,
        "@type": "File",
        "name": name,
        "contentSize": str(path.stat().st_size),
        "sha256": file_digest(path),
    }
    if kind := mimetypes.guess_type(name)[0]:
        entity["encodingFormat"] = kind
    if name == "Snakefile":
        entity["@type"] = ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
        entity["programmingLanguage"] = {"@id": SNAKEMAKE}
        entity["name"] = "warlab"
    return entity


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the folder of a finished scale, such as results/demo")
    parser.add_argument("target", type=Path, help="a new folder")
    options = parser.parse_args(arguments)
    try:
        described = make_crate(options.results, options.target)
    except (WarlabError, OSError) as error:
        print(f"make_crate: {error}", file=sys.stderr)
        return 1
    print(f"{described} describes {len(json.loads(described.read_text())['@graph'])} things")
    return 0


if __name__ == "__main__":
    sys.exit(main())
