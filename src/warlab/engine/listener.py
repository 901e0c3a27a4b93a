"""What the networks say of every training batch, handed to the audit of the labels; no forward is added for it.

In a step the first forward of each network is that of the batch itself; those of a regulariser follow it. Of two
networks both are heard, so that means go over both. A method that never calls a network as a whole logs its LOGITS.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn

from warlab.audit.record import Record
from warlab.methods.base import LOGITS, Batch, Log


class Listener:
    """Hears forwards `with listener.hearing():` and writes them down by `note`.

    `units` gives for every sample the number of what is judged, such as the object that a pixel belongs to; without it
    each of the `samples` is judged by itself.
    """

    def __init__(self, models: Sequence[nn.Module], samples: int, classes: int, units: Tensor | None = None) -> None:
        self.record = Record(samples if units is None else int(units.max()) + 1, classes)
        self.units = units
        self.listens = False
        self.heard: dict[int, Tensor] = {}  # network → its logits in this step
        for number, model in enumerate(models):
            model.register_forward_hook(partial(self._hear, number))

    @contextmanager
    def hearing(self) -> Iterator[None]:
        self.listens = True
        try:
            yield
        finally:
            self.listens = False

    def note(self, batch: Batch, log: Log) -> None:
        """Write down what was heard of the batch; takes the LOGITS out of the log."""
        logged = log.pop(LOGITS, None)
        heard = [logged] if isinstance(logged, Tensor) else list(self.heard.values())
        self.heard = {}
        index = batch.index if self.units is None else self.units[batch.index]
        for logits in heard:
            self.record.update(logits, batch.y, index)

    def _hear(self, number: int, _model: nn.Module, _inputs: Any, output: Tensor) -> None:
        if self.listens:
            self.heard.setdefault(number, output.detach())
