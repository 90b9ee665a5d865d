"""The HTML report in a browser: alone, quiet, complete without scripts, and readable by all."""

import pytest
from tests.needs import EVERY_CASE

import sample_reports
from conftest import SAMPLES

KINDS = ("plain", "sure")
EACH = pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for i, name in enumerate(SAMPLES)
        for kind in (KINDS if EVERY_CASE else [KINDS[i % 2]])
    ],
)
"""Every sample, in make test with intervals or without."""


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


@EACH
def test_it_asks_nothing_complains_of_nothing_and_fits_a_phone(visit, name, kind):
    seen = visit(name, kind)
    seen.page.mouse.wheel(0, 5_000)
    assert [url for url in seen.requests if not url.startswith("data:")] == [seen.url]
    assert seen.complaints == []
    assert seen.dialogs == []
    seen.page.set_viewport_size({"width": 400, "height": 900})
    unfold(seen.page)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("name", SAMPLES)
def test_without_scripts_every_table_is_complete_and_seen(visit, name):
    seen = visit(name, java_script_enabled=False)
    rows = seen.page.locator("#estimates tbody tr")
    assert rows.count() == len(getattr(sample_reports, name)().estimates)
    for summary in seen.page.locator("main summary").all():
        summary.click()
    assert seen.page.locator("main table:not(:visible):not(#tool *)").count() == 0
    assert seen.page.locator("main tbody tr:not(:visible)").count() == 0
    assert seen.page.locator("#tool:visible").count() == 0


def test_hostile_names_are_text(visit):
    page = visit("hostile").page
    assert page.locator("script").count() == 0
    assert page.locator("[onmouseover], [onerror], img, iframe").count() == 0
    assert page.locator("bdi", has_text="<script>alert(1)</script>").count() > 0
    page.locator("bdi:visible", has_text="onmouseover").first.hover()
    assert page.locator("a[href^='javascript'], a[href^='http']").count() == 0


def test_names_of_groups_are_never_cut(visit):
    page = visit("crossed", width=400).page
    cut = page.evaluate(
        "[...document.querySelectorAll('.data th, .judged th')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1).length"
    )
    assert cut == 0
    assert "…" not in page.locator("#details").inner_text()


def test_dark_is_dark_and_paper_is_white(visit):
    page = visit("small", color_scheme="dark").page
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 22, 26)"
    page.emulate_media(media="print", color_scheme="light")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden()
    assert page.locator(".signoff").is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_the_notebook_fragment_is_seen_without_scripts(chromium, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(sample_reports.small()._repr_html_(), encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    report = page.frame_locator("iframe")
    assert report.get_by_text("Fairness audit").first.is_visible()
    assert report.locator("tbody tr:visible").count() >= 3
    context.close()
