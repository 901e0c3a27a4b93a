"""The report in a real Chromium: no error, no request, sorting, filtering, curves and figures work.

The page is given a script that uses it as a reader would and writes down what it saw; `--dump-dom` hands that back.
"""

import csv
import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.helpers.browser import Browser
from tests.reporting.test_page import page_context
from warlab.reporting.page import report_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; Debian's package is called chromium")

WATCH = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message || event.target.src)), true);
addEventListener("securitypolicyviolation", (event) => problems.push("blocked " + event.blockedURI));
const complain = console.error; console.error = (...words) => { problems.push(words.join(" ")); complain(...words); };
</script>"""

USE = """<script>
addEventListener("load", () => {
  const seen = {};
  const shown = (table) => [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const column = (table, n) => shown(table).map((row) => row.cells[n].textContent.trim());
  const claims = document.querySelector("#claims table");
  const heading = claims.querySelectorAll("thead button")[0];
  heading.click(); seen.up = column(claims, 0).map((text) => text[0]);
  heading.click(); seen.down = column(claims, 0).map((text) => text[0]);
  seen.sorted = heading.parentElement.getAttribute("aria-sort");
  const box = document.querySelector("#claims .filter input");
  box.value = "did not"; box.dispatchEvent(new Event("input"));
  seen.filtered = column(claims, 0).map((text) => text[0]);
  seen.count = document.querySelector("#claims .filter span").textContent;
  const copied = [];
  Object.defineProperty(navigator, "clipboard", { value: {
    writeText: (text) => { copied.push(text); return Promise.resolve(); },
  } });
  document.querySelector('#claims .copy[data-form="csv"]').click();
  box.value = ""; box.dispatchEvent(new Event("input"));
  const numbers = document.querySelector("#results table.results");
  const mean = numbers.querySelectorAll("thead th[data-kind=number] button")[0];
  mean.click(); seen.best = numbers.tBodies[0].rows[0].cells[0].textContent.trim();
  document.querySelector('#results .copy[data-form="latex"]').click();
  document.querySelector('#results .copy[data-form="csv"]').click();
  seen.copied = copied;
  document.getElementById("curves").open = true;
  const shownOf = (name) => [...document.querySelectorAll(`#curves .panel:not([hidden]) ${name}`)];
  const drawn = () => shownOf("g[data-name]").filter((group) => getComputedStyle(group).display !== "none");
  seen.lines = drawn().length;
  const plot = document.querySelector("#curves .plot");
  plot.focus();
  plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
  seen.values = document.querySelector("#curves .values").textContent;
  document.querySelector("#curves .legend button").click();
  seen.fewer = drawn().length;
  document.getElementById("curves").open = false;
  const images = [...document.querySelectorAll("figure img")];
  seen.images = images.map((image) => [image.complete && image.naturalWidth > 0, image.alt.length > 10]);
  document.querySelector("button.zoom").click();
  seen.enlarged = document.getElementById("enlarged").open;
  document.getElementById("enlarged").close();
  const bottom = (name) => document.querySelector(name)?.getBoundingClientRect().bottom ?? null;
  seen.first = [".opening h1", ".equation", ".numbers", ".first .chart", ".limits"].map(bottom);
  seen.height = document.documentElement.scrollHeight;
  seen.wide = document.documentElement.scrollWidth - innerWidth;
  const controls = [...document.querySelectorAll("button, a[href], input, select, [tabindex]")];
  seen.focusable = controls.every((part) => part.tabIndex >= 0);
  const visible = (part) => part.checkVisibility({ contentVisibilityAuto: true });
  const tables = [...document.querySelectorAll("table")];
  const hidden = () => tables.filter((table) => !visible(table));
  const before = hidden().length;
  const open = () => document.querySelectorAll("details[open]").length;
  const opened = open();
  dispatchEvent(new Event("beforeprint"));
  const kept = hidden().filter((table) => !table.closest(".broad"));
  seen.printed = kept.every((table) => table.closest("details.inner").querySelector("summary").dataset.file);
  seen.unfolded = open() > opened;
  dispatchEvent(new Event("afterprint"));
  seen.refolded = hidden().length === before && open() === opened;
  const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
  seen.requests = loaded.filter((name) => !name.startsWith("data:"));
  seen.problems = window.problems;
  const light = (colour) => {
    const linear = (v) => v <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.match(/[\\d.]+/g).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const texts = ["body", "a[href]", ".quiet", "b.good", "b.bad", "b.aside"].map((name) => document.querySelector(name));
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  seen.dark = ground < 0.1;
  const colours = texts.filter(Boolean).map((part) => getComputedStyle(part).color);
  seen.contrast = Math.min(...colours.map((colour) => contrast(light(colour), ground)));
  const note = document.createElement("pre"); note.id = "outcome"; note.textContent = JSON.stringify(seen);
  document.body.append(note);
});
</script>"""


def chromium(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    text = report_page.render(page_context(folder))
    used = text.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{USE}</body>", 1)
    (folder / "report.html").write_text(used)
    return folder / "report.html"


def outcome(address: str, profile: Path, width: int, scheme: str = "light") -> dict[str, Any]:
    """What the page saw when it was used in a window of this width."""
    window = [f"--window-size={width},900", f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"]
    done = chromium(f"--user-data-dir={profile}", *window, "--virtual-time-budget=4000", "--dump-dom", address)
    found = re.search(r'<pre id="outcome">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-1500:]
    return json.loads(html.unescape(found[1]))


@pytest.mark.parametrize(("width", "scheme"), [(1300, "light"), (800, "dark")])
def test_the_report_works_in_a_browser(report: Path, width: int, scheme: str) -> None:
    seen = outcome(report.as_uri(), report.parent / f"profile-{width}-{scheme}", width, scheme)
    assert seen["problems"] == [] and seen["requests"] == []
    assert (seen["up"], seen["down"], seen["sorted"]) == (["A", "B", "C"], ["C", "B", "A"], "descending")
    assert seen["filtered"] == ["B"] and seen["count"] == "1 of 3 rows"
    assert seen["best"] == "WARw2v"  # the highest mean first
    assert seen["lines"] == 2 and seen["fewer"] == 1 and seen["values"].startswith("Epoch 1: ")
    assert seen["images"] == [[True, True]] and seen["enlarged"] and seen["focusable"]
    assert seen["wide"] <= 0  # the page itself never scrolls sideways
    assert seen["dark"] is (scheme == "dark") and seen["contrast"] >= 4.5  # WCAG's AA
    assert seen["printed"] and seen["unfolded"] and seen["refolded"]
    if width == 1300:
        assert None not in seen["first"] and max(seen["first"]) <= 900, "the opening can be seen without scrolling"
        assert seen["height"] < 5 * 900, "what is long is folded"
        if shutil.which("pdflatex"):
            assert_compiles(seen["copied"][1], report.parent)
    assert_copied_as_shown(*seen["copied"])


def assert_copied_as_shown(claims: str, latex: str, csv_text: str) -> None:
    """Tables are sorted and filtered, as CSV with the full numbers and as LaTeX with the printed ones."""
    rows = list(csv.reader(claims.splitlines()))
    assert rows[0] == ["Claim", "Here", "Settings tested", "By the paper's tables"] and len(rows) == 2
    assert rows[1][0].startswith("B </script> failed") and rows[1][1].startswith("did not hold")
    assert csv_text.splitlines()[1] == "WARw2v,80.5" and csv_text.splitlines()[-1] == "tv,"
    best = "\\textbf{80.50~$\\pm$ 0.50 {\\scriptsize 90.41 ($-$9.91)}} \\\\"
    assert "\\begin{tabular}{lr}" in latex and best in latex
    assert latex.index("WAR\\textsubscript{w2v} &") < latex.index("CCE &")


def assert_compiles(table: str, folder: Path) -> None:
    preamble = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (folder / "table.tex").write_text(preamble + table + "\\end{document}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-1500:]


def test_on_a_phone_nothing_sticks_out(report: Path) -> None:
    """Chromium's own windows are at least 500 pixels wide, a frame is not."""
    inner = report.with_name("phone.html")
    tell = (
        "addEventListener('load', () => parent.postMessage([document.documentElement.scrollWidth, innerWidth], '*'));"
    )
    page = report_page.render(page_context(report.parent))
    inner.write_text(page.replace("</body>", f"<script>{tell}</script></body>"))
    listen = """<script>addEventListener("message", (event) => {
      const note = document.createElement("pre"); note.id = "outcome"; note.textContent = JSON.stringify(event.data);
      document.body.append(note); });</script>"""
    frame = f'<iframe src="{inner.as_uri()}" style="border:0;width:400px;height:900px"></iframe>'
    outer = report.with_name("frame.html")
    outer.write_text(f"<body>{listen}{frame}</body>")
    width, window = outcome(outer.as_uri(), report.parent / "profile-phone", 600)
    assert window == 400 and width <= 400


def test_long_tables_of_the_documentation_can_be_sorted(tmp_path: Path) -> None:
    """By numbers with a minus sign, a space or an interval, with the keyboard; rows without a number stay last."""
    gains = ["+2.1 (+1.0 to +3.2)", "−10.5 (−12.0 to −9.0)", "–", *(f"{n} 500" for n in range(10, 15)), "900"]
    rows = "".join(f"<tr><td>row {n}</td><td>{gain}</td></tr>" for n, gain in enumerate(gains))
    table = f"<table><thead><tr><th>name</th><th><b>gain</b></th></tr></thead><tbody>{rows}</tbody></table>"
    script = (ROOT / "docs" / "assets" / "sort-tables.js").read_text()
    page = tmp_path / "page.html"
    page.write_text(f'<body class="md-typeset">{table}<script>{script}</script></body>')
    first = "[...document.querySelectorAll('tbody tr')].map((row) => row.cells[0].textContent.split(' ')[1]).join('')"
    with Browser(tmp_path) as browser:
        browser.open(page)
        browser.press("Tab", "Tab", "Enter")
        assert browser.js(first) == "108345672"
        browser.press("Enter")
        assert browser.js(first) == "765438012"
        assert browser.js("document.querySelectorAll('th')[1].getAttribute('aria-sort')") == "descending"
        browser.press("Enter")
        assert browser.js(first) == "108345672"
