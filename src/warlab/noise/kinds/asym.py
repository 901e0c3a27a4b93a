"""Asymmetric noise: flips between similar classes as in the paper, from the `flips` of each dataset."""

from warlab.noise.kinds._matrix import SimilarClasses

KIND = SimilarClasses("asym", "asymmetric")
