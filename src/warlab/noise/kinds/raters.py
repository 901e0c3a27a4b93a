"""The labels that people give: drawn from the votes of all people who have labelled a sample.

    raters:        P(label = j | i) = p_ij = votes_ij / Σ_k votes_ik
    raters_worst:  three people are asked, and a wrong label is taken if one of them gives one:
                   P(label = y_i | i) = p_iy³,   P(label = j | i) = (1 - p_iy³) p_ij / (1 - p_iy)

Every sample has its own raters, so that the labels of hard samples are wrong more often. The rate is not a parameter
but what people do. The second is how Wei et al., Learning with noisy labels revisited, 2022, make the worst of the
human labels of CIFAR-10 (`human_worse`).
"""

import numpy as np

from warlab import data as datasets
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds._per_sample import PerSampleNoise, Probabilities
from warlab.noise.kinds.base import DataArrays, NoiseRequest

ASKED = {"raters": 1, "raters_worst": 3}


class RatersNoise(PerSampleNoise):
    def check(self, noise: NoiseId, dataset: str) -> None:
        if dataset in datasets.names() and not datasets.get(dataset).rated:
            raise WarlabError(f"The noise {noise} draws from votes of raters, and {dataset} has none; choose another.")

    def probabilities(self, request: NoiseRequest, data: DataArrays, rng: np.random.Generator) -> Probabilities:
        if "train_votes" not in data:
            raise WarlabError(
                f"The noise {request.noise} draws from votes of raters, and the {request.dataset} have none; add "
                "train_votes to the npz file, a row for each training sample and a column for each class."
            )

        def of_class(members: np.ndarray, label: int) -> np.ndarray:
            p = data["train_votes"][members] / data["train_votes"][members].sum(axis=1, keepdims=True)
            wrong, right = 1 - p[:, label], p[:, label] ** ASKED[request.noise]
            p *= ((1 - right) / np.where(wrong > 0, wrong, 1))[:, None]
            p[:, label] = right
            return p

        return of_class

    def entries(self, clean: np.ndarray, matrix: np.ndarray) -> dict[str, object]:
        """The nominal rate is the expected one."""
        return {"rate": float(1 - np.diag(matrix)[clean].mean())}


KIND = RatersNoise({"raters": "one rater's labels", "raters_worst": "the worst of three raters' labels"}, rated=False)
