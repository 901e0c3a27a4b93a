"""An audit of an own loop for other tools: indices of samples, tables, Label Studio, the page."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from warlab.audit import LabelAudit
from warlab.errors import WarlabError
from warlab.integrations import with_index

N, CLASSES = 12, ["=cat", "dog", "ship"]
FILES = [f"{number}.png" for number in range(N)]


@pytest.fixture
def audit() -> LabelAudit:
    """Three of twelve labels are wrong: 0, 4 and 8, the last the most."""
    truth = torch.arange(N) % 3
    labels = truth.clone()
    labels[[0, 4, 8]] = (labels[[0, 4, 8]] + 1) % 3
    logits = 3.0 * torch.nn.functional.one_hot(truth, 3)
    logits[[0, 4, 8]] *= torch.tensor([[1.0], [1.5], [2.0]])
    one = LabelAudit(N, 3)
    one.update(logits, labels, torch.arange(N))
    return one


def test_every_kind_of_sample_gets_its_index_through_a_shuffled_loader() -> None:
    x = torch.arange(20.0)
    mappings = [{"x": value, "labels": 1} for value in x]
    for dataset in (TensorDataset(x, x.long()), list(zip(x, x, strict=True)), list(x), mappings):
        indexed = with_index(dataset)
        assert len(indexed) == 20 and len(list(indexed)) == 20
        for batch in DataLoader(indexed, batch_size=6, shuffle=True):
            values, index = (batch["x"], batch["index"]) if isinstance(batch, dict) else (batch[0], batch[-1])
            assert torch.equal(values.long(), index)
    assert with_index(list(x))[-1] == (x[19], 19)
    with pytest.raises(WarlabError, match="no fixed order"):
        with_index(iter([1, 2]))
    with pytest.raises(WarlabError, match="a column 'index' already"):
        with_index([{"index": 3}])[0]


def test_names_of_a_shuffled_series_are_taken_by_position_and_mappings_are_refused(
    audit: LabelAudit, tmp_path: Path
) -> None:
    rows = range(N)[::-1]  # of a table that was sorted or split
    frame = audit.to_frame(pd.Series(FILES, index=rows), pd.Series(CLASSES, index=[2, 1, 0]))
    assert frame.equals(audit.to_frame(FILES, CLASSES))
    pictures = [np.full((2, 2), number, np.uint8) for number in range(N)]
    audit.review_page(tmp_path / "series.html", pd.Series(pictures, index=rows))
    audit.review_page(tmp_path / "list.html", pictures)
    assert (tmp_path / "series.html").read_text() == (tmp_path / "list.html").read_text()
    for given in ({0: "cat", 1: "dog", 2: "ship"}, "abc"):
        with pytest.raises(WarlabError, match="give a list of names"):
            audit.to_frame(classes=given)  # type: ignore[arg-type]


def test_a_table_has_the_suspects_in_their_order_with_names(audit: LabelAudit, tmp_path: Path) -> None:
    frame = audit.to_frame(files=FILES, classes=CLASSES)
    assert frame["index"].tolist() == [8, 4, 0] and frame["file"].tolist() == ["8.png", "4.png", "0.png"]
    assert frame["label"].tolist() == ["=cat", "ship", "dog"] and frame["suggested"].tolist() == ["ship", "dog", "=cat"]
    assert frame["combined"].is_monotonic_decreasing
    assert audit.to_frame()["file"].tolist() == ["8", "4", "0"]
    audit.write_csv(tmp_path / "suspects.csv", files=FILES, classes=CLASSES)
    with (tmp_path / "suspects.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(frame.columns) and [row["label"] for row in rows] == ["'=cat", "ship", "dog"]
    np.testing.assert_allclose([float(row["margin"]) for row in rows], frame["margin"], rtol=1e-5)


def test_tasks_of_label_studio(audit: LabelAudit) -> None:
    tasks = audit.label_studio([f"/data/local-files/?d=photos/{name}" for name in FILES], CLASSES)
    assert json.loads(json.dumps(tasks[0])) == {
        "data": {
            "image": "/data/local-files/?d=photos/8.png",
            "file": "/data/local-files/?d=photos/8.png",
            "given_label": "=cat",
        },
        "predictions": [
            {
                "model_version": "warlab",
                "score": pytest.approx(audit.suspects()["combined"][0]),
                "result": [
                    {"from_name": "label", "to_name": "image", "type": "choices", "value": {"choices": ["ship"]}},
                ],
            }
        ],
    }


@pytest.mark.parametrize("as_function", [False, True])
def test_the_page_of_an_own_loop(audit: LabelAudit, tmp_path: Path, as_function: bool) -> None:
    images = np.zeros((N, 3, 20, 20), np.uint8)
    audit.review_page(
        tmp_path / "review.html", (lambda k: images[k]) if as_function else images, FILES, CLASSES, by="loss"
    )
    text = (tmp_path / "review.html").read_text()
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    rows = json.loads(found[1])["rows"]
    assert [row[:3] for row in rows] == [["8.png", 0, 2], ["4.png", 2, 1], ["0.png", 1, 0]] and all(
        row[5] for row in rows
    )
    assert [row[3] for row in rows] == pytest.approx(audit.suspects("loss")["loss"])


def test_names_that_do_not_fit_are_refused(audit: LabelAudit) -> None:
    with pytest.raises(WarlabError, match="12 samples, but files names 3"):
        audit.to_frame(files=FILES[:3])
    with pytest.raises(WarlabError, match="3 classes, but classes names 2"):
        audit.to_frame(classes=["a", "b"])
