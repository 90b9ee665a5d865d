"""Make the pictures of HTML reports in the README and the documentation anew.

Run it after the look of the report has changed, look at the pictures, and commit them::

    python docs/make_picture.py

It needs playwright and a Chromium on the path, as tests/browser does. A picture is the top of a
page, 1280 pixels wide: report.png of the report of the loans, two-models.png of the
comparison of two models on Adult.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

import fairgauge as fg
from fairgauge.cli._demo_data import examples

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DOCS = Path(__file__).parent
WIDTH, MARGIN = 1280, 24
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
LARGEST = 300_000


def main() -> None:
    """Write both pages, open them, and take their pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("chromium is not on the path; on Debian: apt-get install chromium")
    compared = fg.compare_models(
        DOCS / "adult-models.csv",
        label="high_income",
        prediction="logistic",
        candidate="boosted",
        sensitive=["sex", "race"],
        count="n",
        margins={"accuracy": 0.01, "disparity": 0.05},
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report, models = Path(folder) / "report.html", Path(folder) / "models.html"
        examples(Path(folder))[-1].report.save(report)
        compared.save(models)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        take(browser, report, "#summary section >> nth=1", DOCS / "report.png")
        take(browser, models, "#summary section >> nth=1", DOCS / "two-models.png")
        browser.close()


def take(browser: Browser, page_file: Path, last: str, picture: Path) -> None:
    """Take the picture of a page down to the end of an element."""
    page = browser.new_page(viewport={"width": WIDTH, "height": WIDTH}, color_scheme="light")
    page.goto(page_file.as_uri())
    box = page.locator(last).bounding_box()
    height = box["y"] + box["height"] + MARGIN
    top = {"x": 0, "y": 0, "width": WIDTH, "height": height}
    page.screenshot(path=picture, clip=top, full_page=True)
    size = picture.stat().st_size
    if size > LARGEST:
        sys.exit(f"{picture.name} has {size:,} bytes, more than {LARGEST:,}; make it lower")


if __name__ == "__main__":
    main()
