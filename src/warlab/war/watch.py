"""What a loss sees of itself in its first calls, so that it can say when it does nothing."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

CALLS = 20


@dataclass
class Watch:
    """Sums of R and of D(p, p) over the first calls. They stay on the device: only `means` makes a GPU wait."""

    calls: int = 0
    value: Tensor | float = 0.0
    floor: Tensor | float = 0.0

    @property
    def is_open(self) -> bool:
        return self.calls < CALLS and not torch.compiler.is_compiling()

    def add(self, value: Tensor, floor: Tensor) -> None:
        self.calls, self.value, self.floor = self.calls + 1, self.value + value, self.floor + floor

    def means(self) -> tuple[float, float]:
        return float(self.value) / self.calls, float(self.floor) / self.calls


def has_dropout(model: nn.Module, active: bool = True) -> bool:
    """Return whether a module of torch.nn.Dropout's family is active, or whether one is switched off."""
    kind = nn.modules.dropout._DropoutNd
    return any(isinstance(m, kind) and m.training == active and m.p > 0 for m in model.modules())


def remedy(model: nn.Module, dropout: str, longer: bool) -> str:
    """Return what makes a loss act that does nothing; `longer` if it has the random direction already."""
    if has_dropout(model):
        masks = f'Leave dropout="independent" instead of "{dropout}"'
    elif has_dropout(model, active=False):
        masks = "Call model.train(), which switches the dropout of the model on"
    else:
        masks = "Use a model with dropout"
    if longer:
        return f"{masks}, or a longer perturbation; a network that has learned nothing yet always predicts the same."
    return f'{masks}, or pass direction="random" with relative_epsilon=0.15.'
