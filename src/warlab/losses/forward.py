"""Forward: predictions corrected by the transition matrix of the noise."""

from dataclasses import InitVar, dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn.functional import nll_loss

from warlab.errors import WarlabError
from warlab.losses.base import RobustLoss
from warlab.losses.probabilities import EPSILON, clipped_softmax


@dataclass(eq=False, repr=False)
class ForwardLoss(RobustLoss):
    r"""Forward correction: the noisy labels are compared with the predictions after the noise.

    .. math:: L(p, y) = - \log \sum_c p_c \, T_{c y}

    Parameters
    ----------
    transition : Tensor or array (C, C)
        T[i, j] is the probability that a sample of class i was labelled j; its rows sum to 1. With the identity it is
        the cross entropy.
    reduction : "mean" or "none"
        The mean over the batch, or one value per label. Default "mean".

    Examples
    --------
    >>> import torch
    >>> from warlab.losses import ForwardLoss
    >>> transition = [[0.6, 0.4, 0.0], [0.0, 0.8, 0.2], [0.0, 0.1, 0.9]]
    >>> logits, labels = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([1])
    >>> round(ForwardLoss(transition)(logits, labels).item(), 4)  # - log(0.5 * 0.4 + 0.3 * 0.8 + 0.2 * 0.1)
    0.7765

    References
    ----------
    Patrini, Rozza, Menon, Nock, Qu: Making deep neural networks robust to label noise: a loss correction approach,
    2017.
    """

    transition: InitVar[Tensor | ArrayLike]

    def __post_init__(self, transition: Tensor | ArrayLike) -> None:
        super().__post_init__()
        self.register_buffer("matrix", torch.from_numpy(self.correct(check_transition(transition))).float())

    def correct(self, transition: np.ndarray) -> np.ndarray:
        """Return the matrix that the loss multiplies by."""
        return transition

    def compute(self, logits: Tensor, labels: Tensor) -> Tensor:
        noisy = clipped_softmax(logits) @ self.matrix_for(logits)
        return nll_loss(noisy.clamp_min(EPSILON).log(), labels, reduction=self.reduction)

    def matrix_for(self, logits: Tensor) -> Tensor:
        matrix = self.get_buffer("matrix").to(logits)
        if len(matrix) != logits.shape[1]:
            raise WarlabError(f"The transition matrix has {len(matrix)} classes but the logits have {logits.shape[1]}.")
        return matrix


def check_transition(given: Tensor | ArrayLike) -> np.ndarray:
    """Return T in float64; an error if its rows are no distributions."""
    matrix = np.asarray(given.detach().cpu() if isinstance(given, Tensor) else given, dtype=np.float64)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] >= 2
    if not square or not (matrix >= 0).all() or not np.allclose(matrix.sum(1), 1, atol=1e-3):
        shape = "x".join(map(str, matrix.shape))
        raise WarlabError(
            f"The transition matrix ({shape}) must be square, with rows of probabilities that sum to 1: row i says how "
            "often samples of the true class i are labelled as each class."
        )
    return matrix
