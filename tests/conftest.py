"""Shared by all tests: the repository's root, small learnable images, and what warlab logs."""

import logging
import os
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side; more threads only compete
os.environ.setdefault("WARLAB_CHECKPOINT_SECONDS", "0")  # tests of resuming need a checkpoint at every epoch

from pathlib import Path

import numpy as np
import pytest
import torch

from warlab.common.seeds import derive_seed
from warlab.errors import WarlabError

ROOT = Path(__file__).parents[1]
torch.set_num_threads(1)


class _Messages(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


_listening: list[tuple[logging.Logger, _Messages]] = []


def logged(package: str = "warlab") -> list[str]:
    """Return a list that collects what a package logs from now on, until the next call or the end of the test."""
    _stop_listening()
    logger, handler = logging.getLogger(package), _Messages()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    _listening.append((logger, handler))
    return handler.texts


@pytest.fixture(autouse=True)
def _stop_listening_after_a_test() -> Iterator[None]:
    yield
    _stop_listening()


def _stop_listening() -> None:
    while _listening:
        logger, handler = _listening.pop()
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


@pytest.fixture(autouse=True, scope="session")
def _every_error_is_one_sentence() -> Iterator[None]:
    """Check each WarlabError that any test meets in this process."""

    def check(error: WarlabError, text: str) -> None:
        Exception.__init__(error, text)
        assert "\n" not in text and len(text) < 2000, text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WarlabError, "__init__", check)
        yield


# The longest files, the longest first: with `--dist loadfile` a file stays on one core, so these must not begin last.
_LONGEST = (
    "workflow/test_workflow.py",
    "project/test_documents.py",
    "workflow/test_edits.py",
    "faults/test_workflow_faults.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {ROOT / "tests" / name: number for number, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def blobs(n: int, classes: int, seed: int = 0, size: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Draw uint8 images (n, 1, size, size), each with a bright spot at the place of its class, and their labels."""
    rng = np.random.default_rng(derive_seed("blobs", seed))
    y = np.arange(n) % classes
    x = rng.integers(0, 60, (n, 1, size, size))
    angle = 2 * np.pi * y / classes
    row = np.round((size / 2 - 2) * (1 + np.sin(angle))).astype(int)
    column = np.round((size / 2 - 2) * (1 + np.cos(angle))).astype(int)
    for i in range(n):
        x[i, 0, row[i] : row[i] + 3, column[i] : column[i] + 3] += 180
    return x.astype(np.uint8), y.astype(np.int64)
