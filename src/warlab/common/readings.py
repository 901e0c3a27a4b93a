"""Which epochs are tested: always the last ones, whose mean accuracy is the paper's figure of merit."""

HELD_OUT = "validation_accuracy"  # by the noisy labels of the samples that are held out from training
HELD_OUT_LOSS = "validation_loss"  # mean cross entropy of the same samples
LAST = 10  # epochs that are averaged, unless an experiment has its own number


def is_tested(epoch: int, epochs: int, every: int) -> bool:
    """Return whether an epoch (counted from 0) is tested: every `every` epochs, and always among the last ones."""
    return (epoch + 1) % every == 0 or epoch >= epochs - LAST


def tested_epochs(epochs: int, every: int) -> int:
    return sum(is_tested(epoch, epochs, every) for epoch in range(epochs))
