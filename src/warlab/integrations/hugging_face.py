"""A label audit of a training by Hugging Face's Trainer.

    trainer = Trainer(model, arguments, train_dataset=with_index(dataset))
    record(trainer, audit)
    trainer.train()

A TrainerCallback is given no logits, so `record` wraps the trainer's compute_loss, whatever it computes. A callback
stores the audit in every checkpoint, and reads it when a training resumes.
"""

from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from warlab.audit import LabelAudit
from warlab.errors import WarlabError
from warlab.integrations.indexed import INDEX

FILE = "label_audit.pt"


def record(trainer: Any, audit: LabelAudit, labels: str = "labels") -> None:
    """Record every training batch of this trainer in `audit`. `labels` is the key of the labels in a batch."""
    if trainer.args.world_size > 1:
        raise WarlabError("An audit records the samples of one process; train with one process.")
    compute_loss = trainer.compute_loss

    def compute_and_record(model: Any, inputs: Any, return_outputs: bool = False, **options: Any) -> Any:
        index, given = inputs.pop(INDEX, None), inputs.get(labels)  # label smoothing takes the labels out
        if not model.training:
            return compute_loss(model, inputs, return_outputs=return_outputs, **options)
        if index is None or given is None:
            missing = INDEX if index is None else labels
            raise WarlabError(
                f"The training batches have no {missing!r}; wrap the training set in warlab's with_index."
            )
        loss, outputs = compute_loss(model, inputs, return_outputs=True, **options)
        logits = outputs["logits"] if isinstance(outputs, dict) else outputs[1]
        audit.update(logits, given, index, epoch=int(trainer.state.epoch or 0))
        return (loss, outputs) if return_outputs else loss

    trainer.compute_loss = compute_and_record
    trainer.add_callback(_Checkpoints(audit))
    if trainer.args.remove_unused_columns:  # of the batch, those that the model's forward does not name
        trainer._set_signature_columns_if_needed()
        trainer._signature_columns.append(INDEX)


class _Checkpoints(TrainerCallback):
    def __init__(self, audit: LabelAudit) -> None:
        self.audit = audit

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        torch.save(self.audit.state_dict(), _folder(args, state) / FILE)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if not state.global_step:
            return
        path = _folder(args, state) / FILE
        if not path.is_file():
            raise WarlabError(
                f"{path} is not there: the audit of the first {state.global_step} steps is lost; start afresh."
            )
        self.audit.load_state_dict(torch.load(path))


def _folder(args: Any, state: Any) -> Path:
    return Path(args.output_dir) / f"checkpoint-{state.global_step}"
