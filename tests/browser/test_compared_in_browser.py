"""The page of a comparison in a browser: alone, quiet, narrow enough, and readable by all."""

from __future__ import annotations

import pytest

import compared_reports
import fairgauge as fg
from conftest import Visit, violations

SAMPLES = ("months", "models", "hostile")


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    found = {}
    for name in SAMPLES:
        found[name] = folder / f"{name}.html"
        fg.compare(*getattr(compared_reports, name)()).save(found[name])
    return found


@pytest.fixture
def visit(chromium, compared):
    opened = []

    def open_page(name, *, width=1280, **options):
        viewport = {"width": width, "height": 900}
        opened.append(Visit(chromium, compared[name], viewport=viewport, **options))
        return opened[-1]

    yield open_page
    for each in opened:
        each.context.close()


@pytest.mark.parametrize("name", SAMPLES)
def test_it_asks_nothing_of_anybody_and_complains_of_nothing(visit, name):
    seen = visit(name, width=400)
    seen.page.mouse.wheel(0, 5_000)
    assert [url for url in seen.requests if not url.startswith("data:")] == [seen.url]
    assert seen.complaints == []
    assert seen.dialogs == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", SAMPLES)
def test_axe_finds_nothing_serious(visit, axe, name, scheme):
    page = visit(name, color_scheme=scheme).page
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    grave = [
        (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in violations(page, axe, scheme)
        if each["impact"] in ("serious", "critical")
    ]
    assert grave == []


def test_hostile_names_are_text(visit):
    page = visit("hostile").page
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, [onmouseover], [onerror]").count() == 0
    assert page.locator("bdi", has_text="<script>alert(1)</script>").count() > 0
