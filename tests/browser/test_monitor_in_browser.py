"""The dashboard of a monitor in a browser: nothing is wider than the page."""

import datetime as dt

import pytest

import fairgauge as fg
from fairgauge.render import render

QUESTION = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}


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
def test_nothing_is_wider_than_the_page(chromium, dashboard, width, media):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.emulate_media(media=media)
    page.goto(dashboard.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
