"""Images that stay on disk: batches are decoded shortly before they are needed, in the order of (seed, epoch)."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from warlab.artefacts.labelled_data import DataDescription
from warlab.data.formats.shards import Pack
from warlab.engine.images import Evaluator, Images, Normalise, RunData, SampleSet, TrainingData, WrongLabels

AHEAD = 4  # batches that are decoded in advance
EVALUATED = 100  # images at once
CLEAN = "val_accuracy"  # on the clean validation labels of the dataset


class StoredImages(Images):
    """Like `Images`, but the pixels stay in the shards; indexing decodes the images and crops their middle."""

    def __init__(self, pack: Pack, numbers: np.ndarray, about: DataDescription, device: torch.device) -> None:
        self.pack, self.numbers, self.crop, self.device = pack, numbers, about.crop or 0, device
        self.normalise = Normalise(about.mean, about.std, device)
        self.pool = ThreadPoolExecutor(max(2, torch.get_num_threads()))
        self.announced: list[tuple[Tensor, np.ndarray]] = []  # batches and their numbers, in the order of the epoch
        self.places: dict[int, int] = {}  # id of a batch → its place in `announced`
        self.begun: dict[int, list[Future[np.ndarray]]] = {}  # place → images that are being decoded

    def __len__(self) -> int:
        return len(self.numbers)

    def announce(self, batches: Sequence[Tensor]) -> None:
        # All numbers are copied at once: a copy from a GPU waits for all work that the GPU has to do.
        numbers = torch.cat(list(batches)).cpu().split([len(batch) for batch in batches]) if batches else ()
        self.announced = [(batch, one.numpy()) for batch, one in zip(batches, numbers, strict=True)]
        self.places = {id(batch): place for place, batch in enumerate(batches)}
        self.begun = {}

    def __getitem__(self, index: Tensor | slice) -> Tensor:
        decoded = torch.from_numpy(np.stack([future.result() for future in self._futures(index)]))
        if self.device.type == "cuda":
            decoded = decoded.pin_memory()  # so that the copy runs in parallel
        return self.normalise(decoded.to(self.device, non_blocking=True))

    def _futures(self, index: Tensor | slice) -> list[Future[np.ndarray]]:
        """Return the images of a batch, which are being decoded already if it was announced."""
        place = self.places.get(id(index))
        if place is None:
            return self._begin(index.cpu().numpy() if isinstance(index, Tensor) else index)
        begun, ahead = self.begun, range(place, min(place + AHEAD, len(self.announced)))
        self.begun = {one: begun[one] if one in begun else self._begin(self.announced[one][1]) for one in ahead}
        return self.begun.pop(place)

    def _begin(self, places: np.ndarray | slice) -> list[Future[np.ndarray]]:
        return [self.pool.submit(self._decode, int(number)) for number in self.numbers[places]]

    def _decode(self, number: int) -> np.ndarray:
        image = self.pack[number]
        top, left = ((side - self.crop) // 2 for side in image.shape[1:])
        return image[:, top : top + self.crop, left : left + self.crop]


def sample_set(run: RunData) -> SampleSet:
    arrays, about, labels = run.arrays, run.about, run.labels
    device, pack = labels.device, Pack(Path(about.shards))

    def images(part: str) -> StoredImages:
        return StoredImages(pack, arrays[f"{part}_i"], about, device)

    def tested(part: str) -> tuple[StoredImages, Tensor]:
        return images(part), torch.from_numpy(arrays[f"{part}_y"]).to(device)

    data = TrainingData(images("train"), labels, run.training["batch_size"], run.seed)
    evaluate = Evaluator(*tested("test"), WrongLabels(data), EVALUATED, {CLEAN: tested("val")})
    return SampleSet(channels=len(about.mean), data=data, evaluate=evaluate)
