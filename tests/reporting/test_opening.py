"""The first screen of the report: what it says of studies of every kind, and what it leaves unsaid."""

import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from tests.helpers.reports import LABELS, PUBLISHED, description, no_published, runs_table
from warlab.reporting.claims import evidence
from warlab.reporting.claims.verdicts import Verdict
from warlab.reporting.page import report_page
from warlab.reporting.page.context import Context, TableSection
from warlab.reporting.page.curves import Panel, choose_panel, make_panels
from warlab.reporting.read import results
from warlab.reporting.tables import results_table


def study(series: dict[tuple[str, int], list[float]], data: str = "real", published: bool = True, **more: Any) -> str:
    """The page of a study with these runs in one setting, as plain text of its first screen."""
    runs, clean = more.pop("runs", None), more.pop("clean_test", True)
    runs = runs_table(series, data) if runs is None else runs
    paper = results.read_published(PUBLISHED, "ar_war_variants") if published else no_published()
    cells = runs[["dataset", "noise", "net", "method"]].drop_duplicates().to_dict("records")
    table = results_table.tidy(results.summarise(runs), cells, paper)
    context = Context(
        scale="mine",
        labels=LABELS,
        tables=[TableSection("main_benchmark", "All", table)],
        curves=make_panels(runs, LABELS),
        evidence=evidence.load_evidence(runs, LABELS, {}, tested_on={"fashion_mnist": 2000}),
        datasets=[replace(description(data), clean_test=clean)],
        **more,
    )
    return report_page.render(context)


def svg(panel: Panel) -> str:
    return report_page.make_environment({}).get_template("chart.html").module.chart(panel, panel.bright, True)


def first_screen(text: str) -> str:
    """Without marks and with single spaces."""
    part = text[text.index('<div class="opening">') : text.index("</header>")]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", part)).replace("\xa0", " ").replace("&nbsp;", " ")


RISES, STAYS = [60.0, 80.0, 70.0], [60.0, 75.0, 79.0]


def test_the_story_with_the_numbers_and_how_sure_they_are() -> None:
    series = {("cce", 0): RISES, ("ar", 0): [60.0, 74.0, 75.0], ("war_w2v", 0): STAYS}
    text = study(series | {(method, 0): [50.0, 60.0, 65.0] for method in ("sl", "gce", "d2l")})
    said = first_screen(text)
    assert "learns the wrong ones by heart" in said and "Wasserstein adversarial regularisation" in said
    assert 'role="math"' in text and "stay the same nearby" in said
    estimate = "+1.3 points (95 %: −1.5 to +4.2; 2000 test samples, binomial)"
    assert "WARw2v ends at 71.3 %, CCE at 70.0 %" in said and estimate in said
    assert "The paper, at full scale: WARw2v 90.41 % and CCE 78.85 %." in said
    assert "CCE is highest after epoch 2 (80.0 %) and ends at 70.0 %" in said and "Grey: 3 other methods." in said
    trained = "6 trainings of 6 methods on Fashion-MNIST (asymmetric 40 %), 1 seed each; their times were not recorded."
    assert trained in said
    assert "1 training of each method: it is not known how much the result would change with another seed." in said


def test_three_seeds_have_an_interval_over_seeds_and_no_such_limit() -> None:
    series = {("cce", s): [60.0, 70.0 + s] for s in range(3)} | {("war_w2v", s): [60.0, 75.0 + s] for s in range(3)}
    said = first_screen(study(series))
    assert "+2.5 points (95 %: +2.5 to +2.5; 3 seeds, Student's t)" in said.replace("&#39;", "'")
    assert "with another seed" not in said and "3 seeds each" in said


def test_an_interval_of_other_seeds_is_not_printed_beside_a_difference() -> None:
    """A table may show one seed of cells of which another has three."""
    runs = runs_table({(m, s): [v + s * s] for m, v in {"cce": 70.0, "war_w2v": 75.0}.items() for s in range(3)})
    more = runs.assign(test_accuracy=runs["test_accuracy"] + 2.0 * (runs["method"] == "cce"))
    cells = runs[["dataset", "noise", "net", "method"]].drop_duplicates().to_dict("records")
    table = results_table.tidy(results.summarise(runs), cells, no_published())
    for measured, printed in ((runs, True), (more, False)):
        numbers = evidence.load_evidence(measured, LABELS, {})
        context = Context("mine", labels=LABELS, tables=[TableSection("all", "All", table)], evidence=numbers)
        assert ("3 seeds, Student&#39;s t" in report_page.render(context)) is printed


def test_a_study_without_war_has_no_word_on_it_and_no_equation() -> None:
    own = [{"what": "Photographs: epochs", "paper": "60", "here": "20"}]  # a default, not the paper's number
    claims = [Verdict(claim="Proposition 2", verdict="held")]
    text = study({("cce", 0): RISES, ("ar", 0): STAYS}, published=False, reductions=own, claims=claims)
    said = first_screen(text)
    assert 'role="math"' not in text and "Wasserstein" not in said
    assert "WAR" not in said and "AR ends at 71.3 %, CCE at 70.0 %" in said
    assert 'id="claims"' not in text and 'id="settings"' not in text
    assert "paper" not in said, "nothing was published of these runs"
    assert ">Results<" in text and "the paper's numbers" not in text


def test_labels_as_noisy_as_the_others_are_not_called_clean() -> None:
    for clean in (True, False):
        text = study({("cce", 0): RISES, ("ar", 0): STAYS}, published=False, clean_test=clean)
        said = first_screen(text)
        assert ("accuracy on clean test samples (%)" in said) is clean and ("labels as given (%)" in said) is not clean
        assert ("Test labels as noisy as the training labels." in text) is not clean


def test_own_runs_show_their_spread_between_seeds() -> None:
    series = {("cce", s): [60.0 + s, 70.0 + s] for s in range(3)} | {("ar", s): [70.0, 75.0] for s in range(3)}
    own, paper = study(series, published=False), study(series)
    assert "± 1.00" in own and "between the means of the runs" in own and "paper" not in own[own.index("<main") :]
    assert "± 5.00" in paper and "as most likely in the paper" in paper


def test_a_study_without_cce() -> None:
    said = first_screen(study({("war_embed", 0): STAYS, ("sl", 0): RISES}))
    assert "Plain cross entropy was not run" in said
    assert "war_embed is highest after epoch 3 (79.0 %)" in said and "sl is highest" in said


def test_one_method_alone_has_its_number_with_an_interval() -> None:
    cell = runs_table({("cce", 0): RISES})[list(results.CELL)].iloc[0]
    said = first_screen(study({("cce", 0): RISES}, epochs={tuple(cell): 1}))
    interval = "(95 %: 68.0 to 72.0; 2000 test samples, binomial)"
    assert f"CCE ends at 70.0 % (in the last epoch) {interval}." in said
    assert "1 training of 1 method on Fashion-MNIST" in said


def test_stand_ins_say_nothing_about_methods() -> None:
    said = first_screen(study({("cce", 0): RISES, ("war_w2v", 0): STAYS}, "stand-in"))
    assert "the numbers say nothing about the methods" in said and "a difference of" not in said
    assert "Fashion-MNIST: stand-in data in place of the real data" in said


def test_clean_labels_show_nothing_of_wrong_ones() -> None:
    runs = runs_table({("cce", 0): RISES, ("war_w2v", 0): STAYS}).assign(noise="clean")
    assert "All labels are clean here" in first_screen(study({}, runs=runs))


def test_what_was_reduced_is_named_and_what_was_not_tested_is_counted() -> None:
    rows = [("seeds of “All”", "3", "1"), ("Fashion-MNIST: train images", "60000", "10000")]
    rows += [("Fashion-MNIST: epochs", "60", "24"), ("Fashion-MNIST: lr", "1", "2")]
    reduced = [dict(zip(("what", "paper", "here"), row, strict=True)) for row in rows]
    claims = [Verdict(verdict="not tested here"), Verdict(verdict="held")]
    said = first_screen(study({("cce", 0): RISES}, reductions=reduced, claims=claims))
    train, epochs = "Fashion-MNIST train images 10000 (paper: 60000)", "Fashion-MNIST epochs 24 (paper: 60)"
    assert f"Reduced: {train}, {epochs}; 2 more values below." in said
    assert "1 of the 2 claims need data or trainings that are missing here." in said


def test_the_picture_is_of_the_noisiest_real_setting_that_has_both() -> None:
    cells = {
        "clean": ("cce", "war_w2v", "ar"),
        "asym-20": ("cce", "war_w2v"),
        "asym-40": ("cce", "war_w2v"),
        "sym-60": ("cce",),
    }
    parts = [runs_table({(m, 0): RISES for m in methods}).assign(noise=noise) for noise, methods in cells.items()]
    fake = runs_table({("cce", 0): RISES, ("war_w2v", 0): RISES}, "stand-in").assign(dataset="cifar10", noise="asym-45")
    panel = choose_panel(make_panels(pd.concat([*parts, fake]), LABELS))
    assert panel is not None and panel.setting[:3] == ("fashion_mnist", "asym-40", "cnn9")


@pytest.mark.parametrize(
    ("methods", "bright"),
    [
        (["sl", "cce", "war_01", "ar", "war_w2v", "d2l"], ["cce", "ar", "war_w2v"]),
        (["sl", "cce", "gce", "d2l", "jof", "war_random"], ["cce", "war_random"]),
        (["cce", "war_random", "sl"], ["cce", "war_random", "sl"]),
    ],
)
def test_of_many_methods_cce_ar_and_war_are_in_colour(methods: list[str], bright: list[str]) -> None:
    series = {(method, 0): [60.0, 70.0 + number] for number, method in enumerate(methods)}
    (panel,) = make_panels(runs_table(series), LABELS)
    assert {line.method for line in panel.bright} == set(bright)
    drawn = svg(panel)
    strokes = re.findall(r'polyline [^>]*stroke="([^"]*)"', drawn)
    assert len(strokes) == len(methods) and strokes.count("var(--grey)") == len(methods) - len(bright)
    assert drawn.count('class="end"') == len(bright) + (len(methods) > len(bright))


def test_every_value_is_drawn_where_it_is() -> None:
    """Also the lowest one: on the axis, 57.35 is not 60. Epochs that were not tested are left out."""
    values = [float("nan"), 70.0, float("nan"), 57.35, 72.0, 80.0]
    series = {("war_w2v", 0): values, ("war_w2v", 1): [70.0, 80.0, 70.0, 59.35, 74.0, 99.0], ("sl", 0): values}
    (panel,) = make_panels(runs_table(series), LABELS)
    assert (panel.lines[0].epochs, panel.lines[0].mean) == ([1, 2, 3, 4, 5, 6], [70.0, 75.0, 70.0, 58.35, 73.0, 89.5])
    drawn = svg(panel)
    left, top, width, height = map(float, re.findall(r'viewBox="([^"]*)"', drawn)[0].split())
    outlines = [
        [tuple(map(float, point.split(","))) for point in found.split()]
        for found in re.findall(r'points="([^"]*)"', drawn)
    ]
    assert [(2.0, -70.0), (4.0, -57.35), (5.0, -72.0), (6.0, -80.0)] in outlines and (4.0, -59.35) in outlines[0]
    for x, y in (point for outline in outlines for point in outline):
        assert left <= x <= left + width and top <= y <= top + height
    ticks = {int(value): float(at) for at, value in re.findall(r'value-tick" style="top:([\d.]+)%">(\d+)', drawn)}
    assert (
        all(at == pytest.approx(100 * (-value - top) / height, abs=0.01) for value, at in ticks.items())
        and len(ticks) > 2
    )
    assert re.findall(r'epoch-tick" style="left:([\d.]+)%">(\d)', drawn)[-1] == ("100.0", "6")


def test_a_name_cannot_end_the_picture() -> None:
    (panel,) = make_panels(runs_table({("cce", 0): RISES}), {"method": {"cce": "<script>"}})
    assert "<script>" not in svg(panel)
