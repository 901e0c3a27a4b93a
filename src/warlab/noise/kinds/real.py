"""The labels that come with the data, if they are noisy by themselves (Clothing1M)."""

from warlab import data as datasets
from warlab.artefacts.labelled_data import NoisyLabels
from warlab.errors import WarlabError
from warlab.ids import NoiseId
from warlab.noise.kinds.base import DataArrays, Files, NoiseKind, NoiseRequest


class AsLabelled(NoiseKind):
    def check(self, noise: NoiseId, dataset: str) -> None:
        if datasets.get(dataset).classes.own_noise is None:
            raise WarlabError(f"The labels of {dataset} are not noisy by themselves; choose a noise other than real.")

    def settings_of_dataset(self, dataset: str) -> dict[str, object]:
        """`own_noise` is the rate that the owners of the data give."""
        return {"own_noise": datasets.get(dataset).classes.own_noise}

    def make(self, request: NoiseRequest, data: DataArrays, files: Files) -> NoisyLabels:
        """It is not known which labels are wrong."""
        self.check(request.id, request.dataset)
        rate, labels = request.settings["own_noise"], data["train_y"]
        estimated = "the rates are the owners' estimate"
        return self.as_given(request, labels, labels, rate=rate, realised_rate=rate, estimated=estimated)


KIND = AsLabelled({"real": "labels as they came"}, rated=False)
