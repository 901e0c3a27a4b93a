"""Co-Teaching, Co-Teaching+ and JoCoR: what they forget, what they select, and what becomes of the quirks."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import cross_entropy

from tests.helpers.on_logits import evaluate, make, some_logits, task
from tests.helpers.runs import resolved, run_training, weights, write_files
from tests.helpers.studies import study_of
from warlab.artefacts.run_config import RunConfig
from warlab.engine.images import Images, TrainingData, WrongLabels
from warlab.engine.run import train_run
from warlab.engine.train import _Meter
from warlab.errors import WarlabError
from warlab.methods._selection import forget_rate, forget_share
from warlab.methods.base import Step


def two_logits(n: int = 20) -> tuple[Tensor, Tensor]:
    first, y = some_logits(n)
    return torch.stack([first, some_logits(n, seed=1)[0]]), y


# ---- forgetting


def test_the_share_that_is_forgotten_rises_as_in_the_published_code() -> None:
    published = np.full(20, 0.4)
    published[:10] = np.linspace(0, 0.4**1, 10)
    assert [forget_share(e, 0.4, 10, 1.0) for e in range(20)] == pytest.approx(published.tolist())
    assert forget_share(9, 0.4, 10, 2.0) == pytest.approx(0.16) and forget_share(10, 0.4, 10, 2.0) == 0.4
    assert [forget_share(e, 0.4, ramp, 1.0) for ramp in (0, 1) for e in (0, 1)] == [0.4, 0.4, 0.0, 0.4]


def test_the_forget_rate_has_its_names() -> None:
    y = torch.zeros(1, dtype=torch.long)
    rates = {name: forget_rate(name, task(y, 2)) for name in ("nominal", "realised", "halved")}
    assert rates == {"nominal": 0.4, "realised": 0.2, "halved": 0.2}
    assert forget_rate("halved", task(y, 2, noise_kind="sym")) == 0.4
    assert forget_rate(0.3, task(y, 2)) == 0.3


@given(st.lists(st.integers(1, 300), min_size=1, max_size=60), st.floats(0, 0.99))
def test_batches_of_any_size_keep_the_share_that_the_formula_says(sizes: list[int], forget: float) -> None:
    """The share of all samples so far, and at most one sample more than the published int((1 - R) n) of a batch."""
    method = make("coteaching", torch.zeros(1, dtype=torch.long), 2, forget=forget)
    kept = [method.count_kept(n, Step(50, 60)) for n in sizes]
    assert np.abs(np.cumsum(kept) - (1 - forget) * np.cumsum(sizes)).max() < 1.001
    assert all(0 <= k - int((1 - forget) * n) <= 1 for k, n in zip(kept, sizes, strict=True))


def test_batches_of_16_forget_40_percent_and_not_7_samples() -> None:
    """Of 16 samples the published code forgets 7, or 43.75 %."""
    y = torch.arange(16) % 5
    pair = two_logits(16)[0]
    for name, share in (("coteaching", 0.6), ("jocor", 0.8)):
        method = make(name, y, 5)
        used = [int(evaluate(method, pair, y)[2]["selected"][0].sum()) for _ in range(50)]  # type: ignore[index]
        assert sum(used) == round(share * 800) and set(used) == {int(16 * share), int(16 * share) + 1}


# ---- Co-Teaching


def test_each_network_learns_from_what_the_other_finds_easy() -> None:
    pair, y = two_logits()
    value, gradient, log = evaluate(make("coteaching", y, 5), pair, y)
    easy = [cross_entropy(one, y, reduction="none").argsort()[:12] for one in pair]  # int(0.6 * 20)
    expected = cross_entropy(pair[0, easy[1]], y[easy[1]]) + cross_entropy(pair[1, easy[0]], y[easy[0]])
    assert value == pytest.approx(float(expected))
    for network, other in ((0, 1), (1, 0)):
        assert set(gradient[network].abs().sum(1).nonzero()[:, 0].tolist()) == set(easy[other].tolist())
        assert set(log["selected"][network].nonzero()[:, 0].tolist()) == set(easy[other].tolist())  # type: ignore[index]


def test_dividing_twice_is_the_published_slip() -> None:
    pair, y = two_logits()
    once, twice = (evaluate(make("coteaching", y, 5, division=name), pair, y)[0] for name in ("once", "twice"))
    assert twice == pytest.approx(once / 12)


def test_with_nothing_to_forget_it_is_two_runs_of_cce(tmp_path: Path) -> None:
    """The first network ends with the weights of the CCE run, the second is another one."""
    files = write_files(tmp_path)
    for method in ("cce", "coteaching"):
        run = resolved(method, epochs=2)
        run["net"]["settings"]["dropout"] = 0.0  # masks are drawn one after the other: two networks draw others
        run_training(run, files, tmp_path / method)
    (alone,), (first, second) = weights(tmp_path / "cce"), weights(tmp_path / "coteaching")
    for name, value in alone.items():
        torch.testing.assert_close(value, first[name], rtol=1e-4, atol=1e-5)
    assert not torch.equal(first["head.1.weight"], second["head.1.weight"])


# ---- Co-Teaching+


def test_before_the_disagreement_counts_it_is_co_teaching() -> None:
    pair, y = two_logits()
    early = Step(3, 60)
    plus = evaluate(make("coteaching_plus", y, 5, reading="fixed"), pair, y, early)[0]
    assert plus == evaluate(make("coteaching", y, 5), pair, y, early)[0]


def test_only_samples_in_dispute_are_learned() -> None:
    pair, y = two_logits()
    dispute = set((pair[0].argmax(1) != pair[1].argmax(1)).nonzero()[:, 0].tolist())
    assert 0 < len(dispute) < 20
    _, gradient, log = evaluate(make("coteaching_plus", y, 5, reading="fixed"), pair, y)
    for network in range(2):
        learned = set(gradient[network].abs().sum(1).nonzero()[:, 0].tolist())
        assert learned == set(log["selected"][network].nonzero()[:, 0].tolist())  # type: ignore[index]
        assert learned <= dispute and len(learned) == int(0.6 * len(dispute))


def test_no_training_under_sgd_divides_its_loss_by_the_number_of_samples() -> None:
    """A hundredth of the rate: Adam makes up for it, SGD does not learn."""
    paper = study_of("paper")
    seen = set()
    for dataset in ("fashion_mnist", "cifar10", "cifar100", "clothing1m", "image_folder", "arrays"):
        for noise in ("asym-40", "openset_svhn-40", "openset_imagenet32-40"):
            for method in ("coteaching", "coteaching_plus"):
                optimiser = paper.settings.training(dataset, noise, method)["optimiser"]
                seen.add((optimiser, paper.settings.method(method, dataset, noise)["division"]))
    assert ("sgd", "once") in seen and ("sgd", "twice") not in seen and ("adam", "twice") in seen


def test_the_published_reading_applies_softmax_twice_and_divides_twice() -> None:
    pair, y = two_logits()
    dispute = pair[0].argmax(1) != pair[1].argmax(1)
    value, _, _ = evaluate(make("coteaching_plus", y, 5, forget=0.0, division="twice"), pair, y)
    n = int(dispute.sum())
    expected = sum(cross_entropy(one[dispute].softmax(1), y[dispute]) / n for one in pair)
    assert value == pytest.approx(float(expected))
    fixed = evaluate(make("coteaching_plus", y, 5, forget=0.0, reading="fixed"), pair, y)[0]
    assert fixed == pytest.approx(float(sum(cross_entropy(one[dispute], y[dispute]) for one in pair)))


@pytest.mark.parametrize("reading", ["code", "fixed"])
def test_networks_that_agree_learn_from_the_whole_batch(reading: str) -> None:
    one, y = some_logits()
    pair = torch.stack([one, 2 * one])
    method = make("coteaching_plus", y, 5, reading=reading)
    _, gradient, log = evaluate(method, pair, y, Step(50, 60, batch=1))
    assert (gradient.abs().sum(2) > 0).all() and log["disagreement"] == 0 and log["selected"].all()  # type: ignore[union-attr]
    late, _, log = evaluate(method, pair, y, Step(50, 60, batch=100))
    assert (late == 0) == (reading == "code") == (not log["selected"].any())  # the published gate: epoch * batch < 5000


def test_of_single_disputes_the_share_is_kept_and_the_others_teach_nothing() -> None:
    one, y = some_logits(6)
    other = one.clone()
    other[2] = -one[2]
    method = make("coteaching_plus", y, 5, forget=0.75)
    steps = [evaluate(method, torch.stack([one, other]), y) for _ in range(8)]
    used = [bool(log["selected"].any()) for _, _, log in steps]  # type: ignore[union-attr]
    assert used == [False, False, False, True] * 2
    for (_, gradient, log), learned in zip(steps, used, strict=True):
        assert gradient.isfinite().all() and bool(gradient.any()) == learned
        assert not learned or log["selected"].nonzero()[:, 1].tolist() == [2, 2]  # type: ignore[union-attr]


# ---- JoCoR


def test_jocor_without_agreement_and_forgetting_is_the_sum_of_two_cce() -> None:
    pair, y = two_logits()
    value, gradient, _ = evaluate(make("jocor", y, 5, lam=0.0, forget=0.0), pair, y)
    expected = pair.clone().requires_grad_()
    total = cross_entropy(expected[0], y) + cross_entropy(expected[1], y)
    total.backward()
    assert value == pytest.approx(float(total.detach()))
    torch.testing.assert_close(gradient, expected.grad)


def test_jocor_may_give_its_cross_entropies_the_weight_one() -> None:
    pair, y = two_logits()
    formula, scaled = (evaluate(make("jocor", y, 5, scale=name), pair, y) for name in ("formula", "cross_entropy"))
    assert scaled[0] == pytest.approx(formula[0] / (1 - 0.9), rel=1e-5)
    assert torch.equal(scaled[2]["selected"], formula[2]["selected"])  # type: ignore[arg-type]
    with pytest.raises(WarlabError, match="needs a lam below 1"):
        make("jocor", y, 5, scale="cross_entropy", lam=1.0)


def test_jocor_weighs_and_selects_by_its_joint_loss() -> None:
    pair, y = two_logits()
    p, q = pair.double().softmax(2)
    divergence = (p * (p / q).log()).sum(1) + (q * (q / p).log()).sum(1)
    joint = 0.1 * sum(cross_entropy(one.double(), y, reduction="none") for one in pair) + 0.9 * divergence
    value, _, log = evaluate(make("jocor", y, 5), pair, y)
    assert value == pytest.approx(float(joint.sort().values[:16].mean()), rel=1e-5)  # int((1 - 0.4 / 2) * 20)
    assert set(log["selected"][0].nonzero()[:, 0].tolist()) == set(joint.argsort()[:16].tolist())  # type: ignore[index]


# ---- purity


def test_purity_is_the_share_of_true_labels_among_the_selected() -> None:
    images = Images(np.zeros((1, 1, 8, 8), np.uint8), [0.5], [0.5], torch.device("cpu"))
    trusted = torch.tensor([True, False, True, True, False, False])
    wrong = WrongLabels(TrainingData(images, torch.zeros(1, dtype=torch.long), 1, 0), trusted=trusted)
    selected = torch.tensor([[True, True, False], [False, True, True]])
    index = torch.tensor([4, 0, 2])  # wrong, true, true
    assert float(wrong.purity(selected, index)["purity"]) == pytest.approx(75.0)  # one of two, two of two
    one_empty = torch.tensor([[False, False, False], [False, True, True]])
    assert float(wrong.purity(one_empty, index)["purity"]) == pytest.approx(100.0)  # of the network that selects any
    nothing = wrong.purity(torch.zeros(2, 3, dtype=torch.bool), index)
    meter, loss = _Meter(), torch.tensor(1.0)
    meter.add(loss, nothing)
    assert math.isnan(float(nothing["purity"])) and meter.means() == {"loss": 1.0}
    meter.add(loss, wrong.purity(selected, index))
    assert meter.means() == {"loss": 1.0, "purity": pytest.approx(75.0)}  # batches without a selection do not count


SELECTING = ("coteaching", "coteaching_plus", "jocor", "gce_truncated", "iterative", "war_select", "war_unlabelled")


def purities(method: str, noise: str, folder: Path, batch_size: int) -> list[float]:
    files = write_files(folder, noise=noise)
    config = RunConfig.from_dict(resolved(method, epochs=3, batch_size=batch_size))
    train_run(config, {}, files, folder / "out", 1)
    with (folder / "out" / "metrics.csv").open() as file:
        return [float(row["purity"]) for row in csv.DictReader(file) if row.get("purity")]


@pytest.mark.parametrize("method", SELECTING)
def test_selecting_methods_report_their_purity_of_batches_in_which_they_select_any(method: str, tmp_path: Path) -> None:
    mixed = purities(method, "sym-40", tmp_path / "noisy", 16)
    assert 0 < mixed[0] < 100 and all(0 < value <= 100 for value in mixed)
    # one label is wrong, and many batches of two select nothing
    assert all(90 < value <= 100 for value in purities(method, "sym-3", tmp_path / "one", 2))
    assert purities(method, "clean", tmp_path / "clean", 16) == []  # nobody has checked labels as they are given
