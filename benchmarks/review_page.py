"""How long the page of suspects takes to open, and a key to be answered, in a headless Chromium.

    python benchmarks/review_page.py --suspects 5000

The photographs are small painted patterns. Times are those of the browser: medians and 95th percentiles of 60 keys, to
the end of the handler, with no decision made and with nearly all of them made. Run it from the root of the repository.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from warlab.audit.review import Suspects, write_review

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.helpers.browser import Browser

PRESS = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', bubbles: true}))"
TIMED = f"""(async () => {{ const times = []; for (let n = 0; n < 60; n++) {{
  const start = performance.now(); {PRESS}; times.push(performance.now() - start);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); }}
  times.sort((a, b) => a - b); return [times[30], times[57]]; }})()"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suspects", type=int, default=5000)
    count = parser.parse_args().suspects
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder)) as browser:
        page = Path(folder) / "review.html"
        write_page(page, count)
        print(f"{count} suspects, {page.stat().st_size / 1e6:.1f} MB")
        browser.open(page)
        ready = browser.js("performance.getEntriesByType('navigation')[0].domInteractive")
        print(f"can be used after {ready / 1000:.2f} s")
        print("a key takes {:.1f} ms (95th percentile {:.1f})".format(*browser.js(TIMED)))
        browser.js(f"for (let n = 0; n < {max(0, count - 200)}; n++) {PRESS}")
        print("nearly all decided: {:.1f} ms ({:.1f})".format(*browser.js(TIMED)))


def write_page(page: Path, count: int) -> None:
    generator = np.random.default_rng(0)
    coarse = generator.integers(0, 255, (count, 8, 8, 3), dtype=np.uint8)
    labels = generator.integers(0, 10, count)
    classes = [f"class {k}" for k in range(10)]
    files = [f"{classes[label]}/IMG_{number:05d}.jpg" for number, label in enumerate(labels)]
    suspects = Suspects(files, labels, (labels + 1) % 10, np.linspace(0.99, 0.3, count), classes)
    write_review(page, suspects, lambda k: coarse[k].repeat(32, axis=0).repeat(32, axis=1), "photographs")


if __name__ == "__main__":
    main()
