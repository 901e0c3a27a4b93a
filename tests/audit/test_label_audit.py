"""warlab.audit outside of the workflow: running sums, scores, suspects, and errors for bad input."""

import doctest
import subprocess
import sys

import numpy as np
import ot
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

import warlab.audit
from warlab.audit import LabelAudit, auroc, average_precision, precision_at_errors
from warlab.audit.record import EXTRA, ROWS, Record
from warlab.audit.scoring import SCORES, scores, suggested, suspects
from warlab.errors import WarlabError

N, C = 60, 5


def trained(epochs: int = 3, batch: int = 7, seed: int = 0) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Batches of logits, labels and numbers, every sample once an epoch."""
    rng = torch.Generator().manual_seed(seed)
    labels = torch.randint(C, (N,), generator=rng)
    batches = []
    for _ in range(epochs):
        logits = 3 * torch.randn(N, C, generator=rng)
        for index in torch.randperm(N, generator=rng).split(batch):
            batches.append((logits[index], labels[index], index))
    return batches


def audit_of(batches: list, as_arrays: bool = False) -> LabelAudit:
    audit = LabelAudit(N, C)
    for batch in batches:
        audit.update(*(part.numpy() if as_arrays else part for part in batch))
    return audit


@pytest.mark.parametrize("as_arrays", [False, True])
def test_means_are_those_of_the_definitions(as_arrays: bool) -> None:
    batches = trained()
    found = audit_of(batches, as_arrays).means()
    for sample in range(N):
        seen = [(z[k].double(), int(y[k])) for z, y, index in batches for k in torch.where(index == sample)[0]]
        y = seen[0][1]
        p = np.mean([z.softmax(0).numpy() for z, _ in seen], 0)
        margin = np.mean([float(z[y] - max(z[c] for c in range(C) if c != y)) for z, _ in seen])
        loss = np.mean([float(-z.log_softmax(0)[y]) for z, _ in seen])
        np.testing.assert_allclose(found.probabilities[sample], p, rtol=1e-5)
        np.testing.assert_allclose([found.margin[sample], found.loss[sample]], [margin, loss], rtol=1e-5, atol=1e-6)
        assert found.labels[sample] == y and found.seen[sample] == 3
    assert found.probabilities.dtype == found.margin.dtype == np.float32


def test_a_sample_may_come_several_times_in_a_batch() -> None:
    """As the pixels of one object do."""
    audit = Record(2, 3)
    z = torch.tensor([[1.0, 0, 0], [3.0, 0, 0], [0.0, 0, 5]])
    audit.update(z, torch.tensor([0, 0, 2]), torch.tensor([1, 1, 0]))
    means = audit.means()
    assert means.seen.tolist() == [1, 2] and means.margin.tolist() == [5.0, 2.0]


@pytest.mark.parametrize("rows", [1, 11, 10**6])
def test_continued_from_a_state_it_ends_with_the_same_bits(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warlab.audit.record.ROWS", rows)
    batches = trained()
    whole = audit_of(batches).means()
    for cut in (0, 1, 5, len(batches) - 1):
        state = audit_of(batches[:cut]).state_dict()
        again = LabelAudit(N, C)
        again.load_state_dict(state)
        for batch in batches[cut:]:
            again.update(*batch)
        for name, values in vars(again.means()).items():
            np.testing.assert_array_equal(values, vars(whole)[name])


def test_memory_does_not_grow_with_the_epochs() -> None:
    audit = LabelAudit(N, C)
    for batch in trained(epochs=100):
        audit.update(*batch)
    held = sum(z.numel() + y.numel() + i.numel() for z, y, i in audit._waiting)
    assert audit._sums.numel() == N * (C + EXTRA) and held < (ROWS + 7) * (C + 2)


def test_the_graph_is_left_alone() -> None:
    z = torch.randn(4, C, requires_grad=True)
    logits = 2 * z
    audit = LabelAudit(N, C)
    audit.update(logits, torch.zeros(4, dtype=torch.long), torch.arange(4))
    logits.sum().backward()
    assert not audit._waiting[0][0].requires_grad and z.grad is not None


def same(one: LabelAudit, other: LabelAudit) -> bool:
    return all(np.array_equal(values, vars(other.means())[name]) for name, values in vars(one.means()).items())


def test_the_means_of_very_many_equal_rows_are_that_row() -> None:
    """As for the pixels of a large object: single precision stops counting at 2^24."""
    p = torch.tensor([0.55, 0.25, 0.1, 0.05, 0.03, 0.02])
    rows = 2**19
    audit = Record(2, len(p))
    for _ in range(2**25 // rows):
        audit.update(
            p.log().expand(rows, -1), torch.zeros(rows, dtype=torch.uint8), torch.ones(rows, dtype=torch.int32)
        )
    means = audit.means()
    assert means.seen.tolist() == [0, 2**25]
    np.testing.assert_allclose(means.probabilities[1], p, rtol=1e-6)
    np.testing.assert_allclose(means.probabilities[1].sum(dtype=np.float64), 1, atol=1e-6)
    np.testing.assert_allclose([means.margin[1], means.loss[1]], [np.log(0.55 / 0.25), -np.log(0.55)], rtol=1e-5)


KINDS = {
    "lists": lambda z, y, i: (z.tolist(), y.tolist(), i.tolist()),
    "numpy": lambda z, y, i: (z.numpy().copy(), y.numpy().copy(), i.numpy().copy()),
    "small": lambda z, y, i: (z.double().numpy(), y.numpy().astype(np.uint8), i.numpy().astype(np.int32)),
    "unsigned": lambda z, y, i: (z.numpy().copy(), y.numpy().astype(np.uint64), i.numpy().astype(np.uint16)),
    "tensors": lambda z, y, i: (z.clone(), y.int(), i.clone()),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_for_every_type_arguments_are_copied_and_states_are_saved_and_independent(kind, tmp_path) -> None:
    batches, audit = trained(), LabelAudit(N, C)
    for batch in batches:
        given = kind(*batch)
        audit.update(*given)
        for values in given:  # as a loader that uses its buffers again
            values[:] = [values[0]] * len(values) if isinstance(values, list) else 0 * values
    torch.save(audit.state_dict(), tmp_path / "state.pt")
    loaded, expected, state = LabelAudit(N, C), audit_of(batches), audit.state_dict()
    loaded.load_state_dict(torch.load(tmp_path / "state.pt"))
    assert same(audit, expected) and same(loaded, expected)
    for first in (False, True):  # with rows that wait, and with all of them added
        one, other = LabelAudit(N, C), LabelAudit(N, C)
        one.load_state_dict(state)
        if first:
            one.means()
            state = one.state_dict()
        other.load_state_dict(state)
        one.update(*batches[0])
        one.means()
        assert same(other, expected) and not same(one, other)


class OnGpu(torch.Tensor):
    """A tensor that says it is on a GPU, where numbers are looked at later."""

    is_cuda = True  # type: ignore[assignment]


BAD = {
    "label": (torch.zeros(2, C), torch.tensor([0, C]), torch.tensor([0, 1])),
    "negative": (torch.zeros(2, C), torch.tensor([0, -100]), torch.tensor([0, 1])),
    "sample": (torch.zeros(2, C), torch.tensor([0, 1]), torch.tensor([0, N])),
    "float label": (torch.zeros(2, C), torch.tensor([0.9, 1.0]), torch.tensor([0, 1])),
    "float index": (torch.zeros(2, C), np.array([0, 1]), np.array([0.0, 1.7])),
    "mask": (torch.zeros(2, C), torch.tensor([0, 1]), torch.tensor([True, False])),
    "shape": (torch.zeros(2, C - 1), torch.tensor([0, 1]), torch.tensor([0, 1])),
    "another label": (torch.zeros(2, C), torch.tensor([0, 3]), torch.tensor([59, 59])),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_batch_is_refused_at_once_and_leaves_the_audit_as_it_was(bad: tuple) -> None:
    batches = trained()
    audit = audit_of(batches[:3])
    with pytest.raises(WarlabError):
        audit.update(*bad)
    for batch in batches[3:]:
        audit.update(*batch)
    assert same(audit, audit_of(batches))


def test_a_bad_batch_on_a_gpu_is_refused_later_and_only_it_is_left_out() -> None:
    batches = trained()
    audit = audit_of(batches[:3])
    audit.update(*(part.as_subclass(OnGpu) for part in BAD["label"]))
    for batch in batches[3:]:
        audit.update(*batch)
    with pytest.raises(WarlabError, match="label 0 to 5 in a batch"):
        audit.means()
    assert same(audit, audit_of(batches))


@pytest.mark.parametrize("as_kind", [lambda part: part, lambda part: part.as_subclass(OnGpu)], ids=["cpu", "gpu"])
def test_a_sample_keeps_its_label_whatever_has_been_added_saved_or_waits(as_kind) -> None:
    batches, others = trained(), {}
    for z, y, index in batches[:4]:  # a shuffled list of labels, or the index of the batch, looks like this
        others = {"labels": (z, (y + 1) % C, index), "one of them": (z, torch.cat([y[:-1], (y[-1:] + 1) % C]), index)}
    for bad in others.values():
        for how in ("waits", "added", "loaded"):
            audit = audit_of([tuple(map(as_kind, batch)) for batch in batches[:4]])
            if how == "added":
                audit.means()
            if how == "loaded":
                state, audit = audit.state_dict(), LabelAudit(N, C)
                audit.load_state_dict(state)
            with pytest.raises(WarlabError, match=r"was given label \d for sample \d+, whose label was \d before"):
                audit.update(*map(as_kind, bad))
                audit.means()
            for batch in batches[4:]:
                audit.update(*map(as_kind, batch))
            assert same(audit, audit_of(batches))


@pytest.mark.parametrize("size", [1, 3, 20])
def test_probabilities_are_refused_and_nothing_else_is(size: int) -> None:
    z, y, index = trained(epochs=1, batch=N)[0]
    for p in (z.softmax(1), torch.eye(C)[y], z.half().softmax(1), z.softmax(1).numpy()):
        audit = LabelAudit(N, C)
        with pytest.raises(WarlabError, match="in place of logits"):
            for k in range(0, N, size):
                audit.update(p[k : k + size], y[k : k + size], index[k : k + size])
            audit.means()
        assert audit.means().seen.sum() == 0
    p = z.softmax(1)
    for good in (z, z.relu(), p.log(), 2 * p, 0 * p, torch.cat([p[:1] + 0.02, p[1:]])):  # any logits but probabilities
        audit = LabelAudit(N, C)
        for k in range(0, N, max(size, 2)):
            rows = slice(k, k + max(size, 2))
            audit.update(good[rows], y[rows], index[rows])
        assert audit.means().seen.tolist() == [1] * N


def test_transport_is_the_exact_one_and_with_the_zero_one_cost_the_missing_probability() -> None:
    means = audit_of(trained()).means()
    cost = np.random.default_rng(0).random((C, C))
    np.fill_diagonal(cost, 0)
    found = scores(means, torch.from_numpy(cost))["transport"]
    for k in range(0, N, 7):
        p = means.probabilities[k].astype(float)
        assert found[k] == pytest.approx(ot.emd2(np.eye(C)[means.labels[k]], p / p.sum(), cost), rel=1e-4)
    p_y = means.probabilities[np.arange(N), means.labels]
    np.testing.assert_allclose(scores(means)["transport"], 1 - p_y, atol=1e-6)


def test_another_label_is_suggested_exactly_where_confident_learning_is_off_the_diagonal() -> None:
    means = audit_of(trained()).means()
    thresholds = [means.probabilities[means.labels == k, k].mean() for k in range(C)]
    above = means.probabilities - thresholds
    np.testing.assert_array_equal(suggested(means), above.argmax(1))
    found = scores(means)["confident"]
    np.testing.assert_array_equal(found > 0, suggested(means) != means.labels)
    listed = suspects(means)
    assert set(listed["index"]) == set(np.flatnonzero(found > 0))
    assert (np.diff(listed["combined"]) <= 0).all()
    np.testing.assert_array_equal(listed["suggested"], suggested(means)[listed["index"]])
    for by in SCORES:
        assert (np.diff(suspects(means, by)[by]) <= 0).all()


def test_a_class_that_is_hard_to_learn_is_not_suspected_as_a_whole() -> None:
    """Class 1 has low margins everywhere; one label of class 0 is wrong, with a margin that class 1 would call good."""
    n = 40
    labels = np.arange(n) % 2
    own = np.where(labels == 0, 0.95, 0.55)
    own[0] = 0.6
    p = np.where(np.eye(2)[labels] > 0, own[:, None], 1 - own[:, None])
    logits = np.log(p)
    audit = LabelAudit(n, 2)
    audit.update(logits, labels, np.arange(n))
    found = audit.scores()
    assert found["combined"].argmax() == found["confident"].argmax() == 0
    assert found["margin"].argmax() != 0


def test_what_was_never_seen_is_neither_scored_nor_suspected() -> None:
    audit = LabelAudit(N + 2, C)
    for batch in trained():
        audit.update(*batch)
    assert all(np.isnan(values[N:]).all() and np.isfinite(values[:N]).all() for values in audit.scores().values())
    assert audit.suspects()["index"].max() < N and audit.suggested()[N:].tolist() == [-1, -1]
    assert len(LabelAudit(3, 2).suspects()) == 0


def test_only_the_epochs_of_the_window_count() -> None:
    batches = trained(epochs=3, batch=N)
    first = LabelAudit(N, C, epochs=range(2))
    for epoch, batch in enumerate(batches):
        first.update(*batch, epoch=epoch)
    np.testing.assert_array_equal(first.means().margin, audit_of(batches[:2]).means().margin)
    with pytest.raises(WarlabError, match="epoch=epoch"):
        first.update(*batches[0])


@pytest.mark.parametrize("epochs", [lambda: iter([1, 3]), lambda: np.array([3, 1]), lambda: torch.tensor([1, 3])])
def test_the_epochs_that_count_may_come_in_any_order_and_type(epochs) -> None:
    audit, batch = LabelAudit(N, C, epochs=epochs()), trained(epochs=1, batch=N)[0]
    for epoch in (3, 0, np.int64(1), 2, torch.tensor(3)):
        audit.update(*batch, epoch=epoch)
    assert set(audit.means().seen) == {3}


SCORE_TYPES = [np.float64, np.float32, np.int64, np.uint8, torch.tensor, list]
MASK_TYPES = [np.bool_, np.int64, np.uint8, np.float32, torch.tensor, list]


def convert(values: np.ndarray, kind: type) -> object:
    return values.astype(kind) if kind not in (torch.tensor, list) else kind(values.tolist())


@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=2, max_size=60),
    st.sampled_from(SCORE_TYPES),
    st.sampled_from(MASK_TYPES),
)
@settings(max_examples=200, deadline=None)
def test_quality_agrees_with_scikit_learn_for_every_type(samples: list[tuple[int, bool]], kind, mask: type) -> None:
    score, wrong = np.array([s for s, _ in samples], float), np.array([w for _, w in samples])
    given = convert(score, kind), convert(wrong, mask)
    assert precision_at_errors(*given) == pytest.approx(precision_at_errors(score, wrong), nan_ok=True)
    if wrong.all() or not wrong.any():
        assert np.isnan(auroc(*given))
        return
    assert auroc(*given) == pytest.approx(roc_auc_score(wrong, score))
    assert average_precision(*given) == pytest.approx(average_precision_score(wrong, score))


@pytest.mark.parametrize("metric", [auroc, average_precision, precision_at_errors])
@pytest.mark.parametrize(
    "score, wrong, sentence",
    [
        ([0.1, np.nan, 0.3], [True, False, False], "1 of 3 scores are NaN"),
        ([0.1, 0.2, 0.3], [0, 2, 1], "booleans, or 0 and 1"),
        ([0.1, 0.2, 0.3], [0, np.nan, 1], "booleans, or 0 and 1"),
        ([0.1, 0.2, 0.3], [1, 0], r"shapes \(3,\) and \(2,\)"),
        ([[0.1], [0.2]], [[1], [0]], r"shapes \(2, 1\)"),
        (["a", "b"], [1, 0], "of type <U1"),
    ],
)
def test_quality_refuses_what_has_no_order(metric, score: list, wrong: list, sentence: str) -> None:
    with pytest.raises(WarlabError, match=sentence):
        metric(score, wrong)
    with pytest.raises(WarlabError):
        metric(np.array(score), np.array(wrong))


def test_precision_is_taken_at_the_number_of_errors() -> None:
    score, wrong = np.array([5.0, 4, 3, 2, 1]), np.array([True, False, True, False, True])
    assert precision_at_errors(score, wrong) == pytest.approx(2 / 3)
    assert np.isnan(precision_at_errors(score, ~wrong & wrong))


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: LabelAudit(0, 5), "not 0 and 5"),
        (lambda: audit_of([(torch.zeros(2, 4), torch.zeros(2), torch.zeros(2))]), r"\(2, 4\), \(2,\), \(2,\)"),
        (lambda: audit_of([(torch.zeros(2, C), torch.zeros(3), torch.zeros(2))]), r"takes \(B, 5\), \(B,\) and \(B,\)"),
        (lambda: audit_of([(torch.zeros(1, C), torch.tensor([C]), torch.tensor([0]))]).means(), "label 5 to 5"),
        (lambda: audit_of([(torch.zeros(1, C), torch.tensor([0]), torch.tensor([N]))]).means(), "sample 60 to 60"),
        (lambda: audit_of([(torch.full((1, C), torch.nan),) + (torch.zeros(1).long(),) * 2]).scores(), "diverged"),
        (lambda: audit_of(trained()).suspects(by="entropy"), "not by 'entropy'"),
        (lambda: audit_of(trained()).scores(cost=np.ones((C, C))), "diagonal"),
        (lambda: audit_of(trained()).scores(cost=np.zeros((2, 2))), "5 × 5 finite numbers"),
        (lambda: LabelAudit(3, C).load_state_dict(_state()), "of 60 samples and 5 classes, this one of 3 and 5"),
    ],
)
def test_bad_input_is_one_sentence(call, sentence: str) -> None:
    with pytest.raises(WarlabError, match=sentence) as error:
        call()
    assert "\n" not in str(error.value)


def _state() -> dict:
    audit = audit_of(trained())
    audit.means()
    return audit.state_dict()


def test_the_example_of_the_docstring_is_true() -> None:
    assert doctest.testmod(warlab.audit).failed == 0 < doctest.testmod(warlab.audit).attempted


def test_importing_it_needs_numpy_only() -> None:
    heavy = "{'torch', 'pandas', 'scipy', 'matplotlib', 'snakemake', 'yaml'}"
    code = f"import sys, warlab.audit; found = {heavy} & set(sys.modules); sys.exit(str(found) if found else 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
