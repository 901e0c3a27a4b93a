"""Wasserstein Adversarial Regularization (WAR) for any PyTorch model and any training loop.

Equation 5 of the paper, for every sample x of a batch:

    R_WAR(x) = OT_C^lambda( p(x + r), p(x) )     with     r = argmax_{||r|| <= epsilon} OT_C^lambda( p(x + r), p(x) )

where C is a ground cost between classes and OT the sharp entropic transport of `warlab.ot.sinkhorn`. R_AR has the
Kullback-Leibler divergence in place of OT. Neither uses labels. In a training loop:

    war = WARLoss(word_cost(["cat", "dog", "truck"]))
    logits = model(x)
    loss = cross_entropy(logits, y) + (beta * war(model, x, logits) if epoch >= warm_up else 0)
    loss.backward()

The forward pass of the cross entropy is reused, so a step costs three forward and two backward passes.
"""

from warlab.war.adversarial import AdversarialLoss
from warlab.war.ar import ARLoss, kl_divergence
from warlab.war.model import probabilities
from warlab.war.tv import TVLoss
from warlab.war.war import WARLoss

__all__ = ["ARLoss", "AdversarialLoss", "TVLoss", "WARLoss", "kl_divergence", "probabilities"]
