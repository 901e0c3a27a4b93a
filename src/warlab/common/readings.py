"""Which epochs are tested: all of those that the paper reads."""

LAST = 10  # epochs: the paper's figure of merit is the mean of their accuracies


def is_tested(epoch: int, epochs: int, every: int) -> bool:
    """Whether an epoch (from 0) is tested: every so often, and always among the last ones."""
    return (epoch + 1) % every == 0 or epoch >= epochs - LAST


def tested_epochs(epochs: int, every: int) -> int:
    return sum(is_tested(epoch, epochs, every) for epoch in range(epochs))
