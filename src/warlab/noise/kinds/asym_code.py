"""Flips between similar classes as the authors' code draws them, where it differs from the paper."""

from warlab.noise.kinds._matrix import SimilarClasses

KIND = SimilarClasses("asym_code", "asymmetric (authors' code)")
