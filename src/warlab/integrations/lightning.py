"""A label audit as a callback of Lightning.

    trainer = Trainer(callbacks=[AuditCallback(audit)])
    trainer.fit(model, DataLoader(with_index(dataset), ...))

`training_step` returns {"loss": loss, "logits": logits}. A batch is (..., labels, index) or has the keys "labels" and
"index". Checkpoints contain the audit.
"""

from collections.abc import Mapping
from typing import Any

try:
    from lightning.pytorch import Callback
except ModuleNotFoundError:
    from pytorch_lightning import Callback  # the same under its older name

from warlab.audit import LabelAudit
from warlab.errors import WarlabError
from warlab.integrations.indexed import INDEX


class AuditCallback(Callback):
    """Record every training batch in `audit`. `labels` is the key of the labels in batches that are mappings."""

    def __init__(self, audit: LabelAudit, labels: str = "labels") -> None:
        self.audit = audit
        self.labels = labels

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.world_size > 1:
            raise WarlabError(
                "An audit records the samples of one process; train on one device, or audit your own loop."
            )

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if not isinstance(outputs, Mapping) or "logits" not in outputs:
            raise WarlabError('training_step must return {"loss": loss, "logits": logits} for the label audit.')
        self.audit.update(outputs["logits"], *self._labels_and_index(batch), epoch=trainer.current_epoch)

    def _labels_and_index(self, batch: Any) -> tuple[Any, Any]:
        if not isinstance(batch, Mapping):
            return batch[-2], batch[-1]
        if missing := [name for name in (self.labels, INDEX) if name not in batch]:
            raise WarlabError(f"The batches have no {missing[0]!r}; wrap the training set in warlab's with_index.")
        return batch[self.labels], batch[INDEX]

    def state_dict(self) -> dict[str, Any]:
        return dict(self.audit.state_dict())

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.audit.load_state_dict(state_dict)  # type: ignore[arg-type]
