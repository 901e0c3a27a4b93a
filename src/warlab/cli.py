"""`warlab status | plan | doctor | speed`: look at a study without running anything."""

import argparse
import sys
from pathlib import Path

from warlab.config import load_study
from warlab.configfiles import read_yaml
from warlab.doctor import doctor
from warlab.errors import WarlabError
from warlab.plan import overview
from warlab.speed import speed
from warlab.status import status


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        config = read_yaml(given.root / "config" / "config.yaml")
        config["scale"] = given.scale or config.get("scale")
        text, good = _answer(given, config, given.root)
    except WarlabError as error:
        print(f"warlab: {error}", file=sys.stderr)
        return 1
    print(text)
    return 0 if good else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="warlab", description="Learning with label noise: look at a study.")
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    parser.add_argument(
        "--scale", help="smoke, demo, laptop, cifar, paper or a YAML file (default: config/config.yaml)"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("status", help="every run with its state, epoch, accuracy and remaining time")
    commands.add_parser("plan", help="trainings and time of every scale")
    commands.add_parser("doctor", help="whether this machine is ready, and what to do where it is not")
    measured = commands.add_parser("speed", help="how fast this machine is, by the finished runs of the scale")
    measured.add_argument("--write", action="store_true", help="into config/speed.yaml, which plan reckons with")
    return parser


def _answer(given: argparse.Namespace, config: dict, root: Path) -> tuple[str, bool]:
    if given.command == "plan":
        return overview(config, root), True
    study = load_study(config, root)
    if given.command == "speed":
        return speed(study, root, given.write), True
    return doctor(study, root) if given.command == "doctor" else (status(study), True)
