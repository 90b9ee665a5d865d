"""``python -m bench.explore_clicks``: main-thread work of a click in the page of explore.

Of a page with many groups and one with about 100,000 counts: its size, the time to its first paint,
and for each kind of click the CPU time of the main thread up to and with the next frame, times four
for a phone. CPU time does not depend on what else the machine does. ``--against CHECKOUT`` measures
the page of another checkout too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE = Path(__file__).resolve().parent.parent
_PHONE = 4
_ROUNDS = 9
_PARTS = ("TaskDuration", "ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
_METRICS = ("selection_rate", "true_positive_rate", "false_positive_rate", "precision", "f1",
            "accuracy", "balanced_accuracy", "base_rate")  # fmt: skip
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
    "groups by": "n => document.querySelectorAll('#by input:enabled')[n % 2].click()",
}
_TO_THE_FRAME = """(n) => new Promise((done) => {
  (CLICK)(n);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => done(null);
  requestAnimationFrame(() => port2.postMessage(0));
})"""
"""A click, and what follows up to and with the frame that answers it."""


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
    for name, sizes, n in (("25 groups", (25, 3), 12_000), ("100,000 counts", (25, 20), 240_000)):
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
            for name, (width, height) in _VIEWPORTS.items():
                context = browser.new_context(viewport={"width": width, "height": height})
                yield f"  {name}: {_of_page(context.new_page(), file)}"
                context.close()
        browser.close()


def _of_page(page: Any, file: Path) -> str:
    page.goto(file.as_uri())
    page.wait_for_selector("#grid td button")
    page.wait_for_timeout(800)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> dict[str, float]:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] * 1e3 * _PHONE for each in metrics}

    found = [f"first paint {paint:.0f} ms"]
    for name, click in {"nothing": "() => {}", **_CLICKS}.items():
        totals, parts = [], []
        for n in range(_ROUNDS):
            before = spent()
            page.evaluate(_TO_THE_FRAME.replace("CLICK", click), n)
            after = spent()
            of = [after[name] - before[name] for name in _PARTS]
            totals.append(of[0])
            parts.append(of[1:])
            page.wait_for_timeout(450)  # what follows a settled view
        rest = "/".join(f"{statistics.median(p):.0f}" for p in zip(*parts, strict=True))
        found.append(f"{name} {statistics.median(totals):.0f} (max {max(totals):.0f}; {rest})")
    return "; ".join(found) + " ms"


if __name__ == "__main__":
    if sys.argv[1:] and Path(sys.argv[1]).is_dir():
        _make_pages(Path(sys.argv[1]))
    else:
        main()
