"""The one training loop. It knows batches, losses, optimisers and checkpoints, and no method by name.

All randomness of a step is a function of (seed, epoch, step), so a run that was killed continues to the same bits.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook

from warlab.common.readings import is_tested
from warlab.common.seeds import derive_seed
from warlab.engine.batches import Batches, Evaluation
from warlab.engine.checkpoint import CheckpointFolder, StopRequest
from warlab.engine.listener import Listener
from warlab.engine.optimise import Schedule, set_rate
from warlab.errors import Interrupted, WarlabError
from warlab.methods.base import SELECTED, Log, Method, Step, differentiate

logger = logging.getLogger(__name__)
Row = dict[str, float]
TIMES = ("seconds", "processor_seconds")


@dataclass
class Trainer:
    """Everything that one run consists of; `fit` trains it, from its checkpoint if there is one."""

    method: Method
    models: Sequence[nn.Module]
    optimisers: Sequence[torch.optim.Optimizer]
    schedule: Schedule
    data: Batches
    evaluate: Evaluation
    checkpoints: CheckpointFolder
    seed: int
    fresh: Callable[[int], Sequence[nn.Module]]  # new networks for a method that starts again in this epoch
    on_epoch: Callable[[list[Row]], object]
    listener: Listener
    evaluate_every: int = 1  # epochs
    rows: list[Row] = field(default_factory=list)

    def fit(self, stop: StopRequest) -> list[Row]:
        position = self._restore(self.checkpoints.load())
        while len(self.rows) < self.schedule.epochs:
            self._epoch(len(self.rows), position, stop)
            position = _Position()
        return self.rows

    def _epoch(self, epoch: int, position: "_Position", stop: StopRequest) -> None:
        clock = _Clock(**position.times)
        step = Step(epoch, self.schedule.epochs)
        if position.batch == 0:
            with watched(stop, lambda: self._leave_before(epoch, stop)):
                self._begin(step)
        rate = self.method.lr(step, self.schedule.rate)
        set_rate(self.optimisers, rate)
        for number, index in enumerate(self.data.epoch(epoch)):
            if number < position.batch:
                continue
            torch.manual_seed(derive_seed("step", self.seed, epoch, number))
            position.meter.add(number, *self._step(replace(step, batch=number), index))
            if stop:
                self._interrupt(epoch, _Position(number + 1, clock.times(), position.meter), stop)
            if self.checkpoints.due():
                self._save(epoch, _Position(number + 1, clock.times(), position.meter))
        position.meter.check(self.method, epoch)
        trained = _Position(position.meter.batches, clock.times(), position.meter)
        with watched(stop, lambda: self._interrupt(epoch, trained, stop)):
            tested = is_tested(epoch, self.schedule.epochs, self.evaluate_every)
            found = self.evaluate(self.method, self.models) if tested else {}
        row = {"epoch": epoch + 1, "lr": rate, **position.meter.means(), **found}
        self.rows.append({**row, **clock.times()})
        self.checkpoints.keep(self._state(_Position()))
        self.on_epoch(self.rows)

    def _begin(self, step: Step) -> None:
        if self.method.begins_anew(step):
            for model, new in zip(self.models, self.fresh(step.epoch), strict=True):
                model.load_state_dict(new.state_dict())
            for optimiser in self.optimisers:
                optimiser.state.clear()
        torch.manual_seed(derive_seed("epoch", self.seed, step.epoch))
        self.method.on_epoch_start(self.models, step, self.data)

    def _step(self, step: Step, index: Tensor) -> tuple[Tensor, Log]:
        batch = self.data.batch(index)
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)
        with self.listener.hearing():
            losses, log = self.method.loss(self.models, batch, step)
        self.listener.note(batch, log)
        total = differentiate(losses)
        if isinstance(selected := log.pop(SELECTED, None), Tensor):
            log |= self.evaluate.purity(selected, batch.index)
        for optimiser in self.optimisers:
            optimiser.step()
        return total, log

    def _interrupt(self, epoch: int, position: "_Position", stop: StopRequest) -> None:
        self._save(epoch, position)
        _leave(stop, epoch, position.batch)

    def _leave_before(self, epoch: int, stop: StopRequest) -> None:
        """The state at the end of the epoch before is kept; that of now is half prepared."""
        self.checkpoints.write()
        _leave(stop, epoch, 0)

    def _save(self, epoch: int, position: "_Position") -> None:
        position.meter.check(self.method, epoch)
        self.checkpoints.save(self._state(position))

    def _state(self, position: "_Position") -> dict[str, object]:
        return {
            "models": [model.state_dict() for model in self.models],
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "method": self.method.state_dict(),
            "rows": self.rows,
            "recent": self.evaluate.recent,
            "audit": self.listener.state_dict(),
            "batch": position.batch,
            "times": position.times,
            "meter": vars(position.meter),
        }

    def _restore(self, state: Mapping[str, Any] | None) -> "_Position":
        if state is None:
            return _Position()
        for model, saved in zip(self.models, state["models"], strict=True):
            model.load_state_dict(saved)
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self.method.load_state_dict(state["method"])
        self.rows = state["rows"]
        self.evaluate.recent = state["recent"]
        self.listener.load_state_dict(state["audit"])
        done, batch = len(self.rows), state["batch"]
        place = _place(done, batch) if done < self.schedule.epochs else f"epoch {done}, which was the last"
        logger.info(f"resumed from {place}")
        return _Position(state["batch"], state["times"], _Meter(**state["meter"]))


@dataclass
class _Meter:
    """Sums over the batches of an epoch, kept on the device so that no step waits for a number."""

    batches: int = 0
    sums: dict[str, Tensor | float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    first_bad: Any = -1

    def add(self, number: int, loss: Tensor, log: Log) -> None:
        self.batches += 1
        for name, value in {"loss": loss, **log}.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
            self.counts[name] = self.counts.get(name, 0) + 1
        bad = torch.as_tensor(self.first_bad, device=loss.device)
        self.first_bad = torch.where((bad < 0) & ~torch.isfinite(loss), number, bad)

    def check(self, method: Method, epoch: int) -> None:
        """Before anything is saved: a loss that is not a number ends the run, the last good state stays."""
        if int(self.first_bad) >= 0:
            name = type(method).__module__.rsplit(".", 1)[-1]
            raise WarlabError(
                f"The loss of {name} is not a finite number in epoch {epoch + 1}, batch {int(self.first_bad) + 1}; "
                "the last good checkpoint is kept: lower the learning rate or beta, or look at the data."
            )

    def means(self) -> Row:
        return {name: float(value) / self.counts[name] for name, value in self.sums.items()}


@dataclass
class _Position:
    """Where inside an epoch a run stands."""

    batch: int = 0
    times: Row = field(default_factory=dict)
    meter: _Meter = field(default_factory=_Meter)


class _Clock:
    """How long an epoch has taken: by the clock, and of the processor, which pauses and other work do not count for."""

    def __init__(self, seconds: float = 0.0, processor_seconds: float = 0.0) -> None:
        self.started = time.perf_counter() - seconds, time.process_time() - processor_seconds

    def times(self) -> Row:
        now = time.perf_counter(), time.process_time()
        return dict(zip(TIMES, (end - start for end, start in zip(now, self.started, strict=True)), strict=True))


@contextmanager
def watched(stop: StopRequest, leave: Callable[[], None]) -> Iterator[None]:
    """`leave` as soon as a stop is asked for: an evaluation may take longer than a scheduler waits."""
    handle = register_module_forward_pre_hook(lambda *_: leave() if stop else None)
    try:
        yield
    finally:
        handle.remove()


def _leave(stop: StopRequest, epoch: int, batch: int) -> NoReturn:
    raise Interrupted(f"{stop.received} received: saved {_place(epoch, batch)}.")


def _place(epoch: int, batch: int) -> str:
    """The epoch that a run is in, from 1, and how many of its batches are done."""
    return f"epoch {epoch + 1}, batch {batch}"
