"""The share of wrong labels, estimated from noisy labels and predictions for samples that the network did not see.

    S_i  = the surest tenth, by p_i, of the samples with argmax p = i         taken to be truly of class i
    T_ij = share of S_i that is labelled j                                    an estimate of P(noisy = j | true = i)
    pi   = the distribution with pi T = q,   q_j = share of all labels that are j
    tau  = 1 - sum_i pi_i T_ii

Only the surest samples are used, because the errors of a network that is not yet good would count as noise. pi is
not the share of predictions, since a network that learns from asymmetric noise predicts the classes that gain labels
too often. A class must keep more than half of its labels. The idea of samples that are certain of their class is that
of Patrini et al. 2017 (`_transition`) and of Northcutt et al., Confident learning, 2021; with the thresholds of the
latter a network of few epochs counts too many of its own errors.
"""

import torch
from torch import Tensor

SUREST = 0.1
LEAST = 20  # samples of a class that are used, if it has as many


def noise_rate(p: Tensor, y: Tensor) -> float:
    """tau from probabilities (n, C) and noisy labels (n,)."""
    matrix = surest_labels(p, y)
    labels = torch.bincount(y, minlength=p.shape[1]).double() / len(y)
    prior = torch.linalg.lstsq(matrix.T.cpu(), labels[:, None].cpu(), driver="gelsd").solution[:, 0].clamp_min(0)
    return float(1 - (prior * matrix.diagonal().cpu()).sum() / prior.sum())


def surest_labels(p: Tensor, y: Tensor) -> Tensor:
    """T (C, C); a class that is never predicted is taken to keep its labels."""
    sure, predicted = p.max(1)
    matrix = torch.eye(p.shape[1], dtype=torch.double, device=p.device)
    for i in range(p.shape[1]):
        of_class = (predicted == i).nonzero()[:, 0]
        if len(of_class) > 0:
            n = max(int(SUREST * len(of_class)), min(LEAST, len(of_class)))
            surest = of_class[sure[of_class].argsort(descending=True, stable=True)[:n]]
            matrix[i] = torch.bincount(y[surest], minlength=p.shape[1]).double() / n
    return matrix
