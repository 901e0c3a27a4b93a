"""Log lines on the progress of long jobs and the time that remains."""

import logging
import time
from collections.abc import Sequence

logger = logging.getLogger(__name__)
EVERY = 10.0  # seconds between two lines
RECENT = 3  # epochs


def duration(seconds: float) -> str:
    """Return a duration as text: 1 h 05 min, 3 min 20 s or 12 s."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def seconds_per_epoch(seconds: Sequence[float]) -> float:
    """Estimate the time of the next epochs from the latest ones: those of a warm-up are cheaper than what follows."""
    recent = seconds[-RECENT:]
    return sum(recent) / len(recent)


class Progress:
    """Log a line every ten seconds and at the end: `Progress("step {} of {}", 100)(20)`.

    `start` is what an earlier process has done. `unit` divides the numbers that are shown.
    """

    def __init__(self, text: str, total: int, start: int = 0, unit: int = 1) -> None:
        self.text, self.total, self.start, self.unit = text, total, start, unit
        self.began = self.logged = time.monotonic()

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if now - self.logged < EVERY and done < self.total:
            return
        self.logged = now
        left = (now - self.began) * (self.total - done) / max(done - self.start, 1)
        shown = [n if self.unit == 1 else n / self.unit for n in (done, self.total)]
        logger.info(f"{self.text.format(*shown)}, remaining {duration(left)}")
