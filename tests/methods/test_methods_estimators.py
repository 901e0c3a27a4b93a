"""What methods estimate from data, on data whose truth is known: transition matrix, LID, turning point, outliers."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tests.helpers.on_logits import make, some_logits
from warlab.engine.images import Images, TrainingData
from warlab.methods import d2l, iterative
from warlab.methods._transition import estimate
from warlab.methods.base import Batch, Step
from warlab.methods.d2l import lid
from warlab.methods.iterative import local_outlier_factor
from warlab.noise.kinds.matrix import corrupt

# ---- transition matrix


def test_the_transition_matrix_is_recovered_on_separable_data() -> None:
    """Three clusters, noisy labels, a linear network trained with CE: T within 0.05 of the one that made the noise."""
    rng = np.random.default_rng(0)
    truth = np.array([[0.6, 0.4, 0.0], [0.0, 1.0, 0.0], [0.1, 0.2, 0.7]])
    clean = np.arange(6000) % 3
    noisy = torch.from_numpy(corrupt(clean, truth, rng))
    x = torch.from_numpy(np.eye(3)[clean] + rng.normal(0, 0.02, (6000, 3))).float()
    model = nn.Linear(3, 3)
    optimiser = torch.optim.Adam(model.parameters(), 0.1)
    for _ in range(200):
        optimiser.zero_grad()
        cross_entropy(model(x), noisy).backward()
        optimiser.step()
    predictions = model(x).softmax(1).detach().double().numpy()
    assert np.abs(estimate(predictions, 97.0) - truth).max() < 0.05
    assert not np.allclose(estimate(predictions, 97.0), estimate(predictions, None))


def test_anchors_are_the_best_below_the_percentile() -> None:
    """As numpy's "higher" percentile and "discard what is at or above it" say, where no two scores are equal."""
    predictions = np.random.default_rng(1).dirichlet([1, 1, 1], 500)
    rows = []
    for i in range(3):
        scores = predictions[:, i].copy()
        scores[scores >= np.percentile(scores, 97, method="higher")] = 0
        rows.append(predictions[scores.argmax()])
    np.testing.assert_allclose(estimate(predictions, 97.0), np.stack(rows))
    np.testing.assert_allclose(estimate(predictions, None), predictions[predictions.argmax(0)])


def test_a_network_that_is_certain_still_has_anchors() -> None:
    sure = np.repeat(np.eye(3), 50, axis=0)
    np.testing.assert_array_equal(estimate(sure, 97.0), np.eye(3))
    np.testing.assert_allclose(estimate(np.full((20, 4), 0.25), 97.0), 0.25)


# ---- LID and D2L


def ball(dimension: int, n: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    direction = nn.functional.normalize(torch.randn(n, dimension, generator=generator))
    points = direction * torch.rand(n, 1, generator=generator) ** (1 / dimension)
    return torch.cat([points, torch.zeros(n, 32 - dimension)], 1)


def test_lid_of_balls_grows_with_the_dimension_and_is_near_it_when_small() -> None:
    values = [float(lid(ball(d, 1280), 20).mean()) for d in (1, 2, 4, 8)]
    assert values == sorted(values)
    assert values[:3] == pytest.approx([1, 2, 4], rel=0.2)
    in_batches = [
        float(torch.cat([lid(part, 20) for part in ball(d, 1280).split(128)]).mean()) for d in (1, 2, 4, 8, 16)
    ]
    assert in_batches == sorted(in_batches) and in_batches[:2] == pytest.approx([1, 2], rel=0.35)


def test_lid_by_its_formula_and_without_enough_points() -> None:
    points = torch.tensor([[0.0], [1.0], [3.0]])
    expected = -2 / (math.log(1 / 3 + 1e-8) + math.log(1 + 1e-8))
    assert float(lid(points, 20)[0]) == pytest.approx(expected, rel=1e-5)
    assert not torch.isfinite(lid(points[:1], 20)).any()


def scripted(lids: list[float], epochs: int = 20, **settings: int) -> d2l.Algorithm:
    method = make("d2l", torch.zeros(4, dtype=torch.long), 2, init_epoch=4, **settings)
    assert isinstance(method, d2l.Algorithm)
    for epoch, value in enumerate(lids):
        method.observe(value, Step(epoch, epochs))
    return method


def test_the_turning_point_on_a_scripted_curve() -> None:
    """Falling, then a jump: it is the first value more than two deviations above the five before it."""
    falling = [10, 8, 6, 5, 4.6, 4.4, 4.2, 4.1, 4.0]
    assert not scripted(falling).turned and scripted(falling).alpha == 1
    turned = scripted([*falling, 5.5])
    assert turned.turned and turned.alpha == pytest.approx(math.exp(-9 / 20 * 5.5 / 4.0))
    assert scripted([*falling, 5.5, 4.0]).alpha == pytest.approx(math.exp(-10 / 20))  # once turned, always turned
    window = [4.6, 4.4, 4.2, 4.1, 4.0]
    limit = np.mean(window) + 2 * np.std(window)
    assert not scripted([*falling, limit - 1e-6]).turned and scripted([*falling, limit + 1e-6]).turned


def test_no_turning_point_before_its_time() -> None:
    jumpy = [1.0, 1.1, 1.0, 1.1, 1.0, 1.1, 1.0, 1.1, 9.0]  # nine values: not more than init_epoch + window
    assert not scripted(jumpy).turned
    assert scripted([1.0, *jumpy]).turned


def test_an_impossible_lid_repeats_the_one_before_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    assert scripted([3.0, math.nan, -1.0, math.inf, 2.0]).lids == [3.0, 3.0, 3.0, 3.0, 2.0]
    assert scripted([math.nan]).lids == [1.0]
    replaced = [message.split(" cannot be estimated")[0] for message in caplog.messages]
    assert replaced == [f"the LID of epoch {epoch}" for epoch in (2, 3, 4, 1)]


@pytest.mark.parametrize("neighbours", [2, 20])
def test_the_lid_is_estimated_for_every_size_of_the_training_set(neighbours: int) -> None:
    """Whatever is left for the last batch of 128: one and two samples tell nothing, and are left out."""
    pixels = np.random.default_rng(0).integers(0, 256, (300, 1, 4, 4), np.uint8)
    net = nn.Flatten()
    net.features = net.forward  # type: ignore[assignment]
    for n in (*range(3, 9), *range(126, 134), *range(254, 262), 300):
        images = Images(pixels[:n], [0.5], [0.5], torch.device("cpu"))
        method = make("d2l", torch.zeros(n, dtype=torch.long), 2, neighbours=neighbours)
        assert isinstance(method, d2l.Algorithm)
        value = method.estimate(net, TrainingData(images, method.task.labels, 32, 0))
        assert math.isfinite(value) and value > 0, n


def test_d2l_mixes_the_label_with_its_own_prediction() -> None:
    logits, y = some_logits()
    method = make("d2l", y, 5)
    assert isinstance(method, d2l.Algorithm)
    method.observe(3.0, Step(0, 60))
    before, _ = method.loss([nn.Identity()], Batch(logits, y, torch.arange(12)), Step(0, 60))
    assert float(before) == pytest.approx(float(cross_entropy(logits, y)))  # type: ignore[arg-type]
    method.alpha = 0.25
    after, log = method.loss([nn.Identity()], Batch(logits, y, torch.arange(12)), Step(1, 60))
    expected = 0.25 * cross_entropy(logits, y) + 0.75 * cross_entropy(logits, logits.argmax(1))
    assert float(after) == pytest.approx(float(expected)) and log == {"lid": 3.0, "alpha": 0.25}  # type: ignore[arg-type]


def test_d2l_estimates_before_the_classifier_in_evaluation_mode() -> None:
    class Net(nn.Module):
        def features(self, x: Tensor) -> Tensor:
            assert not self.training and not torch.is_grad_enabled()
            return x.flatten(1)

    pixels = (ball(2, 600).reshape(600, 1, 4, 8) * 100 + 128).to(torch.uint8).numpy()
    images = Images(pixels, [0.5], [0.5], torch.device("cpu"))
    data = TrainingData(images, torch.zeros(600, dtype=torch.long), 16, seed=0)
    method = make("d2l", data.labels, 2)
    net = Net()
    torch.manual_seed(0)
    assert isinstance(method, d2l.Algorithm)
    assert method.estimate(net, data) == pytest.approx(2, rel=0.4) and net.training


# ---- outliers and Iterative


def slow_lof(points: np.ndarray, k: int) -> np.ndarray:
    """By the definition, one point after the other."""
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    distance = 1 - unit @ unit.T
    near = [[j for j in np.argsort(distance[i], kind="stable") if j != i][:k] for i in range(len(points))]
    k_distance = [distance[i][near[i][-1]] for i in range(len(points))]
    density = [1 / np.mean([max(k_distance[j], distance[i][j]) for j in near[i]]) for i in range(len(points))]
    return np.array([np.mean([density[j] for j in near[i]]) / density[i] for i in range(len(points))])


def test_the_outlier_factor_by_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).normal(size=(40, 6))
    ours = local_outlier_factor(torch.from_numpy(points), 7).numpy()
    np.testing.assert_allclose(ours, slow_lof(points, 7), rtol=1e-6)
    monkeypatch.setattr(iterative, "BLOCK", 9)  # so that the points fill several blocks
    np.testing.assert_allclose(local_outlier_factor(torch.from_numpy(points), 7).numpy(), ours, rtol=1e-12)


def test_a_point_alone_or_one_of_many_copies_is_no_outlier() -> None:
    assert local_outlier_factor(torch.ones(1, 3), 5).tolist() == [1]
    assert local_outlier_factor(torch.ones(6, 3), 2) == pytest.approx(np.ones(6))


def detector(y: Tensor, **settings: float) -> iterative.Algorithm:
    method = make("iterative", y, 2, **settings)
    assert isinstance(method, iterative.Algorithm)
    return method


def test_the_noisy_half_of_each_label_is_where_the_outliers_are() -> None:
    """Two tight bundles of directions, 30 strays in each label: all strays are found, and weigh less."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(200) % 2
    centres = torch.tensor([[1.0, 0, 0, 0, 0], [0, 1, 0, 0, 0]])[y]
    stray = torch.arange(200) >= 140
    spread = torch.where(stray[:, None], 1.5, 0.05) * torch.randn(200, 5, generator=generator)
    method = detector(y)
    for _ in range(2):
        method.detect(centres + spread)
    assert (
        method.rounds == 2 and method.noisy[stray].all() and method.noisy.float().mean() == pytest.approx(0.5, abs=0.02)
    )
    weights = method.weights(torch.arange(200))
    assert weights[~method.noisy].unique().tolist() == pytest.approx([0.1])
    assert weights[stray].mean() < 0.7 * weights[method.noisy & ~stray].mean()


def test_pairs_are_of_the_three_kinds() -> None:
    y, clean = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([True, True, False, True, False])
    for _ in range(20):  # partners are drawn
        (i, j), (k, m) = detector(y).pairs(y, clean)
        assert i.tolist() == [0, 1] and j.tolist() == [1, 0]  # the clean 1 is alone with its label
        assert k.tolist()[:3] == [0, 1, 3] and m.tolist()[:3] == [2, 2, 4]  # noisy of the same label
        assert k.tolist()[3:] == [0, 1, 3] and m.tolist()[3:5] == [3, 3] and int(m[5]) in (0, 1)  # clean of another


def test_contrast_pulls_alike_together_and_pushes_unlike_to_the_margin() -> None:
    features = torch.tensor([[0.0, 0], [3, 4], [0, 0.6]])
    pair = (torch.tensor([0]), torch.tensor([1])), (torch.tensor([0]), torch.tensor([2]))
    method = detector(torch.zeros(3, dtype=torch.long))
    assert float(method.contrastive(features, *pair)) == pytest.approx((25 + 0.4**2) / 2)


def test_both_classifiers_start_different_and_the_first_predicts() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Sequential(nn.Dropout(0.0), nn.Linear(3, 2))

        def features(self, x: Tensor) -> Tensor:
            return x

        def forward(self, x: Tensor) -> Tensor:
            return self.head(x)

    siamese = iterative.Siamese(Net())
    x = torch.randn(4, 3)
    assert torch.equal(siamese(x), siamese.first(x)) and not torch.equal(siamese.first(x), siamese.second(x))
    names = [name for name, _ in siamese.named_parameters()]
    assert names == ["network.head.1.weight", "network.head.1.bias", "second.1.weight", "second.1.bias"]
