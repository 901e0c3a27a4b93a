"""TV: adversarial regularisation with the total variation."""

from torch import Tensor

from warlab.war.adversarial import AdversarialLoss


class TVLoss(AdversarialLoss):
    r"""Adversarial regularisation with the total variation: exact transport under the 0-1 cost, without Sinkhorn.

    .. math:: R(x) = \tfrac{1}{2} \| p(x + r) - sg[p(x)] \|_1

    Parameters
    ----------
    epsilon, relative_epsilon, dropout, batchnorm_update, direction, power_iterations, class_dim
        As in `WARLoss`, with the same defaults, sources and costs of a step. The direction cannot be "clean", because
        the total variation has no slope where both predictions are the same.

    Examples
    --------
    >>> import torch
    >>> from warlab import TVLoss
    >>> _ = torch.manual_seed(0)
    >>> model, pixels = torch.nn.Conv2d(3, 5, 1), torch.randn(2, 3, 6, 6)
    >>> labels = torch.randint(5, (2, 6, 6))
    >>> value = TVLoss(epsilon=0.5)(model, pixels, mask=labels != 4)  # 4 is the class that does not count
    >>> value.shape, bool(value > 0)
    (torch.Size([]), True)
    """

    def divergence(self, adversarial: Tensor, clean: Tensor) -> Tensor:
        return 0.5 * (adversarial - clean).abs().sum(1)
