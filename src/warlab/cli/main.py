"""The command line: `warlab status | why | explain | plan | doctor | audit | check-plugin`."""

import argparse
import sys
from pathlib import Path
from typing import Any

from warlab.cli.check_plugin import check_plugin
from warlab.cli.doctor import doctor
from warlab.cli.status import audit, given_runs, status, watch
from warlab.cli.why import explain, why
from warlab.common.wording import for_terminal
from warlab.config.reading import read_yaml
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.pipeline.run_times import overview


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        root = options.root or find_repository()
        file = Path("config", "config.yaml")  # the one in the working folder counts, as it does for Snakemake
        config = read_yaml(file if options.root is None and file.is_file() else root / file)
        if options.configfile:
            config = _merged(config, read_yaml(options.configfile))
        config["scale"] = options.scale or config.get("scale")
        text, good = _answer(options, config, root)
    except WarlabError as error:
        print(for_terminal(f"warlab: {error}"), file=sys.stderr)
        return 1
    print(text)
    return 0 if good else 1


def find_repository() -> Path:
    """Return the working folder if it is the repository, else the one that this package belongs to."""
    own = Path(__file__).parents[3]
    return Path() if (Path("config") / "scales").is_dir() or not (own / "config" / "scales").is_dir() else own


def _parser() -> argparse.ArgumentParser:
    about = "Inspect a study of learning with label noise."
    parser = argparse.ArgumentParser(prog="warlab", description=about, parents=[_options(before=True)])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in _COMMANDS.items():
        command = commands.add_parser(name, help=text, parents=[_options(before=False)])
        if name in ("explain", "why"):
            command.add_argument("run", help="a run, such as fashion_mnist/asym-40/cnn9/war_w2v/seed0, or its folder")
        if name == "status":
            command.add_argument(
                "--watch", action="store_true", help="in a terminal: show what is in progress, in place"
            )
        if name == "check-plugin":
            command.add_argument("folder", help="the folder that `plugins:` names in your settings")
        if name == "explain":
            command.add_argument("setting", nargs="?", help="one setting, such as warmup or training.lr (default: all)")
    return parser


_COMMANDS = {
    "status": "state, epoch, accuracy and remaining time of every run, and the time that all of them still take",
    "why": "say what has changed since a run was trained: code, settings or input files",
    "plan": "number of trainings and their time for every scale",
    "explain": "show the settings of a run: each value, the layer that decides it, and its source",
    "doctor": "check whether this machine is ready, and say what to do if it is not",
    "audit": "audit FOLDER: find wrong labels in a folder; without FOLDER: show the lists of a study",
    "check-plugin": "check a folder of your own methods, networks and others; run the contract tests for its methods",
}


def _options(before: bool) -> argparse.ArgumentParser:
    """Options of every command, before or after its name; a default after the name must not undo an option before."""
    options = argparse.ArgumentParser(add_help=False, argument_default=None if before else argparse.SUPPRESS)
    options.add_argument("--root", type=Path, help="the repository (default: this folder, or where warlab is)")
    options.add_argument("--configfile", type=Path, help="your settings, which override config/config.yaml")
    options.add_argument("--scale", help="smoke, demo, laptop, cifar, paper or a YAML file (default: the settings')")
    return options


def _merged(config: dict[str, object], more: dict[str, object]) -> dict[str, object]:
    """Merge settings recursively, as Snakemake does with several files."""
    merged = config | more
    for key, value in more.items():
        below = config.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[key] = _merged(below, value)
    return merged


def _answer(options: argparse.Namespace, config: dict[str, Any], root: Path) -> tuple[str, bool]:
    """Return the text to print, and whether the command succeeded."""
    if options.command == "check-plugin":
        return check_plugin(options.folder, root)
    if options.command == "plan":
        return overview(config, root), True
    study = load_study(config, root)
    if options.command == "explain":
        return explain(study, options.run, options.setting), True
    if options.command == "why":
        return why(study, root, options.run), True
    if options.command == "audit":
        return audit(study)
    if options.command == "doctor":
        return doctor(study, root, options.configfile)
    if study.config.get("runs_from"):
        return given_runs(study), True
    in_place = options.watch and sys.stdout.isatty()  # a file or a pipe gets one answer
    return (watch if in_place else status)(study, root), True
