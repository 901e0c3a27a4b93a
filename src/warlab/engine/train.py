"""The training loop, which is the same for all methods: batches, losses, optimisers, evaluation and checkpoints.

The random numbers of a step depend only on (seed, epoch, step), so that a killed run continues to the same bits.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook

from warlab.audit.record import Record
from warlab.common.readings import HELD_OUT, HELD_OUT_LOSS, LAST, is_tested
from warlab.common.seeds import derive_seed
from warlab.engine.checkpoint import CheckpointFolder, StopRequest
from warlab.engine.images import PURITY, Batches, Evaluation
from warlab.errors import Interrupted, WarlabError
from warlab.methods.base import LOGITS, SELECTED, Batch, Log, Method, Step, add_gradients

logger = logging.getLogger(__name__)
Row = dict[str, float]
TIMES = ("seconds", "processor_seconds")
Networks = Callable[[int], Sequence[nn.Module]]  # new networks for a run that starts, or starts again, in this epoch


@dataclass(frozen=True)
class Schedule:
    """The learning rate is divided by ten at the start of each of the epochs `drops`, which count from 0."""

    epochs: int
    lr: float
    drops: tuple[int, ...] = ()

    def rate(self, epoch: int) -> float:
        return self.lr * 0.1 ** sum(epoch >= drop for drop in self.drops)


def _clocks() -> Row:
    return dict(zip(TIMES, (time.perf_counter(), time.process_time()), strict=True))


@dataclass
class _Meter:
    """The unfinished epoch: the number of its batches so far, sums over them, and the time that they took, by the clock
    and of the processor, without the pauses between interrupted parts.

    Sums stay on the device, so that no step waits for a number.
    """

    batches: int = 0
    sums: dict[str, Tensor | float] = field(default_factory=dict)
    counts: dict[str, Tensor | int] = field(default_factory=dict)
    first_bad: Any = -1
    times: Row = field(default_factory=lambda: dict.fromkeys(TIMES, 0.0))
    clocks: Row = field(default_factory=_clocks)  # at the last update of `times`

    def tick(self) -> Row:
        """Update the times and return them."""
        before, self.clocks = self.clocks, _clocks()
        self.times = {name: self.times[name] + self.clocks[name] - before[name] for name in TIMES}
        return self.times

    def add(self, loss: Tensor, log: Log) -> None:
        for name, value in {"loss": loss, **log}.items():
            counted: Tensor | int = 1
            if name == PURITY and isinstance(value, Tensor):  # NaN in a batch of which nothing is selected
                value, counted = value.nan_to_num(), ~value.isnan()
            self.sums[name] = self.sums.get(name, 0.0) + value
            self.counts[name] = self.counts.get(name, 0) + counted
        bad = torch.as_tensor(self.first_bad, device=loss.device)
        self.first_bad = torch.where((bad < 0) & ~torch.isfinite(loss), self.batches, bad)
        self.batches += 1

    def means(self) -> Row:
        return {name: float(value) / int(self.counts[name]) for name, value in self.sums.items() if self.counts[name]}


class Recorder:
    """Record the logits of every training batch for the audit of the labels, without an extra forward pass.

    The first forward pass of a network in a step is that of the batch itself; those of a regulariser follow. All
    networks of a method are recorded, and means are over all of them. A method that never calls a whole network logs
    its LOGITS. `units` (samples,) is the unit that each sample belongs to, such as the object of a pixel; without it
    every sample is judged by itself.
    """

    def __init__(self, models: Sequence[nn.Module], samples: int, classes: int, units: Tensor | None = None) -> None:
        self.audit = Record(samples if units is None else int(units.max()) + 1, classes)
        self.units = units
        self.logits: dict[int, Tensor] | None = None  # network → its first logits in this step; None between steps
        for number, model in enumerate(models):
            model.register_forward_hook(partial(self._receive, number))

    def _receive(self, number: int, _model: nn.Module, _inputs: Any, output: Tensor) -> None:
        if self.logits is not None:
            self.logits.setdefault(number, output.detach())

    def start_step(self) -> None:
        self.logits = {}

    def end_step(self, batch: Batch, log: Log) -> None:
        """Add the logits of the batch to the audit, and remove LOGITS from the log."""
        logged, received = log.pop(LOGITS, None), self.logits or {}
        self.logits = None
        index = batch.index if self.units is None else self.units[batch.index]
        for logits in [logged] if isinstance(logged, Tensor) else received.values():
            self.audit.update(logits, batch.y, index)


@dataclass
class Trainer:
    """All parts of one run; `fit` trains it, from its checkpoint if there is one."""

    method: Method
    models: Sequence[nn.Module]
    optimisers: Sequence[torch.optim.Optimizer]
    schedule: Schedule
    data: Batches
    evaluate: Evaluation
    checkpoints: CheckpointFolder
    seed: int
    networks: Networks
    on_epoch: Callable[[list[Row]], object]
    recorder: Recorder
    evaluate_every: int = 1  # epochs
    augment: Callable[[Batch], Batch] = lambda batch: batch  # draws from torch, which is seeded for every step
    keeps_best: bool = False
    best: dict[str, Any] = field(default_factory=dict)  # of the epoch with the lowest loss on noisy validation labels
    rows: list[Row] = field(default_factory=list)  # one for each finished epoch
    meter: _Meter = field(default_factory=_Meter)  # of the unfinished epoch

    def fit(self, stop: StopRequest) -> list[Row]:
        self._restore(self.checkpoints.load())
        while len(self.rows) < self.schedule.epochs:
            self._epoch(stop)
        if self.best:
            for model, saved in zip(self.models, self.best["models"], strict=True):
                model.load_state_dict(saved)
        return self.rows

    def _epoch(self, stop: StopRequest) -> None:
        self.meter.clocks = _clocks()
        epoch = len(self.rows)
        step = Step(epoch, self.schedule.epochs)
        if self.meter.batches == 0:
            with self._interruptible(stop):
                self._begin(step)
        rate = self.method.lr(step, self.schedule.rate)
        for group in (group for optimiser in self.optimisers for group in optimiser.param_groups):
            group["lr"] = rate
        for number, index in enumerate(self.data.epoch(epoch)):
            if number < self.meter.batches:
                continue
            torch.manual_seed(derive_seed("step", self.seed, epoch, number))
            self.meter.add(*self._step(replace(step, batch=number), index))
            if stop:
                self._interrupt(stop)
            if self.checkpoints.due():
                self._save()
        self._check_finite()
        with self._interruptible(stop):
            tested = is_tested(epoch, self.schedule.epochs, self.evaluate_every)
            scores = self.evaluate(self.method, self.models) if tested else {}
        if tested and self.keeps_best:
            scores = self._keep_best(epoch, scores)
        self.rows.append({"epoch": epoch + 1, "lr": rate, **self.meter.means(), **scores, **self.meter.tick()})
        self.meter = _Meter()
        self.checkpoints.keep(self._state())
        self.on_epoch(self.rows)

    def _keep_best(self, epoch: int, scores: Row) -> Row:
        """Keep the networks of the best epoch so far, that with the lowest loss on noisy validation labels. Return its
        scores: the run ends with these networks, so they are its result. The validation columns are of this epoch."""
        if not self.best or scores[HELD_OUT_LOSS] < self.best["scores"][HELD_OUT_LOSS]:
            states = [{name: one.clone() for name, one in model.state_dict().items()} for model in self.models]
            scores |= {"kept_epoch": epoch + 1}
            self.best = {"models": states, "scores": scores, "predictions": self.evaluate.recent[-1]}
        self.evaluate.recent[-1] = self.best["predictions"]
        return self.best["scores"] | {name: scores[name] for name in (HELD_OUT, HELD_OUT_LOSS)}

    def _begin(self, step: Step) -> None:
        if self.method.restarts(step):
            for model, new in zip(self.models, self.networks(step.epoch), strict=True):
                model.load_state_dict(new.state_dict())
            for optimiser in self.optimisers:
                optimiser.state.clear()
        torch.manual_seed(derive_seed("epoch", self.seed, step.epoch))
        self.method.on_epoch_start(self.models, step, self.data)

    def _step(self, step: Step, index: Tensor) -> tuple[Tensor, Log]:
        """Train on one batch; return its loss and the numbers to log."""
        batch = self.augment(self.data.batch(index))
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)
        self.recorder.start_step()
        loss, log = add_gradients(self.method, self.models, batch, step)
        self.recorder.end_step(batch, log)
        for optimiser in self.optimisers:
            optimiser.step()
        if isinstance(selected := log.pop(SELECTED, None), Tensor):
            log |= self.evaluate.wrong.purity(selected, batch.index)
        return loss, log

    @contextmanager
    def _interruptible(self, stop: StopRequest) -> Iterator[None]:
        """Interrupt before the next layer is computed: an evaluation may take longer than a scheduler waits."""
        handle = register_module_forward_pre_hook(lambda *_: self._interrupt(stop) if stop else None)
        try:
            yield
        finally:
            handle.remove()

    def _interrupt(self, stop: StopRequest) -> NoReturn:
        if self.meter.batches == 0:  # the method may be half prepared: write the state at the end of the last epoch
            self.checkpoints.write()
        else:
            self._save()
        raise Interrupted(f"{stop.received} received: saved {self._place()}.")

    def _place(self) -> str:
        """Return the unfinished epoch, counted from 1, and the number of its finished batches."""
        return f"epoch {len(self.rows) + 1}, batch {self.meter.batches}"

    def _save(self) -> None:
        self._check_finite()
        self.checkpoints.save(self._state())

    def _check_finite(self) -> None:
        """Called before anything is saved: a loss or a weight that is not finite ends the run, and the last good state
        stays. The loss alone may look fine: it is computed before the step that spoils the weights."""
        weights = (values for model in self.models for values in model.state_dict().values())
        if (bad := int(self.meter.first_bad)) >= 0:
            what, number = "The loss", bad + 1
        elif not all(bool(torch.isfinite(values).all()) for values in weights):
            what, number = "A weight", self.meter.batches
        else:
            return
        name = type(self.method).__module__.rsplit(".", 1)[-1]
        raise WarlabError(
            f"{what} of {name} is not a finite number in epoch {len(self.rows) + 1}, batch {number}; "
            "the last good checkpoint is kept: lower the learning rate or beta, or look at the data."
        )

    def _state(self) -> dict[str, object]:
        self.meter.tick()
        return {
            "models": [model.state_dict() for model in self.models],
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "method": self.method.state_dict(),
            "rows": self.rows,
            "recent": self.evaluate.recent,
            "best": self.best,
            "audit": self.recorder.audit.state_dict(),
            "meter": vars(self.meter),
        }

    def _restore(self, state: Mapping[str, Any] | None) -> None:
        if state is None:
            return
        for model, saved in zip(self.models, state["models"], strict=True):
            model.load_state_dict(saved)
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self.method.load_state_dict(state["method"])
        self.rows, self.meter = state["rows"], _Meter(**state["meter"])
        device = self.method.task.device  # a state is loaded on the CPU
        self.meter.sums = {k: v.to(device) if isinstance(v, Tensor) else v for k, v in self.meter.sums.items()}
        self.evaluate.recent, self.best = state["recent"], state["best"]
        self.recorder.audit.load_state_dict(state["audit"])
        done = len(self.rows)
        place = self._place() if done < self.schedule.epochs else f"epoch {done}, which was the last"
        logger.info(f"resumed from {place}")


def summary(rows: list[Row]) -> dict[str, float]:
    """Return the results of a run: mean and deviation of the last ten epochs (as in the paper), the last epoch, and the
    best one on the test set, which is a diagnostic only, since test labels must not choose an epoch."""
    accuracy = np.array([row["test_accuracy"] for row in rows if "test_accuracy" in row])
    return {
        "last10_mean": float(accuracy[-LAST:].mean()),
        "last10_std": float(accuracy[-LAST:].std()),
        "last": float(accuracy[-1]),
        "best_on_test_diagnostic": float(accuracy.max()),
    }


def test_predictions(recent: Sequence[Tensor], epochs: int) -> dict[str, np.ndarray]:
    """`predictions` (E, M, N): the predicted classes of the test images in the last E epochs by each of M networks, and
    `epochs` (E,), counted from 1. E is 0 where predictions are not kept, as for tiles."""
    kept = np.stack([one.numpy() for one in recent]) if recent else np.empty((0, 0, 0), np.uint8)
    return {"predictions": kept, "epochs": np.arange(epochs - len(recent), epochs) + 1}
