"""The charts of a decomposition in a browser: bars meet, and nothing is wider than the page."""

from __future__ import annotations

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.render import render

PARTS = """() => Array.from(document.querySelectorAll('.step')).map((each) => {
  const box = each.getBoundingClientRect();
  return [box.left, box.right, each.closest('tr').textContent.trim()];
})"""


@pytest.fixture(scope="module")
def decomposition(tmp_path_factory):
    cells = [("F", "A", 160, 800), ("F", "B", 120, 200), ("M", "A", 60, 200), ("M", "B", 560, 800)]
    rows = pl.DataFrame(
        [(g, s, y, n) for g, s, x, every in cells for y, n in ((1, x), (0, every - x))],
        schema=["sex", "dept", "admitted", "n"],
        orient="row",
    )
    found = fg.why(
        rows, label="admitted", sensitive="sex", strata="dept", count="n", reference={"sex": "M"}
    )
    path = tmp_path_factory.mktemp("why") / "why.html"
    path.write_text(render(found, "html"), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "media"), [(1280, "screen"), (400, "screen"), (718, "print")])
def test_parts_of_the_gap_follow_each_other(chromium, decomposition, width, media):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.emulate_media(media=media)
    page.goto(decomposition.as_uri())
    bars = page.evaluate(PARTS)
    composition, within, gap = bars[:3]  # of the first page; the section has them again
    assert [text for *_, text in bars[3:6]] == [text for *_, text in bars[:3]]
    assert len(bars) == 3 + 3 + 1  # below the parts of the section the regression
    # both parts are to the disadvantage of women: from 0 to the left, and further
    assert composition[0] == pytest.approx(within[1], abs=1)
    assert within[0] == pytest.approx(gap[0], abs=1)
    assert composition[1] == pytest.approx(gap[1], abs=1)
    assert composition[1] - composition[0] > 10
    assert all("pp" in text for *_, text in (composition, within, gap))  # the number beside the bar
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    first = ["The gap and its parts", "Difference in each dept"]
    captions = page.locator("table.chart caption").all_inner_texts()
    assert captions == [*first, *first]
    page.close()
