"""WAR in Hugging Face's Trainer: pip install transformers accelerate, then python examples/hugging_face_trainer.py

`compute_loss` embeds the ids itself and perturbs the embeddings; all other arguments of the model go through `predict`.
The model is a BERT of two small layers with random weights, so that nothing is downloaded.
"""

import tempfile
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from warlab import WARLoss, word_cost

CLASSES = ["cat", "dog", "truck"]
BETA = 10.0


class WARTrainer(Trainer):
    def __init__(self, *arguments: Any, war: WARLoss, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.war = war.to(self.args.device)
        self.penalties: list[float] = []

    def compute_loss(
        self, model: nn.Module, inputs: dict[str, Tensor], return_outputs: bool = False, **_: Any
    ) -> Tensor | tuple[Tensor, Any]:
        ids, rest = inputs["input_ids"], {name: value for name, value in inputs.items() if name != "input_ids"}
        embedded = self.accelerator.unwrap_model(model).get_input_embeddings()(ids)
        output = model(inputs_embeds=embedded, **rest)
        loss = output.loss
        if model.training:  # not in evaluation, where gradients are off
            penalty = self.war(model, embedded, output, predict=lambda e: model(inputs_embeds=e, **rest))
            self.penalties.append(penalty.item())
            loss = loss + BETA * penalty
        return (loss, output) if return_outputs else loss


def samples(n: int = 96) -> list[dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(n) % 3
    ids = 1 + labels[:, None] * 10 + torch.randint(10, (n, 8), generator=generator)
    return [
        {"input_ids": i, "attention_mask": torch.ones_like(i), "labels": y} for i, y in zip(ids, labels, strict=True)
    ]


def train(epochs: int = 4) -> tuple[WARTrainer, dict[str, float]]:
    """Return the trainer and the metrics of its evaluation."""
    torch.manual_seed(0)
    size: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    model = BertForSequenceClassification(BertConfig(vocab_size=40, num_labels=3, max_position_embeddings=16, **size))
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            folder,
            num_train_epochs=epochs,
            per_device_train_batch_size=16,
            learning_rate=5e-3,
            report_to=[],
            save_strategy="no",
            use_cpu=True,
            disable_tqdm=True,
        )
        data = samples()
        trainer = WARTrainer(model, settings, train_dataset=data, eval_dataset=data, war=WARLoss(word_cost(CLASSES)))
        trainer.train()
        return trainer, trainer.evaluate()


if __name__ == "__main__":
    print(train()[1])
