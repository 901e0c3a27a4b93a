"""The report: headlines, the whole page, and what it rests on."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from tests.helpers.reports import (
    LABELS,
    ROOT,
    description,
    draw,
    figure_inputs,
    ground_cost,
    no_published,
    noisy_labels,
    published_table,
    tidy_table,
    verification,
)
from warlab.artefacts.run_config import MethodConfig, NetConfig, RunConfig
from warlab.artefacts.run_identity import RunIdentity
from warlab.artefacts.run_result import RunResult
from warlab.reporting import style
from warlab.reporting.claims import evidence, verdicts
from warlab.reporting.page import SECTIONS, report_page
from warlab.reporting.page.context import Context, FigureSection, TableSection
from warlab.reporting.page.curves import make_panels
from warlab.reporting.read import results
from warlab.reporting.tables import statistics_table


def headline(table: pd.DataFrame, data: str = "real", **more: Any) -> str:
    """Return the sentence of the one headline of a page with this table."""
    tables = [TableSection("ar_war_variants", "The variants", table)]
    text = report_page.render(Context("x", labels=LABELS, tables=tables, datasets=[description(data)], **more))
    (sentence,) = re.findall(r'<article class="headline">\s*<p>(.*?)</p>', text, re.DOTALL)
    return re.sub(r"<[^>]*>", "", sentence).replace("\xa0", " ").replace("&nbsp;", " ")


def test_a_headline_is_as_plain_when_the_baseline_wins() -> None:
    means = {"cce": 80.0, "war_w2v": 70.0, "ar": 85.0}
    sentence = headline(tidy_table({("fashion_mnist", "asym-40", method): mean for method, mean in means.items()}))
    assert "WARw2v ends at 70.0" in sentence and "a difference of −10.0 points. Highest: AR at 85.0" in sentence
    sentence = headline(published_table().assign(data="stand-in"), "stand-in")
    assert "stand-in data" in sentence and "The paper" not in sentence


# ---- the page


class Parsed(HTMLParser):
    """Fails on a tag that is not closed, and keeps every tag with its attributes."""

    VOID = frozenset({"meta", "link", "img", "br", "hr", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def run_result(data: str) -> RunResult:
    net, method = NetConfig("cnn9", {}), MethodConfig("cce", "cce", {})
    training: Any = {"epochs": 4}
    provenance: Any = {"seconds": 75.0, "peak_memory_mb": 512.4, "versions": {"torch": "2.13.0"}, "git": "abc</script>"}
    provenance |= {"host": "here", "processor": "x", "threads": 2}
    run = RunConfig("fashion_mnist", "asym-40", net, method, training, 0)
    identity = RunIdentity(run.to_dict(), {}, {}, {})
    return RunResult(identity, {}, data, {"last10_mean": 75.25}, provenance, "2026-01-01T00:00:00Z")


def statistics_of_two(runs: pd.DataFrame) -> pd.DataFrame:
    cells = [("fashion_mnist", "asym-40", "cnn9", method) for method in ("cce", "war_w2v")]
    return statistics_table.statistics(results.readings(runs), {"main_benchmark": {"cells": cells}}, no_published())


def page_context(tmp_path: Path, data: str = "real") -> Context:
    png = tmp_path / "curve.png"
    if not png.exists():
        style.save(draw("flipped_samples", figure_inputs()), png.with_suffix(""))
    table = published_table().assign(data=data)
    fidelity = yaml.safe_load((ROOT / "config" / "fidelity.yaml").read_text())
    return Context(
        scale="demo",
        description="a <b>test</b>",
        labels=LABELS,
        tables=[TableSection("ar_war_variants", "The variants", table, "methods_as_rows")],
        figures=[FigureSection("samples", 'Flipped "samples"', "Images & labels <img src=x>", png)],
        datasets=[description(data)],
        noise=[noisy_labels(data).manifest],
        costs=[(ground_cost().provenance, verification())],
        fidelity=fidelity,
        hyperparameters=[{"section": "methods", "of": "ar", "setting": "beta", "value": 5.0, "source": "paper"}],
        results=[run_result(data)],
        claims=[
            claim_row("A held", "held in this setting"),
            claim_row("B </script> failed", "did not hold"),
            claim_row("C undecided", "undecided, points for"),
        ],
        statistics=statistics_table.page_rows(statistics_of_two(figure_inputs(data).runs), LABELS),
        not_computed=statistics_table.page_notes(statistics_of_two(figure_inputs(data).runs), LABELS),
        readings=statistics_table.page_readings(results.all_readings(figure_inputs(data).runs, []), LABELS),
        reductions=[{"what": "Fashion-MNIST: epochs", "paper": "60", "here": "24 <b>"}],
        curves=make_panels(
            figure_inputs(data).runs, {**LABELS, "method": {**LABELS["method"], "cce": "CCE </script>"}}
        ),
        evidence=evidence.load_evidence(figure_inputs(data).runs, LABELS, {}, tested_on={"fashion_mnist": 2000}),
        logs={"fashion_mnist/asym-40/cnn9/cce/seed0": "epoch 4/4 <done>"},
    )


def claim_row(text: str, verdict: str) -> verdicts.Verdict:
    numbers = {"numbers": "WAR_w2v 80.00, CCE 70.00", "runs": "fashion_mnist/x", "tested": "1 of 2", "source": "paper"}
    decided = {"decided_by": "WAR_w2v − CCE", "difference": "10.0", "low": "7.5", "high": "12.5", "level": "0.95"}
    decided |= {"threshold": "above 0", "interval_from": "3 seeds, Student's t"}
    return verdicts.Verdict(id=text[0], claim=text, verdict=verdict, **numbers, **decided)


def test_page_is_whole_and_loads_nothing(tmp_path: Path) -> None:
    text = report_page.render(page_context(tmp_path))
    parsed = Parsed(text)
    svg = "http://www.w3.org/2000/svg"  # a name, not an address: how SVG elements are told from HTML
    assert "http:" not in text.replace(svg, "")
    assert "https:" not in text
    loads = [value for _, attrs in parsed.tags for key, value in attrs.items() if key in ("src", "href") and value]
    assert all(value.startswith(("data:", "#")) for value in loads)
    images = [attrs for tag, attrs in parsed.tags if tag == "img" and "src" in attrs]
    assert len(images) == 1
    assert images[0]["alt"] == 'Flipped "samples". Images & labels <img src=x>'
    identifiers = [attrs["id"] for _, attrs in parsed.tags if "id" in attrs]
    assert len(identifiers) == len(set(identifiers))
    targets = {value[1:] for value in loads if value.startswith("#")}
    assert targets <= set(identifiers)
    assert text.count("<script") == text.count("</script>") == 1


def test_page_shows_the_numbers_and_their_background(tmp_path: Path) -> None:
    text = re.sub(r"\s+", " ", report_page.render(page_context(tmp_path)).replace("\xa0", " "))
    for expected in (
        "WAR<sub>w2v</sub> ends at 80.5 %, CCE at 75.2 %",
        "<small>90.41 (−9.91)</small>",
        "embedded subset of Fashion-MNIST",
        "12.5 %",  # realised rate
        "1 of 1 required checks hold",
        "does not hold</b> <span class=\"quiet\">(for information)",
        "Asymmetric noise on Fashion-MNIST",
        "1 min 15 s",
        "2.13.0",
        "A &lt;b&gt;test&lt;/b&gt;",
        "prefers-color-scheme: dark",
        "<b>1 held</b>, <b>1 did not hold</b>, <b>1 undecided</b>",
        '<b class="good part">held in this setting</b><small>WAR<sub>w2v</sub> − CCE: +10.00 (95 %: +7.50 to +12.50)',
        "must be above 0; 3 seeds, Student&#39;s t</small>",
        '<b class="aside">undecided, points for</b>',
        "WAR<sub>w2v</sub> 80.00, CCE 70.00",
        "tests over seeds need 3 seeds",
        "<td>Fashion-MNIST: epochs</td>",
        "last ten epochs",
        "epoch 4/4 &lt;done&gt;",
    ):  # fmt: skip
        assert expected in text
    assert "Weight λ of JoCoR" not in text  # not part of this report
    assert "stand-in data" not in text.lower()
    assert ">None<" not in text
    assert ">nan<" not in text


def test_sections_stand_in_the_order_of_the_story(tmp_path: Path) -> None:
    context = page_context(tmp_path)
    figure = context.figures[0]
    more = [replace(figure, name=name, section=name) for name in ("maps", "adversarial")]
    text = report_page.render(replace(context, figures=[figure, *more]))
    found = re.findall(r'<section id="(\w+)"', text)
    assert found == [name for name in SECTIONS if name != "audit"]
    assert re.findall(r'<a href="#(\w+)">', text) == found  # the links above, too
    assert text.index('class="opening"') < text.index('id="results"') < text.index('id="curves"')
    assert text.index('id="figure-maps"') > text.index('<section id="maps"')


def test_settled_claims_come_first_and_tests_that_lack_something_are_named_once(tmp_path: Path) -> None:
    context = page_context(tmp_path)
    untested = claim_row("D untested", "not tested here")
    text = report_page.render(replace(context, claims=[*context.claims, untested]))
    folded = text.index("1 claims that these runs do not test")
    assert text.index("A held") < text.index("C undecided") < folded < text.index("D untested")
    assert context.not_computed and all(unescape(text).count(note) == 1 for note in context.not_computed)


def test_page_marks_stand_in_data(tmp_path: Path) -> None:
    text = report_page.render(page_context(tmp_path, "stand-in"))
    assert "<b>Stand-in data.</b>" in text
    assert "procedural stand-in for Fashion-MNIST" in text
    assert "80.50&nbsp;<span class=\"pm\">± 0.50</span>†" in text  # fmt: skip


def test_on_paper_a_table_that_is_too_broad_is_a_list(tmp_path: Path) -> None:
    """Twelve columns would be cut off at the edge of the sheet; the list of its numbers is printed instead."""
    for count, broad in ((12, True), (4, False)):
        means = {("fashion_mnist", "asym-40", f"method{k}"): 70.0 + k for k in range(count)}
        table = TableSection("main_benchmark", "All", tidy_table(means))
        text = report_page.render(Context(scale="x", labels=LABELS, tables=[table]))
        assert ("sortable broad" in text) is broad
        listing = text[: text.index("All numbers of this table")].rpartition("<details")[2]
        assert ("inner" not in listing) is broad


def test_page_of_almost_nothing() -> None:
    text = report_page.render(Context(scale="empty"))
    Parsed(text)
    assert 'id="figures"' not in text and "learns the wrong ones by heart" in text
    assert "What this run cannot show" not in text and 'class="first"' not in text


def test_fidelity_entries_are_complete() -> None:
    entries = yaml.safe_load((ROOT / "config" / "fidelity.yaml").read_text())
    for entry in entries:
        assert (
            {"topic", "paper", "code", "choice", "why"}
            <= set(entry)
            <= {"topic", "paper", "code", "choice", "why", "needs"}
        )
        assert all(isinstance(entry[key], str) and entry[key] for key in ("topic", "paper", "code", "choice", "why"))
    assert len({entry["topic"] for entry in entries}) == len(entries)
    assert [entry["topic"] for entry in report_page.select_relevant(entries, {"jocor"}) if entry.get("needs")] == [
        "Weight λ of JoCoR",
        "Forget rate of JoCoR",
        "Number of samples that Co-Teaching, Co-Teaching+ and JoCoR keep of a batch",
    ]
    of_noise = report_page.select_relevant(entries, {"cce", "pmd2-35"})
    assert [entry["topic"] for entry in of_noise if entry.get("needs")] == ["Polynomial-margin noise"]
