"""Write the finished results of a scale as an RO-Crate 1.1 for Zenodo or WorkflowHub: a folder with a description.

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
from urllib.parse import quote

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
METADATA = "ro-crate-metadata.json"
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
    names = copy_files(ROOT, (*WORKFLOW, *ABOUT), target)
    names += copy_files(results, RESULTS, target, f"results/{results.name}")
    graph = [*describe_crate(results, names), *(describe_file(target, name) for name in names)]
    write_text(target / METADATA, json.dumps({"@context": CONTEXT, "@graph": graph}, indent=2) + "\n")
    return target / METADATA


def copy_files(source: Path, patterns: tuple[str, ...], target: Path, below: str = "") -> list[str]:
    """Copy all files that match a pattern, except for checkpoints and bytecode, and return their names in the crate."""
    names = []
    for path in sorted({path for pattern in patterns for path in source.glob(pattern) if path.is_file()}):
        inside = path.relative_to(source)
        if path.suffix not in (".pyc", ".ckpt") and not {"checkpoint", "__pycache__"} & set(inside.parts):
            names.append((Path(below) / inside).as_posix())
            (target / names[-1]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / names[-1])
    return names


def describe_crate(results: Path, names: list[str]) -> list[Entity]:
    """Return the entities that are not files: the description itself, the crate, its authors, and Snakemake."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    authors: list[Entity] = []
    for number, author in enumerate(cited["authors"]):
        person = " ".join(part for key in ("given-names", "family-names") if (part := author.get(key)))
        kind = "Organization" if "name" in author else "Person"
        authors.append({"@id": f"#author{number}", "@type": kind, "name": author.get("name", person)})
    inputs = [read_json(path) for path in sorted(results.glob("data/*.json"))]
    trained_on = ", ".join(sorted({f"{one.get('title', one.get('dataset', ''))}".strip() for one in inputs} - {""}))
    crate = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{cited['title']}: results of the scale {results.name}",
        "description": f"A finished study by the warlab workflow{f', trained on {trained_on}' if trained_on else ''}.",
        "datePublished": datetime.now(UTC).date().isoformat(),
        "license": {"@id": "LICENSE"},
        "author": [{"@id": author["@id"]} for author in authors],
        "mainEntity": {"@id": "Snakefile"},
        "hasPart": [{"@id": quote(name)} for name in names],
    }
    conforms = [{"@id": SPECIFICATION}, {"@id": PROFILE}]
    descriptor = {"@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": conforms}
    language = {
        "@id": SNAKEMAKE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
        "url": {"@id": "https://snakemake.readthedocs.io"},
    }
    return [descriptor, crate, *authors, language]


def describe_file(target: Path, name: str) -> Entity:
    path, kind = target / name, mimetypes.guess_type(name)[0]
    size, checksum = str(path.stat().st_size), file_digest(path)
    entity: Entity = {"@id": quote(name), "@type": "File", "name": name, "contentSize": size, "sha256": checksum}
    if kind:
        entity["encodingFormat"] = kind
    if name == "Snakefile":
        entity["@type"] = ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
        entity |= {"programmingLanguage": {"@id": SNAKEMAKE}, "name": "warlab"}
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
