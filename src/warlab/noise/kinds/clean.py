"""No noise: every label stays."""

import numpy as np

from warlab.noise.kinds._matrix import MatrixNoise

KIND = MatrixNoise({"clean": "clean"}, rated=False, matrix=lambda rate, dataset, n_classes: np.eye(n_classes))
