"""A headless Chromium, and pages of reports in it. Skipped where there is none, but not in CI."""

import shutil
from pathlib import Path

import pytest
from tests.needs import missing

import sample_reports
from fairgauge.render import render

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SAMPLES = ("small", "several", "berkeley", "crossed", "hostile", "scored")


@pytest.fixture(scope="session")
def chromium():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright", "pip install playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    path = ROOT / "node_modules" / "axe-core" / "axe.min.js"
    if not path.exists():
        missing("axe-core", "npm install --no-save axe-core")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return the files of the sample reports, with intervals and without."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name in SAMPLES:
        report = getattr(sample_reports, name)()
        for kind, shown in (("plain", report), ("sure", sample_reports.sure(report))):
            path = folder / f"{name}-{kind}.html"
            path.write_text(render(shown, "html"), encoding="utf-8")
            found[name, kind] = path
    return found


def violations(page, axe, scheme):
    """Return what axe finds; in dark by its rules of colours: nothing else of a page differs."""
    options = {"resultTypes": ["violations"]}
    if scheme == "dark":
        options["runOnly"] = ["color-contrast", "link-in-text-block"]
    page.evaluate(axe)
    return page.evaluate("options => axe.run(document, options)", options)["violations"]


class Visit:
    """A page that was opened, and what the browser had to say of it."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.requests, self.complaints, self.dialogs = [], [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.url = path.as_uri()
        self.page.goto(self.url)

    def _dismiss(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()


@pytest.fixture
def visit(chromium, pages):
    opened = []

    def open_page(name, kind="sure", *, width=1280, **options):
        options = {"viewport": {"width": width, "height": 900}, **options}
        opened.append(Visit(chromium, pages[name, kind], **options))
        return opened[-1]

    yield open_page
    for each in opened:
        each.context.close()
