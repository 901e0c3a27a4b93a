"""Figures: found by name, marked, drawn from what they are given."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.helpers.reports import (
    LABELS,
    NAMES,
    PUBLISHED,
    caption,
    draw,
    figure_inputs,
    ground_cost,
    noisy_labels,
    runs_table,
    texts,
)
from warlab.errors import WarlabError
from warlab.reporting import figures, style
from warlab.reporting.figures import Design, base, published_cells, segmentation_maps, why_not
from warlab.reporting.figures.base import Inputs
from warlab.reporting.read import results
from warlab.war import toy

OF_DATA = sorted({"activations", "agreement", "beta_sensitivity", "flipped_samples", "purity"}
    | {"learning_curves", "matrices", "memorised", "time_and_accuracy"})  # fmt: skip


@pytest.mark.parametrize("name", OF_DATA)
def test_figures_say_when_data_are_a_stand_in(name: str) -> None:
    (real, of_real), (fake, of_fake) = (base.make(name, figure_inputs(data)) for data in ("real", "stand-in"))
    assert "stand-in" not in texts(real) + of_real.lower()
    source = "CIFAR-10: procedural images" if name == "beta_sensitivity" else "procedural stand-in for"
    assert source in " ".join(texts(fake).split()) and "Stand-in data" in of_fake


@pytest.mark.parametrize("name", ["activations", "agreement", "flipped_samples"])
def test_a_figure_is_not_marked_for_what_it_does_not_show(name: str) -> None:
    """Beside real images the study has procedural tiles."""
    inputs = figure_inputs("real")
    tiles = inputs.runs.assign(dataset="vaihingen", data="stand-in", test_accuracy=90.0)
    noise = [*inputs.noise, noisy_labels("stand-in", dataset="vaihingen")]
    more = replace(inputs, runs=pd.concat([inputs.runs, tiles]), noise=noise)
    assert base.stand_in_datasets(more) == ["vaihingen"]
    figure, said = base.make(name, more)
    assert "stand-in" not in texts(figure) + said.lower()
    assert "stand-in" not in caption("purity", replace(inputs, noise=noise)).lower()


@pytest.mark.parametrize("name", figures.names())
def test_figures_refuse_nothing(name: str) -> None:
    with pytest.raises(WarlabError):
        figures.get(name).draw(Inputs())


def test_figures_are_saved_twice_with_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        style.save(draw("learning_curves", figure_inputs()), tmp_path / folder / "curve.v1")
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == ["curve.v1.pdf", "curve.v1.png", "curve.v1.svg"]
    for name in ("curve.v1.pdf", "curve.v1.png", "curve.v1.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert b"CreationDate" not in (tmp_path / "a" / "curve.v1.pdf").read_bytes()


def test_matrices_show_values_and_the_first_seed_only() -> None:
    costs = [ground_cost(key) for key in ("w2v", "embed@asym-40@seed0", "embed@asym-40@seed1")]
    inputs = Inputs(costs=costs, noise=[noisy_labels(noise="clean"), noisy_labels()], labels=LABELS)
    figure = draw("matrices", inputs)
    assert len([ax for ax in figure.axes if ax.images]) == 3  # two costs, one transition
    shown = texts(figure)
    assert ".78" in shown  # exp(-1/4)
    assert "12.5 % of all labels changed" in shown
    assert "first" in caption("matrices", inputs)


def test_flipped_samples_group_by_kind_of_flip() -> None:
    (axes,) = draw("flipped_samples", figure_inputs()).axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "T-shirt/top → Dress\n3 images",
        "Ankle boot → Pullover\n2 images",
    ]


def test_a_scale_without_flips_or_costs_says_so_instead_of_stopping() -> None:
    data = figure_inputs().data
    labels = data["fashion_mnist"].arrays["train_y"]
    clean = replace(noisy_labels(noise="clean", realised_rate=0.0), labels=labels)
    inputs = Inputs(noise=[clean], data=data, labels=LABELS)
    figure, said = base.make("flipped_samples", inputs)
    assert "No noise of this scale" in texts(figure) and said.startswith("No noise of this scale")
    assert "No method of this scale" in texts(base.make("matrices", inputs)[0])


def test_twenty_random_costs_are_one_panel() -> None:
    costs = [ground_cost(f"random.{seed}") for seed in range(20)]
    figure = draw("matrices", Inputs(costs=costs, labels=LABELS))
    assert len([ax for ax in figure.axes if ax.images]) == 1


def test_maps_show_image_truth_and_every_method_twice() -> None:
    figure = draw("segmentation_maps", figure_inputs("stand-in"))
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:4] == ["test tile 12", "ground truth", "CCE (clean)", "CCE"] and len(titles) == 8
    whole, part = (figure.axes[k].images[0].get_array() for k in (3, 7))
    outline = figure.axes[3].patches[0]
    left, top = (round(value + 0.5) for value in outline.get_xy())
    side = round(outline.get_width())
    np.testing.assert_array_equal(part, whole[top : top + side, left : left + side])
    assert "procedural tiles" in texts(figure)


def test_the_close_up_is_where_most_is_wrong() -> None:
    truth = np.zeros((40, 60), int)
    wrong = truth.copy()
    wrong[20:30, 40:50] = 1
    rows, columns = segmentation_maps.choose_close_up(truth, [truth, wrong])
    assert rows.stop - rows.start == columns.stop - columns.start == 16
    assert rows.start <= 20 and rows.stop >= 30 and columns.start <= 40 and columns.stop >= 50
    wrong[:] = 0
    wrong[39, 59] = 1
    assert segmentation_maps.choose_close_up(truth, [wrong]) == (slice(24, 40), slice(44, 60))


def test_corrupted_truth_shows_the_tile_that_changed_most() -> None:
    inputs = figure_inputs("stand-in")
    figure = draw("corrupted_truth", inputs)
    pictures = [ax.images[0].get_array() for ax in figure.axes[:3]]
    assert pictures[0].shape == pictures[1].shape == pictures[2].shape and (pictures[1] != pictures[2]).any()
    (objects,) = (entry.manifest.objects for entry in inputs.noise if entry.manifest.objects)
    assert f"{objects.changed} of {objects.objects} objects" in caption("corrupted_truth", inputs)


def test_a_method_has_one_look_everywhere() -> None:
    listed = style.looks([])
    own = ["ls_twist", "label_smoothing", "elr", "war+cost=file", "war_w2v+beta=5", "war_w2v+beta=1", "gce+q=0.5"]
    own += [f"method{k}" for k in range(12)]
    looks = style.looks([*own, "cce"])
    assert looks["cce"] == (style.BLACK, "-") and {name: looks[name] for name in listed} == listed
    assert looks["war_w2v+beta=5"][0] == looks["war_w2v"][0] and set(own) < set(looks)
    assert len(set(looks.values())) == len(looks), "no two methods look the same"
    assert len({looks[name][0] for name in ("ls_twist", "label_smoothing", "elr")}) == 3
    assert len(style.looks([f"method{k}" for k in range(99)])) == len(listed) + 99


# ---- figures of the paper


def test_beta_has_our_points_and_the_papers() -> None:
    (axes,) = draw("beta_sensitivity", figure_inputs()).axes
    drawn = {(line.get_color(), tuple(line.get_xdata())) for line in axes.lines if len(line.get_xdata())}
    orange = style.looks([])["war_w2v"][0]
    assert (orange, (0.5, 1.0, 5.0, 10.0, 20.0)) in drawn and (orange, (1.0, 10.0)) in drawn


def test_purity_is_compared_with_a_random_selection() -> None:
    (axes,) = draw("purity", figure_inputs()).axes
    assert [line.get_ydata()[0] for line in axes.lines] == [70.0, pytest.approx(87.5)]  # 1 − 5/40


def test_agreement_draws_each_common_cell_once() -> None:
    (axes,) = draw("agreement", figure_inputs()).axes
    points = [
        (float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in axes.lines if len(line.get_xdata()) == 1
    ]
    assert (90.41, 53.0) in points and (78.85, 53.0) in points  # WAR_w2v and CCE, Fashion-MNIST at 40 %


def test_matrices_put_similar_classes_beside_each_other() -> None:
    group = np.array([0, 1, 0, 1, 0])  # NAMES in two kinds that alternate
    cost = np.where(group[:, None] == group, 0.9, 0.1) * (1 - np.eye(5))
    inputs = Inputs(costs=[replace(ground_cost(), matrix=cost)], noise=[noisy_labels()], labels=LABELS)
    axes = [ax for ax in draw("matrices", inputs).axes if ax.images]
    orders = [[tick.get_text() for tick in ax.get_xticklabels()] for ax in axes]
    assert orders[0] == orders[1]  # cost and transition in the same order
    kinds = [group[NAMES.index(name)] for name in orders[0]]
    assert sum(a != b for a, b in pairwise(kinds)) == 1
    np.testing.assert_allclose(np.nanmax(axes[0].images[0].get_array()), 0.9)


def test_the_toy_is_learnt_and_its_figures_have_no_empty_panel() -> None:
    arrays = toy.compute(steps=30)
    assert arrays["regions"].shape[0] == len(arrays["names"]) == 6
    assert (arrays["given"] != arrays["true"]).sum() == 8 and np.allclose(arrays["regions"].sum(3), 1, atol=1e-5)
    lengths = np.linalg.norm(arrays["directions"], axis=2)
    np.testing.assert_allclose(lengths, toy.EPSILON, rtol=1e-4)
    values = dict(zip(arrays["names"], arrays["values"], strict=True))
    at = np.abs(arrays["simplex"] - arrays["prediction"]).sum(1).argmin()
    assert values["TV"][at] < 0.02 and values["KL (AR)"][at] < 0.01 and not values["CCE"].any()
    # With the smallest cost between red and black WAR hardly minds the step to black, and minds the one to orange.
    orange, black = (np.abs(arrays["simplex"] - np.eye(3)[k]).sum(1).argmin() for k in (0, 2))
    assert values["WAR, λ = 0.05"][black] < 0.4 * values["WAR, λ = 0.05"][orange]
    assert values["TV"][black] == pytest.approx(values["TV"][orange], abs=1e-3)
    for name in ("simplex", "ar_versus_war"):
        figure = draw(name, Inputs(toy=arrays))
        assert all(ax.has_data() or not ax.axison for ax in figure.axes)


def test_the_simplex_is_white_at_zero_and_darker_where_a_divergence_is_larger() -> None:
    """As in the paper, whose prediction is a green cross."""
    arrays = toy.compute(steps=1)
    simplices = draw("simplex", Inputs(toy=arrays)).axes[1 : len(arrays["names"]) + 1]  # the first is the ground cost
    for ax, values in zip(simplices, arrays["values"], strict=True):
        (cross,) = [line for line in ax.lines if line.get_marker() == "x"]
        assert cross.get_color() == style.GREEN
        if not values.any():
            continue
        (filled,) = [found for found in ax.collections if found.get_array() is not None]
        brightness = filled.to_rgba([0.0, *np.linspace(0, values.max(), 9)[1:]])[:, :3].mean(1)
        assert brightness[0] == 1.0 and (np.diff(brightness) < 0).all() and brightness[-1] < 0.1
    assert "Proposition 2" in caption("simplex", Inputs(toy=arrays))


# ---- what a figure asks of a study


def design(*methods: str, dataset: str = "cifar10", noise: str = "asym-40", name: str = "main_benchmark") -> Design:
    return Design([name], [(dataset, noise, "cnn9", m) for m in methods], published_cells(PUBLISHED))


@pytest.mark.parametrize(
    ("name", "there", "lacking", "reason"),
    [
        ("time_and_accuracy", design("cce", "ar"), design("cce"), "no setting has 2 methods"),
        ("agreement", design("cce"), design("cce", noise="sym-40"), "the paper has no number"),
        ("purity", design("jocor"), design("cce"), "no run is of coteaching, coteaching_plus or jocor"),
        ("simplex", design("war_ordinal"), design("cce"), "no run is of AR, TV or WAR"),
        ("activations", design("cce", dataset="fashion_mnist"), design("cce"), "no run is of fashion_mnist"),
        ("beta_sensitivity", design("cce", name="beta_sensitivity"), design("cce"), "no experiment beta_sensitivity"),
        (
            "time_and_accuracy",
            design("cce", "ar"),
            replace(design("cce", "ar"), columns=frozenset({"epoch"})),
            "without their seconds",
        ),
        ("memorised", design("cce", noise="sym-40"), design("cce", noise="clean"), "all labels are clean"),
        ("flipped_samples", design("cce"), design("cce", dataset="vectors"), "no dataset has images in memory"),
        ("matrices", design(), Design([], [], absent={"costs": "given runs come without costs"}), "given runs"),
    ],
)
def test_a_figure_says_what_it_lacks_of_a_study(name: str, there: Design, lacking: Design, reason: str) -> None:
    assert why_not(name, there) is None
    assert reason in str(why_not(name, lacking))


def test_two_methods_of_other_data_leave_out_what_needs_more() -> None:
    """By the inputs themselves: a figure that the study may have is drawn, one that it cannot have says so."""
    runs = runs_table({("cce", 0): [50.0, 60.0], ("war_w2v", 0): [55.0, 70.0]}).assign(
        dataset="image_folder", seconds=1.0
    )
    cells = [("image_folder", "asym-40", "cnn9", m) for m in ("cce", "war_w2v")]
    own = Design(["main_benchmark"], cells, published_cells(PUBLISHED))
    published = results.read_published(PUBLISHED)
    inputs = Inputs(runs=runs, published=published, labels=LABELS)
    for name in ("agreement", "learning_curves", "time_and_accuracy"):
        figure, said = base.make(name, inputs)  # never an error
        drawn = bool(figure.axes)
        assert drawn == (why_not(name, own) is None), name
        assert said if drawn else said in texts(figure)
