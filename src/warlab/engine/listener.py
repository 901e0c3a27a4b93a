"""Record the logits of every training batch for the audit of the labels, without an additional forward.

The first forward of a network in a step is that of the batch itself; those of a regulariser follow. All networks of a
method are recorded, and means are over all of them. A method that never calls a whole network logs its LOGITS.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn

from warlab.audit.record import Record
from warlab.methods.base import LOGITS, Batch, Log


class Listener:
    """Collects the logits of forwards inside `with listener.hearing():`, and adds them to its record by `note`.

    `units` (samples,) holds the number of the unit that each sample belongs to, such as the object of a pixel; without
    it every sample is judged by itself.
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
        """Record the logits of the batch; removes LOGITS from the log."""
        logged = log.pop(LOGITS, None)
        heard = [logged] if isinstance(logged, Tensor) else list(self.heard.values())
        self.heard = {}
        index = batch.index if self.units is None else self.units[batch.index]
        for logits in heard:
            self.record.update(logits, batch.y, index)

    def _hear(self, number: int, _model: nn.Module, _inputs: Any, output: Tensor) -> None:
        if self.listens:
            self.heard.setdefault(number, output.detach())
