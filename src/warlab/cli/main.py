"""`warlab status | plan | doctor | speed | audit`: look at a study without running anything."""

import argparse
import sys
from pathlib import Path
from typing import Any

from warlab.cli.doctor import doctor
from warlab.cli.status import status
from warlab.cli.suspects import audit
from warlab.config.reading import read_yaml
from warlab.config.study import load_study
from warlab.errors import WarlabError
from warlab.pipeline.run_times import measure_speed, overview


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        root = given.root or Path()
        config = read_yaml(root / "config" / "config.yaml")
        if given.configfile:
            config = _merged(config, read_yaml(given.configfile))
        config["scale"] = given.scale or config.get("scale")
        text, good = _answer(given, config, root)
    except WarlabError as error:
        print(f"warlab: {error}", file=sys.stderr)
        return 1
    print(text)
    return 0 if good else 1


def _parser() -> argparse.ArgumentParser:
    about = "Learning with label noise: look at a study."
    parser = argparse.ArgumentParser(prog="warlab", description=about, parents=[_options(before=True)])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in _COMMANDS.items():
        command = commands.add_parser(name, help=text, parents=[_options(before=False)])
        if name == "speed":
            command.add_argument("--write", action="store_true", help="write into config/speed.yaml, which plan uses")
    return parser


_COMMANDS = {
    "status": "every run with its state, epoch, accuracy and remaining time, and the time that the rest takes",
    "plan": "trainings and time of every scale",
    "doctor": "whether this machine is ready, and what to do where it is not",
    "speed": "how fast this machine is, by the finished runs of the scale",
    "audit": "where the lists of labels that look wrong are, and the first ten of one",
}


def _options(before: bool) -> argparse.ArgumentParser:
    """The options of every command, which may stand before or behind it; a default behind must not undo one before."""
    options = argparse.ArgumentParser(add_help=False, argument_default=None if before else argparse.SUPPRESS)
    options.add_argument("--root", type=Path, help="the repository (default: here)")
    options.add_argument("--configfile", type=Path, help="your settings, on top of config/config.yaml")
    options.add_argument("--scale", help="smoke, demo, laptop, cifar, paper or a YAML file (default: the settings')")
    return options


def _merged(config: dict[str, object], more: dict[str, object]) -> dict[str, object]:
    """As Snakemake puts one file of settings on top of another."""
    merged = config | more
    for key, value in more.items():
        below = config.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[key] = _merged(below, value)
    return merged


def _answer(given: argparse.Namespace, config: dict[str, Any], root: Path) -> tuple[str, bool]:
    if given.command == "plan":
        return overview(config, root), True
    study = load_study(config, root)
    if given.command == "speed":
        return measure_speed(study, root, given.write), True
    if given.command == "audit":
        return audit(study)
    return doctor(study, root) if given.command == "doctor" else (status(study, root), True)
