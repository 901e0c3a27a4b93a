"""Find wrong labels during a training by Lightning: pip install lightning, then python examples/audit_lightning.py

Two lines are for the audit: `with_index` around the training set, and the callback. `training_step` returns the logits.
"""

from typing import Any

import lightning
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from warlab.audit import LabelAudit
from warlab.integrations import with_index
from warlab.integrations.lightning import AuditCallback

FLIPS = 20  # the first labels are wrong


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(8, 3)

    def training_step(self, batch: tuple[Tensor, Tensor, Tensor], _number: int) -> dict[str, Tensor]:
        x, y, _index = batch
        logits = self.net(x)
        return {"loss": cross_entropy(logits, y), "logits": logits}

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), 5e-2)


def data() -> TensorDataset:
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(300) % 3
    x = torch.randn(300, 8, generator=generator) + 4 * nn.functional.one_hot(labels, 8)
    labels[:FLIPS] = (labels[:FLIPS] + 1) % 3
    return TensorDataset(x, labels)


def train(epochs: int = 4, **options: Any) -> LabelAudit:
    lightning.seed_everything(0)
    audit = LabelAudit(n_samples=300, n_classes=3)
    loader = DataLoader(with_index(data()), batch_size=50, shuffle=True)
    checkpoint = options.pop("ckpt_path", None)
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False}
    trainer = lightning.Trainer(
        max_epochs=epochs, accelerator="cpu", callbacks=[AuditCallback(audit)], **quiet, **options
    )
    trainer.fit(Classifier(), loader, ckpt_path=checkpoint)
    return audit


if __name__ == "__main__":
    print(train(enable_checkpointing=False).to_frame(classes=["cat", "dog", "truck"]).head(FLIPS))
