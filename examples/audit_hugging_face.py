"""Find wrong labels during a training by Hugging Face's Trainer:
pip install transformers accelerate, then python examples/audit_hugging_face.py

Two lines are for the audit: `with_index` around the training set, and `record`. The model is a BERT of one small layer
with random weights, so that nothing is downloaded; its texts are five words of which one tells the class.
"""

import tempfile
from typing import Any

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from warlab.audit import LabelAudit
from warlab.integrations import with_index
from warlab.integrations.hugging_face import record

FLIPS = 12  # the first labels are wrong


def data() -> list[dict[str, Any]]:
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(120) % 3
    words = torch.randint(10, 30, (120, 5), generator=generator)
    words[:, 2] = labels + 1
    labels[:FLIPS] = (labels[:FLIPS] + 1) % 3
    rows = zip(words, labels, strict=True)
    return [{"input_ids": ids, "labels": int(label), "text": "not for the model"} for ids, label in rows]


def train(folder: str, epochs: int = 6, resume: bool = False, **options: Any) -> LabelAudit:
    torch.manual_seed(0)
    config = BertConfig(vocab_size=30, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    config.num_labels = 3
    arguments = TrainingArguments(
        folder,
        num_train_epochs=epochs,
        per_device_train_batch_size=8,
        learning_rate=3e-3,
        lr_scheduler_type="constant",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        **options,
    )
    audit = LabelAudit(n_samples=120, n_classes=3)
    rows = data()
    trainer = Trainer(
        BertForSequenceClassification(config), arguments, train_dataset=with_index(rows), eval_dataset=rows[60:]
    )
    record(trainer, audit)
    trainer.train(resume_from_checkpoint=resume)
    return audit


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(train(folder, save_strategy="no").to_frame(classes=["cat", "dog", "truck"]).head(FLIPS))
