"""What several figures share: titles, panels, names beside lines, marks of stand-ins where they belong."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tests.helpers.reports import LABELS, PUBLISHED, caption, draw, figure_inputs, noisy_labels, runs_table, texts
from warlab.reporting import figures, style
from warlab.reporting.figures import time_and_accuracy
from warlab.reporting.figures.base import NEEDS, Inputs
from warlab.reporting.page import SECTIONS, category
from warlab.reporting.page.curves import make_panels
from warlab.reporting.read import results


@pytest.mark.parametrize("name", figures.names())
def test_a_figure_declares_a_title_in_words_a_section_and_what_it_needs(name: str) -> None:
    title, section, needs, asks = figures.declaration(name)
    figure = figures.get(name)
    assert (title, section, needs) == (figure.TITLE, figure.SECTION, figure.NEEDS)
    assert set(needs) <= set(NEEDS) and set(asks) <= set(figures.ASKED)
    assert section in SECTIONS and "_" not in title and title != name.replace("_", " ").capitalize()


def test_snakemakes_report_sorts_the_sections_as_the_page_does() -> None:
    assert sorted(map(category, SECTIONS)) == [category(section) for section in SECTIONS]


@pytest.mark.parametrize(("count", "rows"), [(1, [1]), (2, [2]), (4, [2, 2]), (5, [3, 2]), (7, [3, 2, 2])])
def test_panels_fill_every_row(count: int, rows: list[int]) -> None:
    figure = Figure(figsize=(6, 4))
    made = style.panels(figure, count)
    assert [len(row) for row in made] == rows
    for row in made:
        boxes = [ax.get_position() for ax in row]
        assert boxes[0].x0 == pytest.approx(0.125) and boxes[-1].x1 == pytest.approx(0.9)


def test_names_are_moved_apart_and_keep_their_order() -> None:
    moved = style.spread([5.0, 5.1, 9.0, 4.9], 1.0)
    assert np.diff(sorted(moved)).min() >= 1 - 1e-6 and np.argsort(moved).tolist() == [3, 0, 1, 2] and moved[2] == 9.0


def test_names_beside_points_do_not_cover_each_other() -> None:
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots()
    ax.set(xlim=(0, 10), ylim=(0, 10))
    marks = [style.Mark(5 + 0.1 * k, 5 + 0.1 * (k % 2), f"method {k}", "k") for k in range(6)]
    time_and_accuracy.name_points(ax, marks)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])


def test_many_methods_are_grey_and_named_by_their_number() -> None:
    series = {(method, 0): [50.0, 60.0 + n] for n, method in enumerate(["cce", "sl", "d2l", "gce", "jof", "war_w2v"])}
    inputs = Inputs(runs=runs_table(series).assign(seconds=1.0), labels=LABELS)
    (axes,) = draw("learning_curves", inputs).axes
    colours = [line.get_color() for line in axes.lines]
    assert colours.count(style.GREY) == 4 and {style.looks([])[name][0] for name in ("cce", "war_w2v")} <= set(colours)
    shown = texts(axes.figure)
    assert "4 others" in shown and "CCE" in shown and "WAR$_{" in shown and not axes.figure.legends
    said = caption("learning_curves", inputs)
    assert "Grey: sl, d2l, gce, jof." in said and "have chosen" not in said
    kept = inputs.runs.assign(kept_epoch=inputs.runs["epoch"].where(inputs.runs["method"] == "sl"))
    assert " sl: the network that noisy labels have chosen" in caption("learning_curves", replace(inputs, runs=kept))


@pytest.mark.parametrize("name", ["learning_curves", "purity", "time_and_accuracy", "matrices", "flipped_samples"])
def test_only_the_panels_of_stand_ins_are_marked(name: str) -> None:
    real, fake = figure_inputs("real"), figure_inputs("stand-in")
    tiles = fake.runs[fake.runs["dataset"] == "fashion_mnist"].assign(dataset="other")
    noise = [*real.noise[:1], noisy_labels("stand-in", dataset="other")]
    prepared = fake.data["fashion_mnist"]
    data = {**real.data, "other": replace(prepared, about=replace(prepared.about, dataset="other"))}
    mixed = replace(real, runs=pd.concat([real.runs, tiles]), noise=noise, data=data)
    figure = draw(name, mixed)
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    marked = [title for title in titles if title.endswith("stand-in data")]
    assert len(marked) == 1 and marked[0].startswith("other") and len(titles) > 1
    assert figure.get_suptitle() == "" and "Stand-in data" in caption(name, mixed)


def test_titles_of_panels_in_a_row_do_not_cover_each_other() -> None:
    noises = ("openset_imagenet32-40", "openset_svhn-40", "pairflip-40")
    runs = pd.concat(
        [runs_table({("cce", 0): [50.0, 60.0]}).assign(noise=noise, net=f"cnn{k}") for k, noise in enumerate(noises)]
    )
    named = {**LABELS, "noise": dict.fromkeys(noises, "40 % of the images from another dataset (open set)")}
    figure = draw("learning_curves", Inputs(runs=runs, labels=named))
    figure.draw_without_rendering()
    boxes = [ax.title.get_window_extent() for ax in figure.axes]
    assert len(boxes) == 3 and all(left.x1 < right.x0 for left, right in pairwise(boxes))


HIGH_AND_LOW = [99.9, float("nan"), 57.35, 3.0, float("nan"), 80.0]


CURVES = ["learning_curves", "purity", "memorised"]


@pytest.mark.parametrize("name", [*CURVES, "beta_sensitivity", "time_and_accuracy", "agreement"])
def test_a_figure_draws_every_value_where_it_is(name: str) -> None:
    """Nothing is clamped, cut off or interrupted, whatever the values are."""
    series = {(m, s): HIGH_AND_LOW for m in ("cce", "coteaching", "war_w2v", "war_w2v+beta=5") for s in range(3)}
    runs = runs_table(series).assign(processor_seconds=1.0).astype({"epoch": "Int64"})
    same = dict.fromkeys(("purity", "memorised"), runs["test_accuracy"])
    runs = runs.assign(**same, processor_seconds=1.0 + 9 * (runs["method"] == "war_w2v"))
    if name not in CURVES:  # they show means, which need every epoch
        runs = runs[runs["test_accuracy"].notna()]
    inputs = Inputs(runs=runs, published=results.read_published(PUBLISHED), labels=LABELS)
    (axes,) = draw(name, inputs).axes
    drawn = {
        tuple(np.round(np.asarray(line.get_ydata(), float), 4)) for line in axes.lines if len(line.get_ydata()) != 2
    }
    tested = tuple(value for value in HIGH_AND_LOW if value == value)
    expected = {tested} if name in CURVES else {(round(float(np.mean(tested)), 4),)}
    assert expected <= drawn
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for line in axes.lines:
        x, y = (np.asarray(values, float) for values in (line.get_xdata(), line.get_ydata()))
        assert not np.isnan(y).any() and ((low <= y) & (y <= high)).all()
        assert line.get_transform() != axes.transData or ((left <= x) & (x <= right)).all()


def test_page_and_figure_draw_the_same_curves() -> None:
    inputs = figure_inputs()
    panels, axes = make_panels(inputs.runs, LABELS), draw("learning_curves", inputs).axes
    for panel, ax in zip(panels, axes, strict=True):
        assert [line.get_ydata().tolist() for line in ax.lines] == [line.mean for line in panel.lines]
    assert panels[0].lines[0].low[:2] == [50.0, 51.0] and panels[0].lines[0].high[:2] == [51.0, 52.0]


def test_times_are_the_processors_and_a_small_difference_is_small() -> None:
    """Another job made the wall time of AR twenty times as long; the accuracies differ by a tenth of a point."""
    values = {("cce", s): [84.16] for s in range(3)} | {("ar", s): [84.26 + 0.01 * s] for s in range(3)}
    runs = runs_table(values).assign(seconds=[1.0] * 3 + [20.0] * 3, processor_seconds=[2.0] * 3 + [5.2] * 3)
    inputs = Inputs(runs=runs, labels=LABELS, held_out=["fashion_mnist"])
    (axes,) = draw("time_and_accuracy", inputs).axes
    assert sorted(float(line.get_xdata()[0]) for line in axes.lines) == [1.0, 2.6] and np.ptp(axes.get_ylim()) >= 4
    bars = [segment for found in axes.collections for segment in found.get_segments()]
    assert sorted(round(float(np.ptp(bar[:, 1])), 3) for bar in bars if len(bar)) == [0, 0.05]
    said = caption("time_and_accuracy", inputs)
    assert "mean processor time" in said and "95 % intervals" in said
    clean, noisy = (caption("learning_curves", replace(inputs, held_out=h)) for h in ([], inputs.held_out))
    assert "clean test set" in clean and "clean" not in noisy and "right or wrong" in noisy and "right or wrong" in said
    without = replace(inputs, runs=runs.drop(columns="processor_seconds"))
    assert "mean time of" in caption("time_and_accuracy", without)
