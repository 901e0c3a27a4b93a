"""The report in a real Chromium: no error, no request, sorting, filtering, curves and figures work.

The page is given a script that uses it as a reader would and writes down what it saw; `--dump-dom` hands that back.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.test_page import page_context
from warlab.reporting import page

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
  const claims = document.querySelector("#verdicts table");
  const heading = claims.querySelectorAll("thead button")[0];
  heading.click(); seen.up = column(claims, 0).map((text) => text[0]);
  heading.click(); seen.down = column(claims, 0).map((text) => text[0]);
  seen.sorted = heading.parentElement.getAttribute("aria-sort");
  const box = document.querySelector("#verdicts .filter input");
  box.value = "did not"; box.dispatchEvent(new Event("input"));
  seen.filtered = column(claims, 0).map((text) => text[0]);
  seen.count = document.querySelector("#verdicts .filter span").textContent;
  const numbers = document.querySelector("#results table.results");
  const mean = numbers.querySelectorAll("thead th[data-kind=number] button")[0];
  mean.click(); seen.best = numbers.tBodies[0].rows[0].cells[0].textContent.trim();
  seen.lines = document.querySelectorAll("#curve-plot polyline").length;
  const plot = document.getElementById("curve-plot");
  plot.focus();
  plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
  seen.values = document.getElementById("curve-values").textContent;
  document.querySelector("#curve-legend button").click();
  seen.fewer = document.querySelectorAll("#curve-plot polyline").length;
  const images = [...document.querySelectorAll("figure img")];
  seen.images = images.map((image) => [image.complete && image.naturalWidth > 0, image.alt.length > 10]);
  document.querySelector("button.zoom").click();
  seen.enlarged = document.getElementById("enlarged").open;
  document.getElementById("enlarged").close();
  seen.wide = document.documentElement.scrollWidth - innerWidth;
  const controls = [...document.querySelectorAll("button, a[href], input, select, [tabindex]")];
  seen.focusable = controls.every((part) => part.tabIndex >= 0);
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
    text = page.render(page_context(folder))
    used = text.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{USE}</body>", 1)
    (folder / "report.html").write_text(used)
    return folder / "report.html"


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "light"), (1200, "dark")])
def test_the_report_works_in_a_browser(report: Path, width: int, scheme: str) -> None:
    """Wide, as on a phone, and in dark mode."""
    profile = f"--user-data-dir={report.parent / f'profile-{width}-{scheme}'}"
    window = [f"--window-size={width},900", f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"]
    done = chromium(profile, *window, "--virtual-time-budget=4000", "--dump-dom", report.as_uri())
    found = re.search(r'<pre id="outcome">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-1500:]
    seen = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert seen["problems"] == [] and seen["requests"] == []
    assert (seen["up"], seen["down"], seen["sorted"]) == (["A", "B", "C"], ["C", "B", "A"], "descending")
    assert seen["filtered"] == ["B"] and seen["count"] == "1 of 3 rows"
    assert seen["best"] == "WARw2v"  # the highest mean first
    assert seen["lines"] == 2 and seen["fewer"] == 1 and seen["values"].startswith("Epoch 1: ")
    assert seen["images"] == [[True, True]] and seen["enlarged"] and seen["focusable"]
    assert seen["wide"] <= 0  # the page itself never scrolls sideways
    assert seen["dark"] is (scheme == "dark") and seen["contrast"] >= 4.5  # WCAG's AA
