"""WAR on texts: token ids cannot be perturbed, their embeddings can.

    python examples/tokens.py

`inputs` are the embeddings and `model` is the part of the network that follows them. The embeddings themselves learn
from the cross entropy alone, because the loss detaches its inputs.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from warlab import WARLoss, word_cost

CLASSES = ["cat", "dog", "truck"]
VOCABULARY, LENGTH, PADDING = 60, 12, 0


class Behind(nn.Module):
    """The part of the network behind the embeddings: (B, T, d) to logits (B, C)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(size, nhead=2, dim_feedforward=32, dropout=0.1, batch_first=True)
        self.head = nn.Linear(size, len(CLASSES))

    def forward(self, embedded: Tensor, padding: Tensor) -> Tensor:
        hidden = self.layer(embedded, src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(2)
        return self.head((hidden * kept).sum(1) / kept.sum(1))


def texts(n: int, noise: float, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Ids (n, T), true and noisy labels; the class is the third of the vocabulary that most tokens come from."""
    generator = torch.Generator().manual_seed(seed)
    true = torch.randint(3, (n,), generator=generator)
    topic = torch.rand(n, LENGTH, generator=generator) < 0.6
    third = torch.where(topic, true[:, None], torch.randint(3, (n, LENGTH), generator=generator))
    ids = 1 + third * (VOCABULARY // 3) + torch.randint(VOCABULARY // 3, (n, LENGTH), generator=generator)
    lengths = torch.randint(LENGTH // 2, LENGTH + 1, (n, 1), generator=generator)
    ids[torch.arange(LENGTH)[None] >= lengths] = PADDING
    flipped = torch.rand(n, generator=generator) < noise
    return ids, true, torch.where(flipped, torch.randint(3, (n,), generator=generator), true)


def train(steps: int = 60) -> float:
    """Accuracy on true labels after training on noisy ones."""
    torch.manual_seed(0)
    embed, behind = nn.Embedding(VOCABULARY + 1, 16, padding_idx=PADDING), Behind(16)
    war = WARLoss(word_cost(CLASSES), epsilon=0.05)
    optimiser = torch.optim.Adam([*embed.parameters(), *behind.parameters()], 1e-2)
    ids, true, noisy = texts(256, noise=0.3)
    padding = ids == PADDING
    for _ in range(steps):
        embedded = embed(ids)
        logits = behind(embedded, padding)
        loss = cross_entropy(logits, noisy) + war(behind, embedded, logits, predict=lambda e: behind(e, padding))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    behind.eval()
    with torch.no_grad():
        return (behind(embed(ids), padding).argmax(1) == true).float().mean().item()


if __name__ == "__main__":
    print(f"accuracy on the true labels: {train():.3f}")
