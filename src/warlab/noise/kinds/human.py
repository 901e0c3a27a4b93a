"""Human labels: those of CIFAR-N for the images of a scale."""

import numpy as np

from warlab.artefacts.labelled_data import NoisyLabels
from warlab.common.files import read_json
from warlab.data.auxiliary import cifar_n
from warlab.data.images_in_memory import choose, subset_seed
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest

# noise → dataset, the name of its labels in CIFAR-N, and the share of labels that differ from the clean ones
HUMAN = {
    "human_aggregate": ("cifar10", "aggre_label", 0.0901),
    "human_random1": ("cifar10", "random_label1", 0.1723),
    "human_random2": ("cifar10", "random_label2", 0.1812),
    "human_random3": ("cifar10", "random_label3", 0.1764),
    "human_worse": ("cifar10", "worse_label", 0.4021),
    "human": ("cifar100", "noisy_label", 0.4020),
}


class HumanLabels(NoiseKind):
    def rate(self, noise: NoiseId) -> float:
        return HUMAN[noise.kind][2]

    def needs(self, noise: NoiseId) -> dict[str, str]:
        return {"human": "cifar_n"}

    def check(self, noise: NoiseId, dataset: str) -> None:
        home = HUMAN[noise.kind][0]
        if dataset != home:
            raise WarlabError(f"The noise {noise} belongs to {home}, not to {dataset}; choose another noise.")

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        self.check(request.id, request.dataset)
        clean, dataset, receipt = data["train_y"], request.dataset, files["human"]
        labels = cifar_n.read(receipt.parent, dataset, read_json(receipt)["data"] == "real")
        part = choose(labels["clean_label"], len(clean), subset_seed(dataset), "training")
        # CIFAR-N repeats the clean labels, which identify the images in use.
        if not np.array_equal(labels["clean_label"][part], clean):
            raise WarlabError(f"The clean labels of {receipt.parent} are not those of {dataset}; fetch both again.")
        return self.as_given(request, clean, labels[HUMAN[request.noise][1]][part])


_LABELS = {name: "human labels" + "".join(f" ({word})" for word in name.split("_")[1:]) for name in HUMAN}
KIND = HumanLabels(_LABELS, rated=False)
