"""Memory (MB), time (minutes) and threads that jobs request from a cluster, by the kind of samples of a dataset.

Measured on CPUs: 0.4 GB at the smoke scale, 0.5 GB at demo and laptop. The rest are generous estimates for one GPU
(A100, float32): a whole Vaihingen study has 3 GB of pixels and labels, and a run of 22 h; the shards of Clothing1M take
20 GB on disk, which need a page cache, and a run takes 21 h. A run that reaches its time limit saves its state and
continues when it is retried.
"""

from typing import NamedTuple

from warlab import data

MOST_TRIES = 3  # the memory grows with every try, up to this one


class Effort(NamedTuple):
    mem_mb: int
    minutes: int
    threads: int = 1


_TRAINING = {"images": Effort(4000, 720), "tiles": Effort(8000, 2160), "stored": Effort(16000, 2160)}
_PREPARING = {"images": Effort(8000, 30), "tiles": Effort(8000, 60), "stored": Effort(8000, 1440, threads=4)}


def training(dataset: str, source: str) -> Effort:
    """Return what one training requests. Stand-ins are small, whatever they replace."""
    return _TRAINING["images" if source == "stand_in" else data.get(dataset).samples]


def preparing(dataset: str, source: str) -> Effort:
    """Return what preparing data requests: hours on several cores for a million images, seconds for arrays."""
    return _PREPARING["images" if source == "stand_in" else data.get(dataset).samples]


def grow_memory(mem_mb: int, attempt: int) -> int:
    """Return the memory of a job at its first, second, … attempt."""
    return mem_mb * min(attempt, MOST_TRIES)
