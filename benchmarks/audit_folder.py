"""How well `warlab audit FOLDER` finds wrong labels, where the truth is known.

    python benchmarks/audit_folder.py --data data/study --out docs/evidence/audit

The protocol and the candidates were written down before any number was seen: docs/evidence/audit/plan.md. Images and
human labels are fetched by warlab into --data, and features are computed once for each dataset and kept there.
"""

import argparse
import logging
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from audit_quality import Quality, cleanlab_in
from PIL import Image, ImageDraw, ImageFont
from torch.nn.functional import cross_entropy

from warlab import data
from warlab.audit import LabelAudit
from warlab.audit.heads import Table, logistic, ridge, softmax
from warlab.audit.judge import (
    FEW,
    class_means,
    confident_joint,
    keep,
    mean_rank,
    of_label,
    posterior,
    probabilities,
    upper_estimate,
)
from warlab.audit.quality import auroc, average_precision
from warlab.audit.scoring import confident
from warlab.common.files import read_arrays, write_arrays, write_json, write_text
from warlab.common.seeds import derive_seed
from warlab.data.auxiliary import _weights, cifar_n
from warlab.data.fetch import fetch
from warlab.data.formats.image_file import to_square
from warlab.engine.device import device_settings
from warlab.engine.features import BATCH, features_of, pixels
from warlab.noise import transition_matrix
from warlab.noise.kinds.matrix import corrupt
from warlab.reporting.stats import mean_over_seeds

SIZE = 128
SUBSET = 3000
SUBSETS = 3
CHARACTERS = "".join(chr(code) for code in range(33, 127))  # 94 classes
GLYPHS = 20  # images of each


def fetched(folder: Path, name: str) -> Path:
    root = folder / name / "real"
    if not (root / "receipt.json").exists():
        write_json(root / "receipt.json", fetch(data.resource(name), root, "real"))
    return root


def real_images(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    prepared = data.get(name).prepare(fetched(folder, name), {"source": "real"})
    return prepared.arrays["train_x"], prepared.arrays["train_y"].astype(np.int64), list(prepared.about.class_names)


def digits() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return np.rint(images.reshape(-1, 1, 8, 8) * 255 / 16).astype(np.uint8), labels.astype(np.int64)


def glyphs() -> tuple[np.ndarray, np.ndarray]:
    """Characters of the fonts that matplotlib has, turned and moved: many classes, no photographs."""
    import matplotlib

    rng = np.random.default_rng(derive_seed("glyphs"))
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    fonts = sorted(
        [*folder.glob("DejaVuSans*.ttf"), *folder.glob("DejaVuSerif*.ttf"), *folder.glob("STIXGeneral*.ttf")]
    )
    fonts = [font for font in fonts if "Display" not in font.name]
    images, labels = [], np.repeat(np.arange(len(CHARACTERS)), GLYPHS)
    for label in labels:
        font = ImageFont.truetype(str(fonts[rng.integers(len(fonts))]), int(rng.integers(26, 36)))
        image = Image.new("L", (48, 48), 0)
        place = (24 + int(rng.integers(-3, 4)), 24 + int(rng.integers(-3, 4)))
        ImageDraw.Draw(image).text(place, CHARACTERS[label], fill=255, font=font, anchor="mm")
        images.append(np.asarray(image.rotate(float(rng.uniform(-8, 8)), Image.Resampling.BILINEAR)))
    return np.stack(images)[:, None], labels


def upscaled(images: np.ndarray, size: int) -> np.ndarray:
    """Resize as the command does (B, 3, size, size)."""
    shown = [image[0] if len(image) == 1 else image.transpose(1, 2, 0) for image in images]
    return np.stack([to_square(Image.fromarray(image), size) for image in shown])


def features(
    folder: Path, key: str, images: np.ndarray, labels: np.ndarray, index: np.ndarray
) -> dict[str, np.ndarray]:
    """Return labels, features and pixels of some images, computed once; `index` are their numbers in the dataset."""
    file = folder / "features" / f"{key}.npz"
    if not file.exists():
        root = fetched(folder, "efficientnet_lite0")
        compute = features_of("efficientnet_lite0", _weights.read("efficientnet_lite0", root / "receipt.json"), SIZE)
        network, raw = [], []
        for start in range(0, len(images), BATCH):
            part = upscaled(images[start : start + BATCH], SIZE)
            network.append(compute(part).astype(np.float16))
            raw.append(pixels(part).astype(np.float16))
        write_arrays(file, x=np.concatenate(network), pixels=np.concatenate(raw), y=labels, index=index)
        print(f"features of {key}", flush=True)
    return read_arrays(file)


def datasets(folder: Path) -> None:
    """Compute the features of all datasets."""
    keys = ["digits", "glyphs", *(f"{name}-{k}" for k in range(SUBSETS) for name in ("cifar10", "fashion_mnist"))]
    if all((folder / "features" / f"{key}.npz").exists() for key in keys):
        return
    images = {name: real_images(folder, name)[:2] for name in ("cifar10", "fashion_mnist")}
    for name, load in (("digits", digits), ("glyphs", glyphs)):
        x, y = load()
        features(folder, name, x, y, np.arange(len(y)))
    for number in range(SUBSETS):
        for name, (x, y) in images.items():
            order = np.random.default_rng(derive_seed("audit", name)).permutation(len(y))
            index = np.sort(order[number * SUBSET : (number + 1) * SUBSET])
            features(folder, f"{name}-{number}", x[index], y[index], index)


# ---- settings: name → dataset, noise, the part of it


@dataclass(frozen=True)
class Setting:
    dataset: str
    noise: str
    part: str = ""  # first-500, first-200, rare, or all
    pixels: bool = False  # without a network

    @property
    def name(self) -> str:
        return " ".join(filter(None, [self.dataset, self.noise, self.part, "pixels" * self.pixels]))


SELECTION = (
    Setting("cifar10", "aggregate"),
    Setting("cifar10", "sym-2"),
    Setting("cifar10", "asym-40"),
    Setting("fashion_mnist", "sym-5"),
    Setting("fashion_mnist", "sym-20"),
    Setting("fashion_mnist", "instance-20"),
    Setting("digits", "sym-5"),
    Setting("cifar10", "sym-20", "first-500"),
    Setting("cifar10", "unchanged"),
)
REPORT = (
    Setting("cifar10", "worse"),
    Setting("cifar10", "sym-5"),
    Setting("cifar10", "instance-20"),
    Setting("fashion_mnist", "sym-2"),
    Setting("fashion_mnist", "asym-40"),
    Setting("digits", "pairflip-20"),
    Setting("glyphs", "sym-10"),
    Setting("cifar10", "sym-20", "first-200"),
    Setting("cifar10", "sym-5", "rare"),
    Setting("fashion_mnist", "unchanged"),
)
PIXELS_ALONE = (Setting("cifar10", "worse", pixels=True), Setting("fashion_mnist", "asym-40", pixels=True))
HALVES = {"selection": SELECTION, "report": REPORT, "pixels": PIXELS_ALONE}


def part_of(y: np.ndarray, part: str, rng: np.random.Generator) -> np.ndarray:
    """Return the indices of a part: the first of a random order, or 8, 16, 32, … samples of the classes."""
    order = rng.permutation(len(y))
    if part.startswith("first-"):
        return np.sort(order[: int(part[6:])])
    if part == "rare":
        return np.sort(np.concatenate([order[y[order] == k][: 8 * 2**k] for k in range(y.max() + 1)]))
    return np.arange(len(y))


def noisy(y: np.ndarray, setting: Setting, x: np.ndarray, index: np.ndarray, folder: Path, seed: int) -> np.ndarray:
    kind, _, percent = setting.noise.partition("-")
    rng, classes = np.random.default_rng(derive_seed("audit", setting.name, seed)), int(y.max()) + 1
    if kind == "unchanged":
        return y
    if kind in ("aggregate", "worse"):
        return cifar_n.read(fetched(folder, "cifar_n"), "cifar10", True)[KEYS[kind]][index]
    rate = int(percent) / 100
    if kind == "instance":
        return instance_dependent(y, x, classes, rate, rng)
    return corrupt(y, transition_matrix(kind, rate, setting.dataset, classes), rng)


KEYS = {"aggregate": "aggre_label", "worse": "worse_label"}


def instance_dependent(y: np.ndarray, x: np.ndarray, classes: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Xia et al., 2020: a flip rate for each sample, and targets by random projections of its features, by class."""
    rates = np.clip(rng.normal(rate, 0.1, len(y)), 0, 1)
    projections = rng.normal(size=(classes, x.shape[1], classes))
    x = x.astype(np.float64)
    scores = np.stack([row @ projections[label] for row, label in zip(x, y, strict=True)])
    scores /= np.maximum(np.abs(scores).max(1, keepdims=True), 1e-9) / 5  # the sharpest target is not certain
    scores[np.arange(len(y)), y] = -np.inf
    chances = rates[:, None] * softmax(scores)
    chances[np.arange(len(y)), y] = 1 - rates
    return np.array([rng.choice(classes, p=row / row.sum()) for row in chances])


# ---- what is compared


def scores_of(table: Table, y: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return the scores of all candidates and of the others, and what the estimates are made of."""
    everything = np.ones(len(y), bool)
    first = ridge(table, y, classes, everything)
    thresholds = class_means(first, y)
    a, joint = confident(first, y, thresholds), confident_joint(first, y, thresholds)
    n_wrong = round(len(y) - np.trace(joint))
    found = {"A": a, "p1": logistic(table, y, classes, everything)}
    found["L"] = 1 - of_label(found["p1"], y)
    kept = keep(a, y, n_wrong)
    p = probabilities(ridge(table, y, classes, kept), y, kept)
    found["E"], found["suggested"] = posterior(p, y, joint)
    found["Q2"] = 1 - of_label(p, y)
    found["L2"] = 1 - of_label(logistic(table, y, classes, kept), y)
    return found | {"aum": aum(table, y, classes), "neighbours": neighbours(table, y), "n_wrong": np.array(n_wrong)}


def aum(table: Table, y: np.ndarray, classes: int) -> np.ndarray:
    """The area under the margin (Pleiss et al., 2020) of a linear head in 20 epochs of SGD."""
    torch.manual_seed(0)
    net, audit = torch.nn.Linear(len(table.mean), classes), LabelAudit(len(y), classes)
    optimiser = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
    x, labels = torch.from_numpy(table[np.arange(len(y))]), torch.from_numpy(y)
    for _ in range(20):
        for index in torch.randperm(len(y)).split(64):
            logits = net(x[index])
            audit.update(logits, labels[index], index)
            optimiser.zero_grad()
            cross_entropy(logits, labels[index]).backward()
            optimiser.step()
    return audit.scores()["margin"]


def neighbours(table: Table, y: np.ndarray, k: int = 10) -> np.ndarray:
    """The share of other labels among the nearest samples by cosine, as in SimiFeat, weighted by the cosine."""
    x = table[np.arange(len(y))]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    similar = x @ x.T
    np.fill_diagonal(similar, -np.inf)
    nearest = np.argpartition(-similar, k, axis=1)[:, :k]
    weights = np.maximum(np.take_along_axis(similar, nearest, 1), 0)
    return ((y[nearest] != y[:, None]) * weights).sum(1) / np.maximum(weights.sum(1), 1e-9)


def run_cell(folder: Path, half: str, setting: Setting, seed: int) -> None:
    """Compute the scores of one setting on one subset, and keep them."""
    file = cell_file(folder, half, setting, seed)
    if file.exists():
        return
    many = setting.dataset in ("cifar10", "fashion_mnist")
    arrays = read_arrays(folder / "features" / f"{setting.dataset}{f'-{seed}' if many else ''}.npz")
    rows = part_of(arrays["y"], setting.part, np.random.default_rng(derive_seed("part", setting.name, seed)))
    y, x = arrays["y"][rows], arrays["pixels" if setting.pixels else "x"][rows]
    labels = noisy(y, setting, arrays["pixels"][rows], arrays["index"][rows], folder, seed)
    table = Table.standardise(x, np.arange(len(x)))
    found = scores_of(table, labels, int(y.max()) + 1)
    write_arrays(file, **found, y=y, labels=labels)
    print(half, setting.name, seed, flush=True)


# ---- what is reported

OURS = "warlab audit"
CLEANLAB = [(method, adjust) for method in ("self_confidence", "normalized_margin") for adjust in (False, True)]
AT = (10, 50, 100)
TITLE = "# Quality of `warlab audit FOLDER`"


def ranked(cell: dict[str, np.ndarray], cleanlab: Quality | None) -> dict[str, np.ndarray]:
    """Return the scores of a cell by name: ours, the candidates, and the others."""
    candidates: dict[str, np.ndarray] = {name: cell[name] for name in ("A", "L", "Q2", "L2", "E")}
    for one, two in (("L2", "Q2"), ("L2", "E"), ("L", "L2"), ("L", "Q2")):
        candidates[f"{one}+{two}"] = mean_rank(cell[one], cell[two])
    ours = cell["A"] if len(cell["y"]) < FEW else candidates["L2+Q2"]
    others = {"AUM": cell["aum"], "neighbours": cell["neighbours"]}
    if cleanlab:
        p = cell["p1"].astype(np.float64)
        p /= p.sum(1, keepdims=True)
        for method, adjust in CLEANLAB:
            name = f"cleanlab {method.replace('_', ' ')}{', adjusted' if adjust else ''}"
            others[name] = -cleanlab(cell["labels"], p, method=method, adjust_pred_probs=adjust)
    return {OURS: ours} | others | candidates


def quality(score: np.ndarray, wrong: np.ndarray) -> dict[str, float]:
    order = np.argsort(-score, kind="stable")
    found = {"auroc": auroc(score, wrong), "average precision": average_precision(score, wrong)}
    return found | {f"P@{n}": float(wrong[order[:n]].mean()) for n in AT}


def estimates(cell: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the upper estimate and what is marked as likely wrong, against the truth."""
    wrong, marked = cell["y"] != cell["labels"], cell["E"] > 0.5
    right = cell["suggested"] == cell["y"]
    return {
        "wrong": float(wrong.sum()),
        "at most": float(upper_estimate(int(cell["n_wrong"]), cell["E"])),
        "marked": float(marked.sum()),
        "precision": float(wrong[marked].mean()),
        "recall": float(marked[wrong].mean()) if wrong.any() else float("nan"),
        "suggestion right": float(right[wrong & marked].mean()) if wrong.any() else float("nan"),
    }


def measured(folder: Path, cleanlab: Quality | None) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for half, settings in HALVES.items():
        for setting in settings:
            for seed in range(SUBSETS):
                file = cell_file(folder, half, setting, seed)
                if not file.exists():
                    continue
                cell = read_arrays(file)
                about = {"half": half, "setting": setting.name, "seed": seed}
                wrong = cell["y"] != cell["labels"]
                if wrong.any():
                    for score, values in ranked(cell, cleanlab).items():
                        found = quality(values, wrong)
                        rows += [{**about, "score": score, "metric": name, "value": v} for name, v in found.items()]
                rows += [{**about, "score": "estimate", "metric": n, "value": v} for n, v in estimates(cell).items()]
    return rows


def as_markdown(rows: list[dict[str, object]]) -> str:
    """Mean ± half of the 95 % interval over the subsets."""
    frame = pd.DataFrame(rows)
    lines = []
    for (half, setting), group in frame.groupby(["half", "setting"], sort=False):
        lines += ["", f"## {setting} ({half})", ""]
        for part in (group[group["score"] != "estimate"], group[group["score"] == "estimate"]):
            table = part.groupby(["score", "metric"], sort=False)["value"].agg(list).unstack(sort=False)
            if len(table):
                lines += ["", "| | " + " | ".join(table.columns) + " |", "|" + " --- |" * (len(table.columns) + 1)]
                lines += [f"| {name} | " + " | ".join(map(shown, row)) + " |" for name, *row in table.itertuples()]
    return "\n".join([*lines, ""])


def summary(rows: list[dict[str, object]]) -> str:
    """One line for each setting: ours, the best of cleanlab's four scores there, and the paired difference."""
    frame = pd.DataFrame(rows)
    columns = ["P@10", "P@50", "P@100", "average precision"]
    head = ["setting", "half", *columns, "best of cleanlab", "difference", "at most / wrong", "likely wrong: precision"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for (half, setting), group in frame.groupby(["half", "setting"], sort=False):
        by = group.pivot(index="seed", columns=["score", "metric"], values="value")
        ratio = [f"{a:.0f} / {b:.0f}" for a, b in by["estimate"][["at most", "wrong"]].to_numpy()]
        cells = ["", "", "", "", "", ""]
        if OURS in by.columns.get_level_values(0):
            ap = {
                name: by[name, "average precision"]
                for name in sorted(set(by.columns.get_level_values(0)))
                if "cleanlab" in name
            }
            best = max(ap, key=lambda name: float(ap[name].mean()))
            paired = (by[OURS, "average precision"] - ap[best]).tolist()
            cells = [shown(by[OURS, name].tolist()) for name in columns]
            cells += [f"{shown(ap[best].tolist())} ({best.removeprefix('cleanlab ')})", shown(paired)]
        precision = shown(by["estimate", "precision"].tolist())
        lines.append("| " + " | ".join([str(setting), str(half), *cells, ", ".join(ratio), precision]) + " |")
    return "\n".join([*lines, ""])


def shown(values: list[float]) -> str:
    if np.isnan(values).any():
        return ""
    mean, (low, high) = float(np.mean(values)), mean_over_seeds(values).interval()
    digits = 0 if mean > 1.5 else 3
    return f"{mean:.{digits}f}" + (f" ± {(high - low) / 2:.{digits}f}" if high == high else "")


def cell_file(folder: Path, half: str, setting: Setting, seed: int) -> Path:
    return folder / "cells" / half / f"{setting.name.replace(' ', '_')}-{seed}.npz"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder for downloads, features and scores")
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument("--seeds", type=int, nargs="*", default=range(SUBSETS), help="subsets, to run several at once")
    parser.add_argument("--finished", action="store_true", help="compute nothing; report what is finished")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    device_settings(1)
    if not options.finished:
        compute(options.data, options.seeds)
    with tempfile.TemporaryDirectory() as temporary:
        rows = measured(options.data, cleanlab_in(Path(temporary)))
    if options.out:
        write_text(options.out / "folder.csv", pd.DataFrame(rows).round(5).to_csv(index=False))
        write_text(options.out / "folder.md", f"{TITLE}\n\n{summary(rows)}{as_markdown(rows)}")


def compute(folder: Path, seeds: Sequence[int]) -> None:
    datasets(folder)
    for half, settings in HALVES.items():
        for setting in settings:
            for seed in seeds:
                run_cell(folder, half, setting, seed)


if __name__ == "__main__":
    main()
