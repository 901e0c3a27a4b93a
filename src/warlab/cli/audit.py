"""The command `warlab audit FOLDER`: find wrong labels in a folder of images. It needs only the extra `audit`.

Without a folder, the command shows the lists of a study (`warlab.cli.main`).
"""

import argparse
import fcntl
import logging
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from warlab.common.wording import for_terminal
from warlab.errors import WarlabError

if TYPE_CHECKING:
    import numpy as np

    from warlab.audit.folder import Listing
    from warlab.audit.report import AuditResult
    from warlab.engine.features import Features

logger = logging.getLogger("warlab")
NETWORK = "efficientnet_lite0"
PIXELS = "pixels"
TRAINED_SIZE = 32  # pixels of the images on which --train trains
SIZE = 128  # pixels; 64 lose much, 224 take four times as long (docs/evidence/audit)
FIRST = 10  # suspects that are printed
NAMED = 20  # unreadable files that are printed
MOST_LOOK_WRONG = (
    "This is more than half: the features do not separate these classes, and the numbers mean nothing. Try another",
    "--network, a larger --size or more images.",
)


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.folder is None:
        from warlab.cli.main import main as workflow

        return workflow(["audit", *arguments])
    try:
        with _messages():
            (apply if options.apply else audit)(options.folder, options.out, options)
    except WarlabError as error:
        print(for_terminal(f"warlab: {error}"), file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        print(
            f"warlab: an audit needs {error.name}, which is not installed; run pip install '.[audit]' in the "
            "repository of warlab.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("warlab: stopped; run the same command again to continue.", file=sys.stderr)
        return 130
    except OSError as error:
        print(for_terminal(f"warlab: {_cause(error)}; make it accessible, or choose another folder."), file=sys.stderr)
        return 1
    return 0


def _cause(error: OSError) -> str:
    """Return what the system could not do, and with which file."""
    said = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {said}" if isinstance(error.filename, str | bytes) else said


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warlab audit",
        description="Find wrong labels in a folder of images. The folder is not changed. Without FOLDER, show the "
        "lists of a study of the workflow.",
    )
    add = parser.add_argument
    add("folder", type=Path, nargs="?", metavar="FOLDER", help="a folder per class, or a CSV file (file, label)")
    add("--out", type=Path, help="folder for the results (default: FOLDER-audit)")
    add("--network", default=NETWORK, help=f"{NETWORK} (default), torchvision/NAME, timm/NAME, or {PIXELS}")
    add("--train", action="store_true", help="train a small network on these images, in place of a pre-trained one")
    add("--size", type=int, help=f"pixels of the images that it is given (default: {SIZE}, to --train {TRAINED_SIZE})")
    add("--weights", type=Path, help=f"folder with the weights of {NETWORK}, if there is no network")
    add("--threads", type=int, default=len(os.sched_getaffinity(0)), help="default: all cores")
    add(
        "--apply", type=Path, metavar="DECISIONS", help="write labels.csv from decisions.csv, which review.html exports"
    )
    add("--copy", type=Path, metavar="NEW", help="with --apply: also copy the images into a corrected folder")
    for name in ("--root", "--configfile", "--scale"):
        add(name, help=argparse.SUPPRESS)  # of the workflow
    return parser


@contextmanager
def _messages() -> Iterator[None]:
    """Show what warlab logs on the standard error."""
    ours, handler = logging.getLogger("warlab"), logging.StreamHandler(sys.stderr)
    level = ours.level
    handler.addFilter(_escape)
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
    try:
        yield
    finally:
        ours.removeHandler(handler)
        ours.setLevel(level)


def _escape(record: logging.LogRecord) -> bool:
    """Escape what the names of files and classes would do to the terminal."""
    record.msg, record.args = for_terminal(record.getMessage()), None
    return True


def apply(path: Path, out: Path | None, options: argparse.Namespace) -> None:
    """Correct the labels at `path` by the decisions of a person: write labels.csv and, if asked for, a new folder."""
    from warlab.audit.decisions import LABELS, apply_decisions
    from warlab.audit.folder import find_images

    found = find_images(path)
    out = out or _beside(path)
    for each in (out, options.copy or out):
        _check_outside(each, path)
    if (out / LABELS).resolve() == path.resolve():
        raise WarlabError(f"{path} is the list of labels that was audited, which is not changed; choose another --out.")
    labels = {file: found.classes[label] for file, label in zip(found.files, found.labels, strict=True)}
    print(for_terminal(apply_decisions(options.apply, found.folder, labels, found.classes, out, options.copy)))


def audit(path: Path, out: Path | None, options: argparse.Namespace) -> "AuditResult":
    """Judge the labels at `path`, write the results and print them."""
    from warlab.audit.folder import find_images
    from warlab.audit.review import PAGE, review_folder
    from warlab.engine.device import device_settings

    if options.copy:
        raise WarlabError("--copy belongs to --apply: review the suspects first, and export decisions.csv.")
    if options.size is None:
        options.size = TRAINED_SIZE if options.train else SIZE
    if options.size < 16 or options.threads < 1:
        raise WarlabError("--size must be at least 16 and --threads at least 1.")
    if options.train and (options.network != NETWORK or options.weights):
        raise WarlabError("--train takes no --network and no --weights: its network is trained from scratch.")
    device_settings(options.threads)
    found = find_images(path).sort()
    out = out or _beside(path)
    _announce(path, found)
    with _alone(out, path):
        result = _judged(found, out, options)
        result.save(out)
        review_folder(out / PAGE, result, _next_command(path, options.out))
    print(describe(result, out))
    return result


def _next_command(path: Path, out: Path | None) -> str:
    """Return the command that applies the decisions."""
    chosen = [] if out is None else ["--out", str(out)]
    return shlex.join(["warlab", "audit", str(path), *chosen, "--apply", "decisions.csv"])


def _beside(path: Path) -> Path:
    whole = path.resolve()
    return whole.with_name(f"{whole.stem if path.is_file() else whole.name}-audit")


def _announce(path: Path, found: "Listing") -> None:
    sizes = dict(zip(found.classes, found.sizes.tolist(), strict=True))
    shown = [f"{name} {size}" for name, size in list(sizes.items())[:NAMED]] + ["…"] * (len(sizes) > NAMED)
    logger.info(f"{path}: {len(found.files)} images of {len(sizes)} classes ({', '.join(shown)})")
    for message in filter(None, found.left_out):
        logger.info(message)
    if rare := [name for name, size in sizes.items() if size < 5]:
        logger.info(f"too few images to judge well, fewer than 5: {', '.join(rare[:NAMED])}")


def _check_outside(out: Path, folder: Path) -> None:
    """Refuse to write into the user's folder. Beside a CSV file is no such place."""
    if out.resolve().is_relative_to(folder.resolve()):
        raise WarlabError(f"{out} is inside of {folder}, which an audit does not change; choose another folder.")


@contextmanager
def _alone(out: Path, folder: Path) -> Iterator[None]:
    """Hold the output folder."""
    _check_outside(out, folder)
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise WarlabError(f"Another audit writes to {out}; wait for it, or choose another --out.") from error
        yield


def _judged(found: "Listing", out: Path, options: argparse.Namespace) -> "AuditResult":
    import numpy as np

    from warlab.audit.heads import Table
    from warlab.audit.judge import LIKELY, judge
    from warlab.audit.report import AuditResult
    from warlab.engine.feature_store import FeatureStore
    from warlab.engine.from_scratch import judge_by_training

    compute, key, judged_by = _features(options)
    store = FeatureStore(out / "features", key, options.size)
    rows, problems = store.fill([found.folder / file for file in found.files], compute, options.threads)
    unreadable = {found.files[index]: problem for index, problem in problems.items()}
    for file, problem in list(unreadable.items())[:NAMED]:
        logger.info(f"not judged: {file}: {problem}")
    read = found.select(rows >= 0)
    if (read.sizes > 0).sum() < 2:
        raise WarlabError(f"Images of fewer than two classes could be read in {found.folder}; repair them.")
    stored, rows = store.rows(), rows[rows >= 0]
    different = len(np.unique(rows))
    if different < len(rows):
        other = len(np.unique(rows * len(read.classes) + read.labels)) - different
        logger.info(f"copies of another file: {len(rows) - different}, of which under another label: {other}")
    if options.train:
        shape = (-1, 3, options.size, options.size)
        judgement = judge_by_training(
            lambda index: stored[rows[index]].astype(np.uint8).reshape(shape),
            read.labels,
            len(read.classes),
            store.folder,
            store.key.encode() + b"".join(store.known) + rows.tobytes(),
        )
    else:
        judgement = judge(Table.standardise(stored, rows), read.labels, len(read.classes))
    order = np.argsort(-judgement.score, kind="stable")
    return AuditResult(
        folder=found.folder,
        listing=found.listing,
        classes=found.classes,
        files=tuple(read.files[index] for index in order),
        labels=read.labels[order],
        suggested=judgement.suggested[order],
        score=judgement.score[order],
        chance=judgement.chance[order],
        likely_wrong=judgement.chance[order] > LIKELY,
        unreadable=unreadable,
        at_most=judgement.at_most,
        rates=judgement.rates,
        judged_by=judged_by,
    )


def _features(options: argparse.Namespace) -> "tuple[Features, str, str]":
    """Return what computes the features, a name for their file, and what they are, for people. Features of other
    weights have another name."""
    from warlab.common.files import digest
    from warlab.engine.features import features_of, features_of_library, pixels

    size = options.size
    if options.train:
        return _as_they_are, f"images-{size}", f"a network trained on these images at {size} pixels"
    if options.network == PIXELS:
        return pixels, f"{PIXELS}-{size}", "the pixels alone"
    if options.network != NETWORK:
        compute, version = features_of_library(options.network, size)
        key = f"{options.network.replace('/', '-')}-{size}-{version[:12]}"
        return compute, key, f"{options.network} at {size} pixels"
    try:
        weights = _weights(options.weights)
    except WarlabError as error:
        if options.weights:
            raise
        logger.info(str(error))
        logger.info(
            "Without these weights the audit looks at pixels alone. That suffices for simple pictures such as digits; "
            "in photographs it finds far fewer wrong labels (docs/find-wrong-labels.md)."
        )
        return pixels, f"{PIXELS}-{size}", "the pixels alone, for want of a pre-trained network"
    key = f"{NETWORK}-{size}-{digest(weights)[:12]}"
    return features_of(NETWORK, weights, size), key, f"EfficientNet-lite0 at {size} pixels"


def _as_they_are(images: "np.ndarray") -> "np.ndarray":
    """Return images (B, 3, H, W) as rows."""
    return images.reshape(len(images), -1)


def _weights(local: Path | None) -> bytes:
    """Return the weights, which are fetched once per user."""
    from warlab import data
    from warlab.common.files import write_json
    from warlab.data.auxiliary import _weights
    from warlab.data.fetch import fetch

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warlab" / NETWORK
    receipt = cache / data.RECEIPT
    if not receipt.exists():
        write_json(receipt, fetch(data.resource(NETWORK), cache, "real", local))
    return _weights.read(NETWORK, receipt)


def describe(result: "AuditResult", out: Path) -> str:
    """Return what the user is told at the end."""
    n, marked = len(result.files), int(result.likely_wrong.sum())
    per_class = sorted(zip(result.rates, result.classes, strict=True), reverse=True)[:FIRST]
    lines = [
        f"Up to about {result.at_most} of {n} labels look wrong. This is an upper estimate: where few are wrong,",
        "most of these are right. Stop looking where a page of suspects has few wrong ones.",
        f"{marked} are marked as likely wrong. Judged by {result.judged_by}.",
        *(MOST_LOOK_WRONG if result.at_most > n / 2 else ()),
        f"By class, at most: {', '.join(f'{name} {100 * rate:.0f} %' for rate, name in per_class)}",
        "",
        f"Look at them in a browser: {out / 'review.html'}",
        "",
        f"The first {min(FIRST, n)} of {out / 'suspects.csv'}:",
    ]
    rows = zip(result.files[:FIRST], result.labels, result.suggested, result.chance, strict=False)
    names = [for_terminal(name) for name in result.classes]
    cells = [(for_terminal(file), f"{names[a]} → {names[b]}?", f"{c:.2f}") for file, a, b, c in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(2)]
    lines += [f"{a:{widths[0]}}  {b:{widths[1]}}  {c}" for a, b, c in cells]
    return "\n".join(map(for_terminal, lines))
