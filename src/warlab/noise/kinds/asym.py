"""Asymmetric noise: flips between similar classes, as the paper describes them. `flips` of each dataset names them."""

from warlab.noise.kinds._matrix import SimilarClasses

KIND = SimilarClasses("asym", "asymmetric")
