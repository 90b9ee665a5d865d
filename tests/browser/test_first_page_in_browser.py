"""The first page in a browser: on one sheet of paper, on a phone, and nothing over anything."""

import pytest
from tests import every_result

SHEET = {"width": 695, "height": 1054}
"""A4 without its margins, in CSS pixels."""
OVERLAPS = """() => {
  const texts = [...document.querySelectorAll(
    "header p, h1, #summary h2, #summary h3, #summary p, #summary li, #summary td, #summary th")]
    .filter(each => each.offsetParent && each.textContent.trim() && !each.querySelector("p, li"))
    .filter(each => getComputedStyle(each).display !== "inline");  // as words of one paragraph
  const boxes = texts.map(each => [each, each.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([other, b]) =>
    !one.contains(other) && !other.contains(one) && a.width && b.width &&
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5
  ).map(([other]) => one.textContent.slice(0, 30) + " | " + other.textContent.slice(0, 30)));
}"""
CUT = """() => [...document.querySelectorAll("#summary td, #summary th")]
  .filter(each => each.offsetParent && !each.querySelector(".unseen"))
  .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"""


@pytest.mark.parametrize("name", ["small", "several", "berkeley", "crossed"])
def test_the_first_page_is_one_sheet_of_paper(visit, name):
    page = visit(name, width=SHEET["width"]).page
    page.emulate_media(media="print")
    page.set_viewport_size(SHEET)
    end = page.evaluate("document.querySelector('#summary').getBoundingClientRect().bottom")
    assert end <= SHEET["height"]
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(CUT) == []


def test_a_first_page_with_a_chart_of_many_groups_is_printed_on_one_page(chromium, tmp_path):
    """Questions are not moved to the next page along with what stands below them."""
    path = tmp_path / "report.html"
    every_result.result("without rules").save(path)
    page = chromium.new_page()
    page.goto(path.as_uri())
    only = "document.querySelector('main').replaceChildren(document.querySelector('#summary'))"
    page.evaluate(f"{only}; document.querySelectorAll('nav, footer').forEach((e) => e.remove())")
    assert page.locator("#summary .chart tbody tr").count() > 10
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1
    page.close()


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("name", ["small", "several", "berkeley", "crossed"])
def test_nothing_is_printed_over_anything(visit, name, width):
    page = visit(name, width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERLAPS) == []


def test_the_headline_is_the_heading_and_the_questions_are_below_it(visit):
    page = visit("several").page
    assert page.locator("h1").count() == 1
    headings = page.locator("#summary h2").all_text_contents()
    assert headings == [
        "What was looked at", "Who is worse off, and by how much", "How certain this is",
        "What it does not show", "What next",
    ]  # fmt: skip
    first = page.locator("#summary").bounding_box()
    assert first["y"] < page.locator("#record").bounding_box()["y"]


def test_dots_state_their_sentence_to_screen_readers(visit):
    page = visit("several").page
    names = page.locator("#summary .array svg[role=img]").evaluate_all(
        "all => all.map(each => each.getAttribute('aria-label'))"
    )
    assert names
    assert all(name.startswith("Of 100 ") for name in names)
