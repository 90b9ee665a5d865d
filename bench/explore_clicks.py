"""``python -m bench.explore_clicks``: main-thread work of a click in the page of explore.

Of a page with many groups and one with about 100,000 counts, whose groups are then crossed too: its
size, the time to its first paint, and for each kind of click the CPU time of the main thread up to
and with the frame that answers it, times four for a phone; then that of all later frames together,
which draw the rest in pieces.

CPU time grows where other processes share a core and its caches. A computation of fixed length
runs before and after each click; times are scaled to the fastest of these, and how much slower
their median was is printed. ``--against CHECKOUT`` measures the page of another checkout too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE = Path(__file__).resolve().parent.parent
_PHONE = 4
_ROUNDS = 11
_SETTLED = 400
"""Milliseconds after which a view is settled."""
_PARTS = ("TaskDuration", "ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
_METRICS = ("selection_rate", "true_positive_rate", "false_positive_rate", "precision", "f1",
            "accuracy", "balanced_accuracy", "base_rate")  # fmt: skip
_LARGE = "100,000 counts"
_CROSSED = "() => document.querySelectorAll('#by input:enabled')[0].click()"
_VIEWPORTS = {"phone": (400, 850), "desktop": (1280, 900)}
_CLICKS = {
    "cell": "n => document.querySelectorAll('#grid tbody td.on button')[n % 8].click()",
    "show": "n => document.querySelectorAll('#show input')[n % 3].click()",
    "metric": """n => { const all = document.getElementById('metric'); all.selectedIndex = n % 5;
      all.dispatchEvent(new Event('change')); }""",
    "reference": """n => { const all = document.getElementById('reference');
      all.selectedIndex = n % 4; all.dispatchEvent(new Event('change')); }""",
    "threshold": """n => { const at = document.getElementById('threshold-number');
      at.value = String((30 + 3 * n) / 100); at.dispatchEvent(new Event('change')); }""",
    "filter": """n => { const of = document.querySelector('#filters select:enabled');
      of.selectedIndex = n % 3; of.dispatchEvent(new Event('change')); }""",
    "groups by": """n => { const all = document.querySelectorAll('#by input:enabled');
      all[n % all.length].click(); }""",
}
_TO_THE_FRAME = """(n) => new Promise((done) => {
  const next = window.requestAnimationFrame, held = [], { port1, port2 } = new MessageChannel();
  window.release = () => {
    window.requestAnimationFrame = next;
    held.forEach((then) => next(then));
  };
  port1.onmessage = () => done(null);
  next(() => {
    window.requestAnimationFrame = (then) => held.push(then);
    port2.postMessage(0);
  });
  (CLICK)(n);
})"""
"""A click, and what follows up to and with the frame that answers it; later frames are held."""
_FIXED = "() => { let s = 0; for (let i = 0; i < 2e6; i++) s = (s * 31 + i) % 1000003; return s; }"


def main() -> None:
    """Measure this checkout, beside another one if it is given, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.explore_clicks", description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout of the repository")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for checkout in (path for path in (options.against, _HERE) if path):
            print(f"# {checkout.name}")
            environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
            subprocess.run([sys.executable, __file__, folder], env=environment, check=True)
            for line in _measured(Path(folder)):
                print(line, flush=True)


def _make_pages(folder: Path) -> None:
    """Write both pages; `fairgauge` is that of the checkout."""
    import numpy as np

    import fairgauge as fg

    chance = np.random.default_rng(1)
    for name, sizes, n in (("25 groups", (25, 3), 12_000), (_LARGE, (25, 20), 240_000)):
        rows = {
            "a": chance.integers(0, sizes[0], n), "b": chance.integers(0, sizes[1], n),
            "s": chance.random(n), "y": chance.integers(0, 2, n),
        }  # fmt: skip
        page = fg.explore(
            rows, label="y", score="s", sensitive=["a", "b"], intersections=[["a", "b"]],
            metrics=list(_METRICS), exact=True,
        )  # fmt: skip
        page.save(folder / f"{name}.html")


def _measured(folder: Path) -> Iterator[str]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for file in sorted(folder.glob("*.html"), reverse=True):
            yield f"{file.stem}: {file.stat().st_size / 1e6:.2f} MB"
            views = ("", _CROSSED) if file.stem == _LARGE else ("",)
            for (name, (width, height)), first in product(_VIEWPORTS.items(), views):
                context = browser.new_context(viewport={"width": width, "height": height})
                page, crossed = context.new_page(), ", groups crossed" if first else ""
                yield from (f"  {name}{crossed}: {line}" for line in _of_page(page, file, first))
                context.close()
        browser.close()


def _of_page(page: Any, file: Path, first: str) -> Iterator[str]:
    page.goto(file.as_uri())
    page.wait_for_selector("#grid td button")
    page.evaluate(first)
    page.wait_for_timeout(3 * _SETTLED)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    yield f"first paint {paint:.0f} ms"
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> list[float]:
        metrics = session.send("Performance.getMetrics")["metrics"]
        of = {each["name"]: each["value"] * 1e3 * _PHONE for each in metrics}
        return [of[name] for name in _PARTS]

    def work(script: str, *given: object) -> list[float]:
        before = spent()
        page.evaluate(script, *given)
        return [now - then for now, then in zip(spent(), before, strict=True)]

    fixed = [work(_FIXED)[0] for _ in range(2 * _ROUNDS)]
    times: dict[str, list[list[float]]] = {}
    clicks = {"nothing": "() => {}", **_CLICKS}
    if not page.locator("#filters select:enabled").count():  # each column makes the groups
        del clicks["filter"]
    for name, click in clicks.items():
        for n in range(_ROUNDS):
            fixed.append(work(_FIXED)[0])
            parts = work(_TO_THE_FRAME.replace("CLICK", click), n)
            fixed.append(work(_FIXED)[0])
            before = spent()
            page.evaluate("window.release()")
            page.wait_for_timeout(_SETTLED)
            parts.append(spent()[0] - before[0])
            times.setdefault(name, []).append([2 * each / sum(fixed[-2:]) for each in parts])
    for name, found in times.items():
        columns = zip(*found, strict=True)
        total, *rest, later = ([min(fixed) * each for each in part] for part in columns)
        parts = "/".join(f"{statistics.median(part):.0f}" for part in rest)
        high = statistics.quantiles(total, n=20, method="inclusive")[-1]
        yield (
            f"{name}: median {statistics.median(total):.0f}, 95% below {high:.0f} ms "
            f"(script/style/layout {parts}); later {statistics.median(later):.0f} ms"
        )
    yield f"this machine was {statistics.median(fixed) / min(fixed):.1f} times slower than at best"


if __name__ == "__main__":
    if sys.argv[1:] and Path(sys.argv[1]).is_dir():
        _make_pages(Path(sys.argv[1]))
    else:
        main()
