"""Make docs/report.png, the picture of the HTML report in the README, anew.

Run it after the look of the report has changed, look at the picture, and commit it::

    python docs/make_picture.py

It needs playwright and a Chromium on the path, as tests/browser does. The picture is the top of the
report of Berkeley's admissions, 1280 pixels wide.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from fairgauge.cli.demo_data import examples

PICTURE = Path(__file__).with_name("report.png")
WIDTH, MARGIN = 1280, 24
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
LARGEST = 200_000


def main() -> None:
    """Write the report, open it, and take its picture."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("chromium is not on the path; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "berkeley.html"
        examples(Path(folder))[0].report.save(page_file)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": WIDTH}, color_scheme="light")
        page.goto(page_file.as_uri())
        box = page.locator("#overview").bounding_box()
        height = box["y"] + box["height"] + MARGIN
        top = {"x": 0, "y": 0, "width": WIDTH, "height": height}
        page.screenshot(path=PICTURE, clip=top, full_page=True)
        browser.close()
    size = PICTURE.stat().st_size
    if size > LARGEST:
        sys.exit(f"{PICTURE.name} has {size:,} bytes, more than {LARGEST:,}; make it lower")


if __name__ == "__main__":
    main()
