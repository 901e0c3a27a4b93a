"""Losses for learning with label noise, for any PyTorch loop: called as torch's cross entropy, on logits and labels.

    criterion = GCELoss(q=0.7)
    loss = criterion(model(x), y)

`docs/losses.md` says when to use which. The methods of the workflow compute their losses by these modules; WAR, AR and
TV, which call the model again, are in `warlab.war`.
"""

from warlab.losses.backward import BackwardLoss
from warlab.losses.base import RobustLoss
from warlab.losses.bootstrapping import BootstrappingLoss
from warlab.losses.eps_softmax import EpsilonSoftmaxLoss
from warlab.losses.forward import ForwardLoss
from warlab.losses.gce import GCELoss
from warlab.losses.normalised import NCEAGCELoss, NCERCELoss
from warlab.losses.symmetric import SymmetricCrossEntropyLoss
from warlab.losses.unhinged import ScoreNorm, UnhingedLoss

__all__ = [
    "BackwardLoss",
    "BootstrappingLoss",
    "EpsilonSoftmaxLoss",
    "ForwardLoss",
    "GCELoss",
    "NCEAGCELoss",
    "NCERCELoss",
    "RobustLoss",
    "ScoreNorm",
    "SymmetricCrossEntropyLoss",
    "UnhingedLoss",
]
