"""The page of suspects in a real Chromium: decide by keys, undo, reload, export, compare the file."""

import csv
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.browser import CHROMIUM, Browser
from warlab.audit.decisions import Decision, read_decisions
from warlab.audit.review import Suspects, write_review

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; Debian's package is called chromium")

CLASSES = ("cat", "dog", "ship", "truck")
CLEAR = "localStorage.clear()"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as one:
        yield one


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    """Ten suspects: two labelled cat that look like dogs, then ships as trucks and dogs as cats in turn."""
    browser.window(1300, 850)
    return opened(browser, tmp_path, suspects(10))


def suspects(n: int, classes: tuple[str, ...] = CLASSES) -> Suspects:
    labels = np.array([0, 0, *(2 - np.arange(n) % 2)][:n])
    return Suspects(
        files=[f"{classes[label]}/{number}.png" for number, label in enumerate(labels)],
        labels=labels,
        suggested=np.array([1, 3, 0])[[0 if label == 0 else 1 if label == 2 else 2 for label in labels]],
        scores=np.linspace(1, 0.5, n),
        classes=classes,
        likely=np.arange(n) < 3,
    )


def picture(number: int) -> Image.Image:
    return Image.new("RGB", (40, 30), (number % 256, 90, 90))


def opened(browser: Browser, folder: Path, what: Suspects, title: str = "photos") -> Browser:
    write_review(
        folder / "review.html", what, picture, title, "Some labels.", "warlab audit photos --apply decisions.csv"
    )
    browser.events.clear()
    browser.open(folder / "review.html")
    browser.js(CLEAR)
    browser.reload()
    return browser


def exported(browser: Browser) -> Path:
    path = browser.downloads / "decisions.csv"
    path.unlink(missing_ok=True)
    browser.click("#export")
    return browser.downloaded("decisions.csv")


def test_decisions_by_keys_survive_a_reload_and_are_exported(page: Browser, tmp_path: Path) -> None:
    page.press("a", "k", "d", "u")  # rows 0 to 3
    page.press("z", "z", "d")  # row 2 again
    assert page.text("#count") == "3 of 10 reviewed" and page.text("#place") == "4 of 10"
    page.press("z", modifiers=2)
    assert page.text("#place") == "3 of 10"
    page.press("D", "End", "a", "ArrowLeft")
    page.press("a", modifiers=2)  # Ctrl+A is not a decision
    before = page.text("#count")
    page.reload()
    assert page.text("#count") == before == "4 of 10 reviewed"
    assert page.text("#place") == "4 of 10"  # the first that is not decided
    assert page.js("document.getElementById('undo').disabled")
    path = exported(page)
    assert read_decisions(path) == [
        Decision("cat/0.png", "cat", "relabel", "dog"),
        Decision("cat/1.png", "cat", "keep", ""),
        Decision("ship/2.png", "ship", "drop", ""),
        Decision("dog/9.png", "dog", "relabel", "cat"),
    ]
    first = path.read_bytes()
    (tmp_path / "decisions.csv").write_bytes(first)
    page.js(CLEAR)
    page.reload()
    assert page.text("#count") == "0 of 10 reviewed"
    page.upload("#file", tmp_path / "decisions.csv")
    page.wait("document.getElementById('count').textContent === '4 of 10 reviewed'")
    assert exported(page).read_bytes() == first and page.problems() == []
    page.press("z")  # one undo takes all that was read back
    assert page.text("#count") == "0 of 10 reviewed"


def test_a_file_that_does_not_fit_is_refused_in_a_sentence(page: Browser, tmp_path: Path) -> None:
    lines = [
        "file;label;suggested;decision;new_label",
        "cat/0.png;cat;dog;relabel;truck",  # as a spreadsheet writes it
        "cat/1.png;dog;dog;keep;",  # another label than here
        "cat/9.png;cat;dog;keep;",
        "ship/2.png;ship;truck;burn;",
        "ship/4.png;ship;truck;relabel;plane",
    ]
    (tmp_path / "some.csv").write_text("\n".join(lines))
    page.upload("#file", tmp_path / "some.csv")
    page.wait("!document.getElementById('banner').hidden")
    assert page.text("#banner").startswith("4 lines of the file could not be used")
    assert [(one.file, one.new_label) for one in read_decisions(exported(page))] == [("cat/0.png", "truck")]
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    page.upload("#file", tmp_path / "other.csv")
    page.wait("document.getElementById('banner').textContent.startsWith('This file is no decisions.csv')")
    assert page.text("#count") == "1 of 10 reviewed"


def test_another_class_is_found_by_typing(page: Browser) -> None:
    page.press("c", "t", "r")
    assert page.js("[...document.querySelectorAll('#classes li')].map(li => li.textContent)") == ["truck"]
    page.press("Enter")
    assert page.text("#place") == "2 of 10"
    page.press("c", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "Enter")  # dog, ship, truck without cat: ship
    page.press("c", "x", "Enter", "Escape")  # there is no such class
    assert page.text("#place") == "3 of 10" and not page.js("document.querySelector('dialog[open]')")
    page.press("c")
    page.click("#classes li")
    assert [one.new_label for one in read_decisions(exported(page))] == ["truck", "ship", "cat"]
    page.press("ArrowLeft")
    button = "document.querySelector('[data-decision=other]')"
    assert page.js(f"{button}.ariaPressed") == "true" and page.js(f"{button}.innerText").endswith("Another class: cat")


def choose(page: Browser, name: str, value: str) -> None:
    page.js(
        f"(() => {{ const it = document.getElementById('{name}'); it.value = '{value}';"
        " it.dispatchEvent(new Event('change')); })()"
    )


def test_filters_by_classes_by_state_and_by_the_mark(page: Browser) -> None:
    options = page.js("[...document.querySelectorAll('#pair option')].map(one => one.textContent)")
    assert options == ["all (10)", "ship → truck (4)", "dog → cat (4)", "cat → dog (2)"]
    choose(page, "pair", "1,0")
    assert page.text("#place") == "1 of 4" and page.text("#given") == "dog"
    choose(page, "state", "open")
    page.press("k", "k")  # what is decided leaves this list, the next takes its place
    assert page.text("#place") == "1 of 2" and page.text("#count") == "2 of 10 reviewed"
    page.press("z")
    assert page.text("#place") == "1 of 3" and page.text("#name") == "dog/5.png"
    choose(page, "state", "keep")
    assert page.text("#place") == "1 of 1" and page.text("#name") == "dog/3.png"
    choose(page, "state", "drop")
    assert page.text("#nothing") == "Nothing matches this filter."
    page.press("a", "ArrowRight", "g", "a", "g")  # no row, no harm
    choose(page, "state", "all")
    choose(page, "pair", "")
    page.click("#likely")
    assert page.text("#place").endswith("of 3") and page.problems() == []


def test_the_grid_of_5000_holds_few_elements_and_follows_the_keys(browser: Browser, tmp_path: Path) -> None:
    browser.window(1300, 850)
    page = opened(browser, tmp_path, suspects(5000))
    page.press("g")
    count = "document.querySelectorAll('.card').length"
    assert 20 < page.js(count) < 80
    columns = page.js("new Set([...document.querySelectorAll('.card')].map(c => c.getBoundingClientRect().x)).size")
    page.press("ArrowDown", "ArrowRight", "d")
    page.press("End")
    page.wait("document.querySelector('.card[aria-selected=true]')?.ariaPosInSet === '5000'")
    box = page.js(
        "(() => { const b = document.querySelector('.card[aria-selected=true]').getBoundingClientRect();"
        " return [b.top, b.bottom, innerHeight]; })()"
    )
    assert 0 < box[0] < box[1] <= box[2] and page.js(count) < 80
    page.press("Home", "ArrowDown", "ArrowRight")
    page.wait("document.querySelector('.card[aria-selected=true] .badge')?.textContent === 'dropped'")
    page.press("Enter")
    assert page.text("#place") == f"{columns + 2} of 5000"
    page.press("g")
    page.click(".card")
    assert page.text("#place") == "1 of 5000" and page.problems() == []
    took = """(() => { const start = performance.now(), key = { key: "k", bubbles: true };
      for (let i = 0; i < 100; i++) document.body.dispatchEvent(new KeyboardEvent("keydown", key));
      return (performance.now() - start) / 100; })()"""
    assert page.js(took) < 50  # milliseconds
    assert page.text("#count") == "100 of 5000 reviewed"


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "=HYPERLINK(1)",
    "'+1",
    '"quoted", and; more',
    "{{data}} & &lt;",
    "two\nlines",
    "caf\udce9",
    "\u202egnp.exe",
    "__proto__",
)


def test_hostile_names_are_texts_and_no_request_leaves_the_page(browser: Browser, tmp_path: Path) -> None:
    asked: list[str] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/stolen"
    names = (*HOSTILE, f'"><img src="{address}">', f"url({address})")
    n = len(names)
    rows = Suspects([f"{name}/1.png" for name in names], np.arange(n), (np.arange(n) + 1) % n, np.ones(n), names)
    page = opened(browser, tmp_path, rows, title=f"<b>{names[-2]}")
    shown = []
    for _ in names:
        shown.append(
            [page.js(f"document.getElementById('{name}').textContent") for name in ("given", "suggested", "name")]
        )
        page.press("a")
    page.press("g")
    printed = [name.replace("\udce9", "\\xe9") for name in names]
    assert shown == [
        [name, other, f"{name}/1.png"] for name, other in zip(printed, printed[1:] + printed[:1], strict=True)
    ]
    assert page.js("document.querySelectorAll('script').length") == 2
    assert page.js("document.querySelectorAll('img').length") == n + 1
    assert page.problems() == [] and page.js("document.title") == f"<b>{names[-2]}: review of labels"
    path = exported(page)
    assert [(one.file, one.new_label) for one in read_decisions(path)] == [(f"{a}/1.png", b) for a, b, _ in shown]
    with path.open(newline="", encoding="utf-8-sig") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    tries = f"""(async () => {{
      const blocked = [];
      addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
      try {{ await fetch({json.dumps(address)}); }} catch {{}}
      navigator.sendBeacon({json.dumps(address)});
      for (const kind of ["img", "script", "iframe", "link"]) {{
        const part = document.createElement(kind); part.src = {json.dumps(address)};
        if (kind === "link") {{ part.rel = "stylesheet"; part.href = {json.dumps(address)}; }}
        document.body.append(part);
      }}
      document.body.insertAdjacentHTML("beforeend", "<b onclick='window.bad = 1' style='color: red'>x</b>");
      document.body.lastElementChild.click();
      await new Promise((done) => setTimeout(done, 300));
      return [...new Set(blocked)].sort().join(" ") + " " + window.bad;
    }})()"""
    blocked = page.js(tries)
    server.shutdown()
    assert asked == []
    assert (
        blocked
        == "connect-src frame-src img-src script-src-attr script-src-elem style-src-attr style-src-elem undefined"
    )


def test_without_storage_the_page_says_so_and_still_exports(browser: Browser, tmp_path: Path) -> None:
    script = browser.call(
        "Page.addScriptToEvaluateOnNewDocument",
        source="Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } });",
    )
    try:
        write_review(tmp_path / "review.html", suspects(3), picture, "photos")
        browser.open(tmp_path / "review.html")
        assert page_says(browser).startswith("This browser does not store decisions")
        browser.press("k", "d")
        assert browser.text("#count") == "2 of 3 reviewed"
        assert [one.decision for one in read_decisions(exported(browser))] == ["keep", "drop"]
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def page_says(browser: Browser) -> str:
    return "" if browser.js("document.getElementById('banner').hidden") else browser.text("#banner")


def test_decisions_of_another_tab_appear_and_stored_nonsense_is_left_out(page: Browser) -> None:
    key = page.js("JSON.parse(document.getElementById('data').textContent).key")
    stored = '[[0, ["keep"]], [99, ["keep"]], [1, ["burn"]], [2, ["relabel", 9]], [3, ["relabel", 2]]]'
    page.js(
        f"localStorage.setItem('{key}', '{stored}'); dispatchEvent(new StorageEvent('storage', {{ key: '{key}' }}))"
    )
    assert page.text("#count") == "2 of 10 reviewed"
    page.js(f"localStorage.setItem('{key}', 'broken')")
    page.reload()
    assert page.text("#count") == "0 of 10 reviewed" and page_says(page)


LOOK = """(() => {
  const light = (colour) => {
    const linear = (v) => v <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.match(/[\\d.]+/g).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (part) => {
    for (; part; part = part.parentElement) {
      const colour = getComputedStyle(part).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return light(colour);
    }
  };
  const visible = [...document.querySelectorAll("body *")].filter((part) => part.checkVisibility()
    && part.id !== "toast" && !part.disabled
    && [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  const contrast = visible.map((part) => {
    const [a, b] = [light(getComputedStyle(part).color), ground(part)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
  const buttons = [...document.querySelectorAll(".actions button, #previous, #next, #undo, #menu, #tools button")]
    .filter((part) => part.checkVisibility()).map((part) => part.getBoundingClientRect());
  return {
    dark: ground(document.body) < 0.1,
    contrast: Math.min(...contrast),
    wide: document.documentElement.scrollWidth - innerWidth,
    low: Math.min(...buttons.map((box) => box.height)),
    below: Math.max(...buttons.map((box) => box.bottom)) - innerHeight,
  };
})()"""


@pytest.mark.parametrize(
    ("width", "height", "phone", "dark"),
    [(1300, 850, False, False), (1300, 850, False, True), (390, 760, True, False), (844, 390, True, True)],
)
def test_it_is_readable_in_every_window(browser: Browser, tmp_path: Path, width, height, phone, dark) -> None:
    browser.window(width, height, phone, dark)
    page = opened(browser, tmp_path, suspects(6))
    page.press("a", "k", "d", "u", "ArrowLeft")
    for keys in ("", "g"):
        page.press(*keys)
        seen = page.js(LOOK)
        assert seen["dark"] is dark and seen["contrast"] >= 4.5  # WCAG's AA
        assert seen["wide"] <= 0 and seen["low"] >= 24 and seen["below"] <= 0
    if phone:
        page.click(".card", touch=True)
        page.wait("document.getElementById('place').textContent === '1 of 6'")
        page.click("[data-decision=unsure]", touch=True)
        page.wait("document.getElementById('place').textContent === '2 of 6'")
        assert page.js("!document.getElementById('tools').checkVisibility()")
        page.click("#menu", touch=True)
        page.wait("document.getElementById('tools').checkVisibility()")
        assert page.js("document.documentElement.scrollWidth") <= width


def test_the_keyboard_alone_reaches_everything_with_a_visible_focus_and_a_name(page: Browser) -> None:
    page.press("k")
    seen = set()
    for _ in range(22):
        page.press("Tab")
        about = page.js(
            "(() => { const at = document.activeElement; return [at.id || at.dataset.decision || '', "
            "getComputedStyle(at).outlineStyle, parseFloat(getComputedStyle(at).outlineWidth), "
            "Boolean(at.ariaLabel || at.innerText || at.labels?.length)]; })()"
        )
        if about[0]:
            assert about[1] != "none" and about[2] >= 2 and about[3], about
            seen.add(about[0])
    assert seen >= {
        "pair",
        "state",
        "likely",
        "one-view",
        "grid-view",
        "import",
        "export",
        "help",
        "previous",
        "undo",
        "next",
        "accept",
        "keep",
        "other",
        "drop",
        "unsure",
    }
    page.press("?")
    assert page.js("document.getElementById('keys').open")
    page.press("Escape")
    page.js("document.getElementById('letters').click()")
    page.press("a")
    assert page.text("#count") == "1 of 10 reviewed"  # letters are switched off
    page.press("ArrowRight")
    assert page.text("#place") == "3 of 10"


def test_a_page_without_suspects(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, suspects(0))
    assert page.text("#nothing") == "No label looks wrong." and page.problems() == []
    page.press("a", "z", "g", "ArrowRight", "Home")
    assert page.problems() == []
