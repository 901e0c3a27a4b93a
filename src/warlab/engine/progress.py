"""What a person sees of a run: one line per epoch with an estimate of what remains, and a live metrics.csv."""

from collections.abc import Callable
from pathlib import Path

from warlab.common.files import write_text

Row = dict[str, float]


class Progress:
    def __init__(self, epochs: int, say: Callable[[str], None], live: Path, to_csv: Callable[[list[Row]], str]) -> None:
        self.epochs = epochs
        self.say = say
        self.live = live
        self.to_csv = to_csv

    def __call__(self, rows: list[Row]) -> None:
        write_text(self.live, self.to_csv(rows))
        last, left = rows[-1], self.epochs - len(rows)
        # The newest epochs foretell the rest best: a warm-up is cheaper than what follows it.
        recent = [row["seconds"] for row in rows[-3:]]
        remaining = duration(left * sum(recent) / len(recent))
        test = f"test {last['test_accuracy']:.2f} %" if "test_accuracy" in last else "not tested"
        self.say(
            f"epoch {len(rows)}/{self.epochs}  loss {last['loss']:.4f}  {test}  "
            f"{last['seconds']:.1f} s/epoch  remaining {remaining}"
        )


def duration(seconds: float) -> str:
    """1 h 05 min, 3 min 20 s or 12 s"""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"
