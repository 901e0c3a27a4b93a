"""Which files each job reads: all of them are declared, so that a changed one is noticed whoever changed it.

Arrays are described by a JSON file of the same name (mean, classes, rate of the noise), which counts as well: `data`
comes with `data_json`.
"""

from dataclasses import dataclass

from warlab import noise
from warlab.config.study import Study
from warlab.ids import CostId, RunId
from warlab.pipeline.paths import Paths
from warlab.pipeline.sources import IMAGENET, for_dataset, of_dataset

Files = dict[str, str]


@dataclass(frozen=True)
class InputFiles:
    """Paths by their role in a job."""

    study: Study
    paths: Paths

    def data(self, dataset: str) -> str:
        return self.paths.data.format(dataset=dataset)

    def receipt(self, dataset: str) -> str:
        return of_dataset(self.study, dataset).receipt(self.paths.raw)

    def weights(self, network: str, dataset: str) -> str:
        """The receipt of a pre-trained network that sees a dataset."""
        return for_dataset(self.study, network, dataset).receipt(self.paths.raw)

    def to_corrupt(self, dataset: str, noise_id: str) -> Files:
        files = self._data(dataset)
        for role, name in noise.needs(noise_id).items():
            if role == "images":
                files |= {"images": self.data(name), "images_json": self.paths.data_json.format(dataset=name)}
            else:
                files[role] = self.weights(name, dataset) if role == "human" else self.study.settings.noise_file(name)
        return files

    def to_make_cost(self, dataset: str, key: str) -> Files:
        """Data, the noisy labels if the cost reads them, and files of the user's."""
        cost = CostId.parse(key)
        files = self._data(dataset)
        if cost.noise is not None and cost.seed is not None:
            files |= self._noise(dataset, cost.noise, cost.seed) | self._open_set(cost.noise)
        if features := self.study.settings.features(cost.name, dataset):
            files |= self._features(features, dataset, cost.noise)
            files.pop("images", None)  # those of open-set noise: their features stand for them
        return files | self.study.settings.cost_files(cost.name, dataset)

    def to_train(self, run: RunId) -> Files:
        files = self._data(run.dataset) | self._noise(run.dataset, run.noise, run.seed) | self._open_set(run.noise)
        if key := self.study.settings.cost_key(run):
            files["cost"] = self.paths.cost.format(dataset=run.dataset, cost=key)
            files["verified"] = self.paths.verified.format(dataset=run.dataset, cost=key)
        if needed := self.study.plan.needed_run(run):
            files["predictions"] = self.paths.predictions.format(**vars(needed))
        if weights := self.study.settings.weights(run.net, run.dataset):
            files["initial"] = self.weights(run.net, run.dataset) if weights == IMAGENET else weights
        return files

    def to_audit(self, run: RunId) -> Files:
        """What an audit reads of a run: what its networks said, data and noise, and its ground cost if it has one."""
        names = vars(run)
        files = {
            "audit": self.paths.audit.format(**names),
            "data": self.data(run.dataset),
            "noise": self.paths.noise.format(**names),
        }
        if key := self.study.settings.cost_key(run):
            files["cost"] = self.paths.cost.format(dataset=run.dataset, cost=key)
        return files | self._open_set(run.noise)

    def _data(self, dataset: str) -> Files:
        return {"data": self.data(dataset), "data_json": self.paths.data_json.format(dataset=dataset)}

    def _noise(self, dataset: str, noise_id: str, seed: int) -> Files:
        names = {"dataset": dataset, "noise": noise_id, "seed": seed}
        return {"noise": self.paths.noise.format(**names), "noise_json": self.paths.noise_json.format(**names)}

    def _features(self, features: str, dataset: str, noise_id: str | None) -> Files:
        """Of the dataset, and of the one that open-set noise takes images from."""
        network, size = features.rsplit("-", 1)
        names = {"dataset": dataset, "network": network, "size": size}
        files = {
            "features": self.paths.features.format(**names),
            "features_json": self.paths.features_json.format(**names),
        }
        if noise_id and (other := noise.needs(noise_id).get("images")):
            files["other_features"] = self.paths.features.format(**(names | {"dataset": other}))
        return files

    def _open_set(self, noise_id: str) -> Files:
        """The images that open-set noise puts in place of others, for whoever reads the training images."""
        images = noise.needs(noise_id).get("images")
        return {"images": self.data(images)} if images else {}
