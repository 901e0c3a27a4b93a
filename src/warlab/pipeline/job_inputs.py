"""Which files each job reads: all of them are declared, so that a changed one is noticed whoever changed it.

Arrays are described by a JSON file of the same name (mean, classes, rate of the noise), which counts as well: `data`
comes with `data_json`.
"""

from dataclasses import dataclass
from pathlib import Path

from warlab import noise
from warlab.config.study import Study
from warlab.ids import CostId, RunId
from warlab.pipeline.sources import IMAGENET, beside, initial_weights, of_dataset

Files = dict[str, str]


@dataclass(frozen=True)
class InputFiles:
    """Paths by their role in a job; `raw` is the folder of what was fetched, `results` that of the scale."""

    study: Study
    raw: str
    results: str

    # ---- where things are

    def data(self, dataset: str) -> str:
        return f"{self.results}/data/{dataset}.npz"

    def noise(self, dataset: str, noise_id: str, seed: int | str) -> str:
        return f"{self.results}/noise/{dataset}/{noise_id}/seed{seed}.npz"

    def cost_folder(self, cell: RunId) -> str:
        return f"{self.results}/costs/{cell.dataset}/{self.study.settings.cost_key(cell)}"

    def features(self, dataset: str, features: str) -> str:
        return f"{self.results}/features/{dataset}/{features}.npz"

    def receipt(self, dataset: str) -> str:
        return of_dataset(self.study, dataset).receipt(self.raw)

    def weights(self, network: str, dataset: str) -> str:
        """The receipt of a pre-trained network that sees a dataset."""
        return beside(self.study, network, dataset).receipt(self.raw)

    # ---- what jobs read

    def to_corrupt(self, dataset: str, noise_id: str) -> Files:
        files = described("data", self.data(dataset))
        for role, name in noise.needs(noise_id).items():
            if role == "images":
                files |= described("images", self.data(name))
            else:
                files[role] = self.weights(name, dataset) if role == "human" else self.study.settings.noise_file(name)
        return files

    def to_make_cost(self, dataset: str, key: str) -> Files:
        """Data, the noisy labels if the cost reads them, and files of the user's."""
        cost = CostId.parse(key)
        files = described("data", self.data(dataset))
        if cost.noise is not None and cost.seed is not None:
            files |= described("noise", self.noise(dataset, cost.noise, cost.seed))
            files |= self._open_set(cost.noise)
        if features := self.study.settings.features(cost.name, dataset):
            files |= described("features", self.features(dataset, features))
            if "images" in files:  # of the dataset that open-set noise takes them from
                files["other_features"] = self.features(Path(files.pop("images")).stem, features)
        return files | self.study.settings.cost_files(cost.name, dataset)

    def to_train(self, cell: RunId) -> Files:
        files = described("data", self.data(cell.dataset))
        files |= described("noise", self.noise(cell.dataset, cell.noise, cell.seed))
        files |= self._open_set(cell.noise)
        if self.study.settings.cost_key(cell):
            files["cost"] = f"{self.cost_folder(cell)}/cost.csv"
            files["verified"] = f"{self.cost_folder(cell)}/verified.json"
        if needed := self.study.plan.needed_run(cell):
            files["predictions"] = f"{self.results}/runs/{needed.path}/predictions.npz"
        if weights := initial_weights(self.study, cell):
            files["initial"] = self.weights(cell.net, cell.dataset) if weights == IMAGENET else weights
        return files

    def _open_set(self, noise_id: str) -> Files:
        """The images that open-set noise puts in place of others, for whoever reads the training images."""
        images = noise.needs(noise_id).get("images")
        return {"images": self.data(images)} if images else {}


def described(role: str, path: str) -> Files:
    """Arrays, and the file that describes them."""
    return {role: path, f"{role}_json": description(path)}


def description(path: str) -> str:
    return str(Path(path).with_suffix(".json"))
