"""The first screen of the report: what it says of studies of every kind, and what it leaves unsaid."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.helpers.reports import LABELS, PUBLISHED, description, no_published, published_table, runs_table
from warlab.reporting.claims import evidence
from warlab.reporting.claims.verdicts import Verdict
from warlab.reporting.page import opening, report_page
from warlab.reporting.page.context import Context, TableSection
from warlab.reporting.page.curves import Line, curves, picture, pictured, prominent
from warlab.reporting.read import results
from warlab.reporting.tables import results_table

CELL = ("fashion_mnist", "asym-40", "cnn9")


def study(series: dict[tuple[str, int], list[float]], data: str = "real", published: bool = True, **more: Any) -> str:
    """The page of a study with these runs in one setting, as plain text of its first screen."""
    runs = more.pop("runs", None)
    runs = runs_table(series, data) if runs is None else runs
    paper = results.read_published(PUBLISHED, "ar_war_variants") if published else no_published()
    cells = runs[["dataset", "noise", "net", "method"]].drop_duplicates().to_dict("records")
    table = results_table.tidy(results.summarise(runs), cells, paper)
    context = Context(
        scale="mine",
        labels=LABELS,
        tables=[TableSection("main_benchmark", "All", table)],
        curves=curves(runs, LABELS),
        evidence=evidence.of_runs(runs, [], LABELS, {}, tested_on={"fashion_mnist": 2000}),
        datasets=[description(data)],
        **more,
    )
    return report_page.render(context)


def svg(lines: list[Line], bright: list[Line]) -> str:
    template = report_page.environment({}).get_template("picture.html")
    return template.render(picture=picture(lines, bright))


def first_screen(text: str) -> str:
    """Without marks and with single spaces."""
    part = text[text.index('<div class="opening">') : text.index("</header>")]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", part)).replace("\xa0", " ")


RISES, STAYS = [60.0, 80.0, 70.0], [60.0, 75.0, 79.0]


def test_the_story_with_the_numbers_and_how_sure_they_are() -> None:
    text = study(
        {("cce", 0): RISES, ("ar", 0): [60.0, 74.0, 75.0], ("war_w2v", 0): STAYS, ("sl", 0): [50.0, 60.0, 65.0]}
    )
    said = first_screen(text)
    assert "learns the wrong ones by heart" in said and "Wasserstein adversarial regularisation" in said
    assert "<math" in text and "stay the same nearby" in said
    estimate = "+1.3 points (95 %: −1.5 to +4.2; 2000 test images, binomial)"
    assert "WARw2v ends at 71.3 %, CCE at 70.0 %" in said and estimate in said
    assert "The paper, at full scale: WARw2v 90.41 % and CCE 78.85 %." in said
    assert "CCE is highest after epoch 2 (80.0 %) and ends at 70.0 %" in said and "Grey: one other method." in said
    assert (
        "4 trainings of four methods on Fashion-MNIST (asymmetric 40 %), one seed each; their times were not kept."
        in said
    )
    assert "One training of each method: it is not known how much the result would change with another seed." in said


def test_three_seeds_have_an_interval_over_seeds_and_no_such_limit() -> None:
    series = {("cce", s): [60.0, 70.0 + s] for s in range(3)} | {("war_w2v", s): [60.0, 75.0 + s] for s in range(3)}
    said = first_screen(study(series))
    assert "+2.5 points (95 %: +2.5 to +2.5; 3 seeds, Student's t)" in said.replace("&#39;", "'")
    assert "with another seed" not in said and "three seeds each" in said


def test_an_interval_of_other_seeds_is_not_printed_beside_a_difference() -> None:
    """A table may show one seed of cells of which another has three."""
    runs = runs_table({(m, s): [v + s * s] for m, v in {"cce": 70.0, "war_w2v": 75.0}.items() for s in range(3)})
    more = runs.assign(test_accuracy=runs["test_accuracy"] + 2.0 * (runs["method"] == "cce"))
    cells = runs[["dataset", "noise", "net", "method"]].drop_duplicates().to_dict("records")
    table = results_table.tidy(results.summarise(runs), cells, no_published())
    for measured, printed in ((runs, True), (more, False)):
        (found,) = opening.headlines(table, LABELS, {}, {}, evidence.of_runs(measured, [], LABELS, {}))
        assert ("3 seeds, Student's t" in found.sentence) is printed


def test_a_study_without_war_has_no_word_on_it_and_no_equation() -> None:
    own = [{"what": "Photographs: epochs", "paper": "60", "here": "20"}]  # a default, not the paper's number
    text = study({("cce", 0): RISES, ("ar", 0): STAYS}, published=False, reductions=own)
    said = first_screen(text)
    assert "<math" not in text and "Wasserstein" not in said
    assert "No variant of WAR was run." in said and "AR ends at 71.3 %, CCE at 70.0 %" in said
    assert "paper" not in said, "nothing was published of these runs"
    assert ">Results<" in text and "the paper's numbers" not in text


def test_a_study_without_cce() -> None:
    said = first_screen(study({("war_embed", 0): STAYS, ("sl", 0): RISES}))
    assert "Plain cross entropy was not run" in said
    assert "war_embed is highest after epoch 3 (79.0 %)" in said and "sl is highest" in said


def test_one_method_alone_has_its_number_with_an_interval() -> None:
    said = first_screen(study({("cce", 0): RISES}))
    assert "CCE ends at 70.0 % (95 %: 68.0 to 72.0; 2000 test images, binomial)." in said
    assert "1 training of one method on Fashion-MNIST" in said


def test_stand_ins_say_nothing_about_methods() -> None:
    said = first_screen(study({("cce", 0): RISES, ("war_w2v", 0): STAYS}, "stand-in"))
    assert "the numbers say nothing about the methods" in said and "a difference of" not in said
    assert "Fashion-MNIST: stand-in data in place of the real ones" in said


def test_clean_labels_show_nothing_of_wrong_ones() -> None:
    runs = runs_table({("cce", 0): RISES, ("war_w2v", 0): STAYS}).assign(noise="clean")
    assert "All labels are clean here" in first_screen(study({}, runs=runs))


def test_what_was_reduced_is_named_and_what_was_not_tested_is_counted(tmp_path: Path) -> None:
    rows = [("seeds of “All”", "3", "1"), ("Fashion-MNIST: train images", "60000", "10000")]
    rows += [("Fashion-MNIST: epochs", "60", "24"), ("Fashion-MNIST: lr", "1", "2")]
    reduced = [dict(zip(("what", "paper", "here"), row, strict=True)) for row in rows]
    claims = [Verdict(verdict="not tested here"), Verdict(verdict="held")]
    context = Context(
        scale="mine",
        labels=LABELS,
        tables=[TableSection("main_benchmark", "All", published_table())],
        curves=curves(runs_table({("cce", 0): RISES}), LABELS),
        reductions=reduced,
        claims=claims,
    )
    made = opening.opening(context, [], 5.0)
    assert made.run[1] == "Reduced: train images 10000 (paper: 60000), epochs 24 (paper: 60); two more values below."
    assert made.run[0].endswith("; 5.0 s of training.")
    assert "1 of the 2 claims need data or trainings that are missing here." in made.limits


def test_nothing_to_show_is_shown() -> None:
    text = report_page.render(Context(scale="empty"))
    assert "learns the wrong ones by heart" in text
    assert "What this run cannot show" not in text and 'class="first"' not in text


def test_the_picture_is_of_the_noisiest_real_setting_that_has_both() -> None:
    cells = {
        "clean": ("cce", "war_w2v", "ar"),
        "asym-20": ("cce", "war_w2v"),
        "asym-40": ("cce", "war_w2v"),
        "sym-60": ("cce",),
    }
    parts = [runs_table({(m, 0): RISES for m in methods}).assign(noise=noise) for noise, methods in cells.items()]
    fake = runs_table({("cce", 0): RISES, ("war_w2v", 0): RISES}, "stand-in").assign(dataset="cifar10", noise="asym-45")
    panel = pictured(curves(pd.concat([*parts, fake]), LABELS))
    assert panel is not None and panel.setting[:3] == ("fashion_mnist", "asym-40", "cnn9")


@pytest.mark.parametrize(
    ("methods", "bright"),
    [
        (["sl", "cce", "war_01", "ar", "war_w2v"], ["cce", "ar", "war_w2v"]),
        (["cce", "war_random"], ["cce", "war_random"]),
        (["d2l", "sl", "gce"], ["d2l", "gce"]),  # the first, and the best at the end
        (["sl"], ["sl"]),
    ],
)
def test_cce_ar_and_war_are_drawn_over_the_others_in_grey(methods: list[str], bright: list[str]) -> None:
    series = {(method, 0): [60.0, 70.0 + number] for number, method in enumerate(methods)}
    (panel,) = curves(runs_table(series), LABELS)
    above = prominent(panel.lines)
    assert [line.method for line in above] == bright
    drawn = svg(panel.lines, above)
    strokes = re.findall(r'polyline [^>]* stroke="([^"]*)"', drawn)
    assert len(strokes) == len(methods) and strokes.count("var(--grey)") == len(methods) - len(bright)
    assert drawn.count('class="end"') == len(bright) + (len(methods) > len(bright))


def test_a_name_cannot_end_the_picture() -> None:
    (panel,) = curves(runs_table({("cce", 0): RISES}), {"method": {"cce": "<script>"}})
    assert "<script>" not in svg(panel.lines, panel.lines)
