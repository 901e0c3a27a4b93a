"""WAR in a LightningModule: pip install lightning, then python examples/lightning_module.py

The module passes itself to the loss. This is also right under Lightning's strategies for several GPUs: the wrapper that
calls `training_step` has prepared its reducer by then. The loss is left out of validation, where gradients are off.
"""

import lightning
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from warlab import WARLoss, word_cost

WARM_UP, BETA = 1, 10.0  # epochs of cross entropy alone; the paper has 15


class Classifier(lightning.LightningModule):
    def __init__(self, classes: list[str]) -> None:
        super().__init__()
        layers = [nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, len(classes))]
        self.net = nn.Sequential(*layers)  # without dropout, WAR with its default does nothing here
        self.war = WARLoss(word_cost(classes))

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)

    def training_step(self, batch: tuple[Tensor, Tensor], _index: int) -> Tensor:
        x, y = batch
        logits = self(x)
        loss = cross_entropy(logits, y)
        if self.current_epoch >= WARM_UP:
            penalty = self.war(self, x, logits)
            self.log("war", penalty)
            loss = loss + BETA * penalty
        return loss

    def validation_step(self, batch: tuple[Tensor, Tensor], _index: int) -> None:
        x, y = batch
        self.log("accuracy", (self(x).argmax(1) == y).float().mean())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), 1e-2)


def train(epochs: int = 6) -> dict[str, float]:
    """Return the metrics that were logged last."""
    lightning.seed_everything(0)
    y = torch.arange(192) % 3
    x = torch.randn(192, 16) + nn.functional.one_hot(y, 16)
    data = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
    trainer = lightning.Trainer(max_epochs=epochs, accelerator="cpu", logger=False, **quiet)
    trainer.fit(Classifier(["cat", "dog", "truck"]), data, data)
    return {name: value.item() for name, value in trainer.callback_metrics.items()}


if __name__ == "__main__":
    print(train())
