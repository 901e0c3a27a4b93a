"""What jobs ask a cluster for: memory of the machine in MB and time in minutes, by what a sample is.

Measured on CPUs: 0.4 GB at the smoke scale, 0.5 GB at demo and laptop. The rest is reckoned for one GPU (A100, float32)
with room: a whole Vaihingen study is 3 GB of pixels and labels, and a run of 22 h; shards of Clothing1M are 20 GB on
disk that want a page cache, and a run of 21 h. A run that meets its time limit saves and goes on when it is retried.
"""

from typing import NamedTuple

from warlab import data

MOST_TRIES = 3  # memory grows with every try up to here


class Effort(NamedTuple):
    mem_mb: int
    minutes: int
    threads: int = 1


_TRAINING = {"images": Effort(4000, 720), "tiles": Effort(8000, 2160), "stored": Effort(16000, 2160)}
_PREPARING = {"images": Effort(8000, 30), "tiles": Effort(8000, 60), "stored": Effort(8000, 1440, threads=4)}


def training(dataset: str, source: str) -> Effort:
    """One training; stand-ins are small whatever they stand for."""
    return _TRAINING["images" if source == "stand_in" else data.get(dataset).samples]


def preparing(dataset: str, source: str) -> Effort:
    """A million images to resize take hours and several cores; arrays take seconds."""
    return _PREPARING["images" if source == "stand_in" else data.get(dataset).samples]


def grown(mem_mb: int, attempt: int) -> int:
    return mem_mb * min(attempt, MOST_TRIES)
