"""How well `warlab audit FOLDER` finds wrong labels, where the truth is known.

    python benchmarks/audit_folder.py --data data/study --out docs/evidence/audit

The protocol and the candidates were written down before any number was seen: docs/evidence/audit/plan.md. Images and
human labels are fetched by warlab into --data, and features are computed once for each dataset and kept there.
"""

import argparse
import logging
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from audit_quality import Quality, cleanlab_in
from PIL import Image, ImageDraw, ImageFont
from torch.nn.functional import cross_entropy

from warlab import data
from warlab.audit import LabelAudit
from warlab.audit.heads import Table
from warlab.audit.judge import LIKELY, Judgement, Predictions, find_chances, of_label, predict, weigh
from warlab.audit.quality import auroc, average_precision
from warlab.cli.audit import TRAINED_SIZE
from warlab.common.files import read_arrays, write_arrays, write_json, write_text
from warlab.common.seeds import derive_seed
from warlab.data.auxiliary import _weights, cifar_n
from warlab.data.fetch import fetch
from warlab.data.formats.image_file import to_square
from warlab.engine.device import device_settings
from warlab.engine.features import BATCH, features_of, pixels
from warlab.engine.from_scratch import judge_by_training
from warlab.noise import transition_matrix
from warlab.noise.kinds.instance import draw_rates, label_probabilities
from warlab.noise.kinds.matrix import corrupt
from warlab.reporting.stats import mean_over_seeds

SIZE = 128
SUBSET = 3000
SUBSETS = 3
IMAGES = ("cifar10", "fashion_mnist")
CHARACTERS = "".join(chr(code) for code in range(33, 127))  # 94 classes
GLYPHS = 20  # images of each
# Dataset, noise, and the part of it: first-500, rare (8, 16, 32, … images of the classes), pixels alone, or --train.
HALVES = {
    "selection": (
        *("cifar10 aggregate", "cifar10 sym-2", "cifar10 asym-40", "cifar10 sym-20 first-500", "cifar10 unchanged"),
        *("fashion_mnist sym-5", "fashion_mnist sym-20", "fashion_mnist instance-20", "digits sym-5"),
    ),
    "report": (
        *("cifar10 worse", "cifar10 sym-5", "cifar10 instance-20", "cifar10 asym-20", "cifar10 sym-20 first-200"),
        *("cifar10 sym-5 rare", "fashion_mnist sym-2", "fashion_mnist asym-40", "fashion_mnist asym-10"),
        *("fashion_mnist unchanged", "digits pairflip-20", "glyphs sym-10"),
    ),
    "confirmation": (
        *("cifar10 asym-10", "cifar10 sym-3", "cifar10 pairflip-20", "fashion_mnist asym-20", "fashion_mnist sym-3"),
        *("fashion_mnist sym-20 first-200", "fashion_mnist sym-5 rare"),
    ),
    "pixels": ("cifar10 worse pixels", "fashion_mnist asym-40 pixels"),
    "train": ("fashion_mnist asym-40 train-1500", "fashion_mnist sym-5 train-1500", "cifar10 worse train-1500"),
}
HUMAN = {"aggregate": "aggre_label", "worse": "worse_label"}


def fetched(folder: Path, name: str) -> Path:
    root = folder / name / "real"
    if not (root / "receipt.json").exists():
        write_json(root / "receipt.json", fetch(data.resource(name), root, "real"))
    return root


def real_images(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    arrays = data.get(name).prepare(fetched(folder, name), {"source": "real"}).arrays
    return arrays["train_x"], arrays["train_y"].astype(np.int64)


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
    keys = ["digits", "glyphs", *(f"{name}-{k}" for k in range(SUBSETS) for name in IMAGES)]
    if all((folder / "features" / f"{key}.npz").exists() for key in keys):
        return
    images = {name: real_images(folder, name) for name in IMAGES}
    for name, load in (("digits", digits), ("glyphs", glyphs)):
        x, y = load()
        features(folder, name, x, y, np.arange(len(y)))
    for number in range(SUBSETS):
        for name, (x, y) in images.items():
            order = np.random.default_rng(derive_seed("audit", name)).permutation(len(y))
            index = np.sort(order[number * SUBSET : (number + 1) * SUBSET])
            features(folder, f"{name}-{number}", x[index], y[index], index)


# ---- one setting on one subset


def part_of(y: np.ndarray, part: str, rng: np.random.Generator) -> np.ndarray:
    """Return the indices of a part."""
    order = rng.permutation(len(y))
    if part.startswith(("first-", "train-")):
        return np.sort(order[: int(part[6:])])
    if part == "rare":
        return np.sort(np.concatenate([order[y[order] == k][: 8 * 2**k] for k in range(y.max() + 1)]))
    return np.arange(len(y))


def noisy(folder: Path, dataset: str, noise: str, arrays: dict[str, np.ndarray], seed: int) -> np.ndarray:
    y, classes, rng = arrays["y"], int(arrays["y"].max()) + 1, np.random.default_rng(derive_seed("audit", noise, seed))
    kind, _, percent = noise.partition("-")
    if kind == "unchanged":
        return y
    if kind in HUMAN:
        return cifar_n.read(fetched(folder, "cifar_n"), "cifar10", True)[HUMAN[kind]][arrays["index"]]
    rate = int(percent) / 100
    if kind != "instance":
        return corrupt(y, transition_matrix(kind, rate, dataset, classes), rng)
    rates, labels = draw_rates(rate, len(y), rng), np.empty_like(y)
    for label in range(classes):
        members, projection = np.flatnonzero(y == label), rng.normal(size=(arrays["pixels"].shape[1], classes))
        rows = np.concatenate(list(label_probabilities(arrays["pixels"], members, rates, projection, label)))
        labels[members] = [rng.choice(classes, p=row / row.sum()) for row in rows]
    return labels


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


def cell_file(folder: Path, setting: str, seed: int) -> Path:
    return folder / "cells" / f"{setting.replace(' ', '_')}-{seed}.npz"


def run_cell(folder: Path, setting: str, seed: int) -> None:
    """Compute the predictions of one setting on one subset, and keep them."""
    file = cell_file(folder, setting, seed)
    if file.exists():
        return
    dataset, noise, part = f"{setting} all".split()[:3]
    arrays = read_arrays(folder / "features" / f"{dataset}{f'-{seed}' if dataset in IMAGES else ''}.npz")
    rows = part_of(arrays["y"], part, np.random.default_rng(derive_seed("part", setting, seed)))
    arrays = {name: values[rows] for name, values in arrays.items()}
    labels, classes = noisy(folder, dataset, noise, arrays, seed), int(arrays["y"].max()) + 1
    if part.startswith("train-"):
        images = upscaled(real_images(folder, dataset)[0][arrays["index"]], TRAINED_SIZE)
        with tempfile.TemporaryDirectory() as checkpoints:
            judged = judge_by_training(images.__getitem__, labels, classes, Path(checkpoints), b"")
        write_arrays(
            file, **{name: np.array(value) for name, value in vars(judged).items()}, y=arrays["y"], labels=labels
        )
        return
    table = Table.standardise(arrays["pixels" if part == "pixels" else "x"], np.arange(len(rows)))
    others = {"aum": aum(table, labels, classes), "neighbours": neighbours(table, labels)}
    write_arrays(file, **asdict(predict(table, labels, classes)), **others, y=arrays["y"], labels=labels)
    print(setting, seed, flush=True)


# ---- what is reported

OURS = "warlab audit"
CLEANLAB = [(method, adjust) for method in ("self_confidence", "normalized_margin") for adjust in (False, True)]
AT = (10, 50, 100)


def scores_of(cell: dict[str, np.ndarray], cleanlab: Quality | None) -> dict[str, np.ndarray]:
    """Return the scores of a cell by name: ours, its parts, and the others."""
    if "score" in cell:
        return {OURS: cell["score"]}
    labels, found = cell["labels"], Predictions(**{name: cell[name] for name in Predictions.__dataclass_fields__})
    one, two, ridge = (1 - of_label(p, labels) for p in (found.first, found.logistic, found.ridge))
    scores = {OURS: weigh(found, labels).score, "first + ridge": one + ridge, "second + ridge": two + ridge}
    scores |= {"chance": find_chances(found, labels)[0], "AUM": cell["aum"], "neighbours": cell["neighbours"]}
    if cleanlab:
        p = found.first.astype(np.float64)
        p /= p.sum(1, keepdims=True)
        for method, adjust in CLEANLAB:
            name = f"cleanlab {method.replace('_', ' ')}{', adjusted' if adjust else ''}"
            scores[name] = -cleanlab(labels, p, method=method, adjust_pred_probs=adjust)
    return scores


def quality(score: np.ndarray, wrong: np.ndarray) -> dict[str, float]:
    order = np.argsort(-score, kind="stable")
    found = {"AUROC": auroc(score, wrong), "average precision": average_precision(score, wrong)}
    return found | {f"P@{n}": float(wrong[order[:n]].mean()) for n in AT}


def estimates(cell: dict[str, Any]) -> dict[str, float]:
    """Return the upper estimate and what is marked as likely wrong, against the truth."""
    if "score" in cell:
        found = Judgement(**{name: cell[name] for name in Judgement.__dataclass_fields__})
    else:
        found = weigh(Predictions(**{name: cell[name] for name in Predictions.__dataclass_fields__}), cell["labels"])
    wrong, marked, right = cell["y"] != cell["labels"], found.chance > LIKELY, found.suggested == cell["y"]
    return {
        "wrong": float(wrong.sum()),
        "at most": float(found.at_most),
        "marked": float(marked.sum()),
        "precision": float(wrong[marked].mean()),
        "recall": float(marked[wrong].mean()) if wrong.any() else float("nan"),
        "suggestion right": float(right[wrong & marked].mean()) if wrong.any() else float("nan"),
    }


def measured(folder: Path, cleanlab: Quality | None) -> pd.DataFrame:
    rows = []
    for setting, half in ((setting, half) for half, settings in HALVES.items() for setting in settings):
        for seed in range(SUBSETS):
            if not (file := cell_file(folder, setting, seed)).exists():
                continue
            cell = read_arrays(file)
            wrong = cell["y"] != cell["labels"]
            found = {"estimate": estimates(cell)}
            if wrong.any():
                found |= {name: quality(score, wrong) for name, score in scores_of(cell, cleanlab).items()}
            rows += [(half, setting, seed, score, *item) for score, each in found.items() for item in each.items()]
    return pd.DataFrame(rows, columns=["half", "setting", "seed", "score", "metric", "value"])


def summary(frame: pd.DataFrame) -> str:
    """One line for each setting: ours, the best of cleanlab's four scores there, the paired difference, estimates."""
    columns = ["P@10", "P@50", "P@100", "average precision"]
    head = ["setting", "half", *columns, "best of cleanlab", "difference", "at most / wrong", "likely wrong: precision"]
    lines = []
    for (half, setting), group in frame.groupby(["half", "setting"], sort=False):
        by = group.pivot(index="seed", columns=["score", "metric"], values="value")
        ratio = ", ".join(f"{a:.0f} / {b:.0f}" for a, b in by["estimate"][["at most", "wrong"]].to_numpy())
        cells = [""] * 6
        if OURS in by:
            theirs = [score for score in group["score"].unique() if score.startswith("cleanlab")]
            cells[:4] = [shown(by[OURS, name]) for name in columns]
            if theirs:
                best = max(theirs, key=lambda score: float(by[score, "average precision"].mean()))
                ours, other = by[OURS, "average precision"], by[best, "average precision"]
                cells[4:] = [f"{shown(other)} ({best[9:]})", shown(ours - other)]
        lines.append([str(setting), str(half), *cells, ratio, shown(by["estimate", "precision"])])
    return as_table(head, lines)


def by_score(frame: pd.DataFrame, metric: str) -> str:
    """One line for each setting, one column for each score."""
    part = frame[frame["metric"] == metric]
    table = part.groupby(["setting", "score"], sort=False)["value"].agg(shown).unstack(sort=False)
    return as_table(["setting", *table.columns], table.fillna("").reset_index().to_numpy().astype(str).tolist())


def as_table(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *lines)) + "\n"


def shown(values: Any) -> str:
    """Mean ± half of the 95 % interval over the subsets."""
    low, high = mean_over_seeds(values.tolist()).interval()
    return f"{values.mean():.3f}" + (f" ± {(high - low) / 2:.3f}" if len(values) > 2 else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder for downloads, features and predictions")
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument("--seeds", type=int, nargs="*", default=range(SUBSETS), help="subsets, to run several at once")
    parser.add_argument("--halves", nargs="*", default=HALVES, help=" ".join(HALVES))
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    device_settings(1)
    datasets(options.data)
    for setting in (setting for half in options.halves for setting in HALVES[half]):
        for seed in options.seeds:
            run_cell(options.data, setting, seed)
    if options.out:
        with tempfile.TemporaryDirectory() as temporary:
            frame = measured(options.data, cleanlab_in(Path(temporary)))
        write_text(options.out / "folder.csv", frame.round(5).to_csv(index=False))
        metrics = ("average precision", "AUROC", "P@10", "P@50", "P@100")
        parts = [f"## {metric}\n\n{by_score(frame, metric)}" for metric in metrics]
        write_text(
            options.out / "folder.md", "\n".join([f"# Quality of `warlab audit FOLDER`\n\n{summary(frame)}", *parts])
        )


if __name__ == "__main__":
    main()
