"""The dashboard of a monitor in a browser: nothing overlaps or is wider than the page."""

from __future__ import annotations

import datetime as dt

import pytest

import fairgauge as fg
from fairgauge.render import render

QUESTION = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
OVERLAPS = """() => {
  document.querySelectorAll('details').forEach((each) => { each.open = true; });
  const crossed = [];
  for (const svg of document.querySelectorAll('.time-names, .time-axis')) {
    const boxes = Array.from(svg.querySelectorAll('text'))
      .map((each) => each.getBoundingClientRect()).filter((box) => box.width);
    boxes.forEach((one, i) => boxes.slice(i + 1).forEach((other) => {
      if (one.left < other.right && other.left < one.right
          && one.top < other.bottom && other.top < one.bottom) crossed.push(svg.textContent);
    }));
  }
  return crossed;
}"""


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory):
    first = dt.date(2026, 9, 1)
    days = {
        str(first + dt.timedelta(days=i)): fg.confusion("sex", {
            "F": {"tp": 40 - i % 5 - (15 if i >= 40 else 0), "fn": 60}, "M": {"tp": 80, "fn": 120},
        })
        for i in range(60)
    }  # fmt: skip
    rules = [{"metric": "selection_rate.difference", "between": [-0.05, 0.05]}]
    report = fg.monitor(days, QUESTION | {"monitor": {"rules": rules}})
    assert report.alarms
    path = tmp_path_factory.mktemp("monitor") / "dashboard.html"
    path.write_text(render(report, "html"), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "media"), [(1280, "screen"), (400, "screen"), (718, "print")])
def test_names_on_the_axes_stay_apart(chromium, dashboard, width, media):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.emulate_media(media=media)
    page.goto(dashboard.as_uri())
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    line, area = (
        page.evaluate("of => document.querySelector(of).getBoundingClientRect().toJSON()", of)
        for of in (".running-line", ".time-area")
    )
    assert area["top"] <= line["top"] <= line["bottom"] <= area["bottom"]
    assert area["left"] < line["left"] < line["right"] <= area["right"]
    page.close()
