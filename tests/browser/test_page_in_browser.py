"""The HTML report in a browser: alone, quiet, complete without scripts, and readable by all."""

from __future__ import annotations

import pytest

import sample_reports
from conftest import SAMPLES

KINDS = ("plain", "sure")


def unfold(page):
    for summary in page.locator("main summary").all():
        summary.click()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SAMPLES)
def test_it_asks_nothing_of_anybody_and_complains_of_nothing(visit, name, kind):
    seen = visit(name, kind)
    seen.page.mouse.wheel(0, 5_000)
    assert [url for url in seen.requests if not url.startswith("data:")] == [seen.url]
    assert seen.complaints == []
    assert seen.dialogs == []


@pytest.mark.parametrize("name", SAMPLES)
def test_without_scripts_every_table_is_complete_and_seen(visit, name):
    seen = visit(name, java_script_enabled=False)
    rows = seen.page.locator("#estimates tbody tr")
    assert rows.count() == len(getattr(sample_reports, name)().estimates)
    unfold(seen.page)
    assert seen.page.locator("main table:not(:visible):not(#tool *)").count() == 0
    assert seen.page.locator("main tbody tr:not(:visible)").count() == 0
    assert seen.page.locator("#tool:visible").count() == 0
    assert seen.page.locator("#choose").is_hidden()
    assert seen.page.locator(".filter").is_hidden()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_scrolls_sideways_on_a_phone(visit, name, kind):
    page = visit(name, kind, width=400).page
    unfold(page)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", SAMPLES)
def test_axe_finds_nothing_serious(visit, axe, name, scheme):
    page = visit(name, color_scheme=scheme).page
    unfold(page)
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    grave = [
        (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert grave == []


def test_hostile_names_are_text(visit):
    page = visit("hostile").page
    assert page.locator("script").count() == 1
    assert page.locator("[onmouseover], [onerror], img, iframe").count() == 0
    assert page.locator("bdi", has_text="<script>alert(1)</script>").count() > 0
    page.locator("bdi", has_text="onmouseover").first.hover()
    assert page.locator("a[href^='javascript'], a[href^='http']").count() == 0


def test_berkeley_turns_around_at_a_glance(visit):
    page = visit("berkeley").page
    chart = page.locator("table.strata").first

    def places(row):
        line = chart.locator("tbody tr").nth(row)
        women, men = line.locator(".g0").bounding_box(), line.locator(".g1").bounding_box()
        return [box["x"] + box["width"] / 2 for box in (women, men)]

    women, men = places(0)  # all rows: women stand to the left, lower
    assert women < men - 10
    women, men = places(1)  # department A: women stand to the right, higher
    assert women > men + 10


def test_a_mark_stands_where_its_number_says(visit):
    page = visit("several").page
    panel = page.locator("table.chart[data-metric='RD']").first
    middle = panel.locator("tbody tr").first.locator(".neutral").bounding_box()["x"]
    for row in panel.locator("tbody tr").all():
        value = float(row.locator(".num").inner_text().split()[0])
        box = row.locator("circle").bounding_box()
        side = box["x"] + box["width"] / 2 - middle
        assert side * value > 0 or abs(value) < 0.01


@pytest.mark.parametrize("width", [1280, 400])
def test_pairs_unfold_with_room_for_their_marks(visit, width):
    page = visit("several", width=width).page
    pairs = page.locator("details.every-pair")
    assert not pairs.locator("table").first.is_visible()
    assert "selection rate: 1 of 3 pairs" in pairs.locator("summary").inner_text()
    pairs.locator("summary").click()
    chart = pairs.locator("table", has_text="Selection rate")
    assert chart.locator("tbody tr").count() == 3
    first = chart.locator("tbody tr").first
    assert first.locator("th").inner_text().split() == ["Black", "against", "White"]
    plot, line = first.locator(".plot svg").bounding_box(), first.locator(".neutral").bounding_box()
    dot = first.locator("circle").bounding_box()
    assert plot["width"] > 90
    assert plot["x"] <= dot["x"] < line["x"]  # the lower rate stands first, left of no difference
    assert all(r.bounding_box()["width"] > 60 for r in chart.locator("td.num").all())


def test_a_pulled_rate_stands_between_its_value_and_the_others(visit):
    page = visit("several").page
    panel = page.locator("#groups table.chart[data-metric='accuracy']")
    row = panel.locator("tbody tr", has=page.locator("rect.pulled")).first
    assert "pulled:" in row.locator(".num").inner_text()
    pulled = row.locator("rect.pulled").bounding_box()
    places = [each.bounding_box() for each in panel.locator("circle").all()]
    middles = [box["x"] + box["width"] / 2 for box in places]
    assert min(middles) - 1 <= pulled["x"] + pulled["width"] / 2 <= max(middles) + 1


def test_tables_sort_by_number(visit):
    page = visit("several").page
    head = page.locator("#estimates thead th", has_text="value")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    column = page.locator("#estimates tbody td:nth-child(5)").all_inner_texts()
    numbers = [float(text.replace("∞", "inf")) for text in column if text != "-"]
    assert numbers == sorted(numbers)
    assert column[len(numbers) :] == ["-"] * (len(column) - len(numbers))
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    column = page.locator("#estimates tbody td:nth-child(5)").all_inner_texts()
    numbers = [float(text.replace("∞", "inf")) for text in column if text != "-"]
    assert numbers == sorted(numbers, reverse=True)
    assert column[: len(numbers)] != ["-"] * len(numbers)


def test_the_table_is_searched_as_one_types(visit):
    page = visit("several").page
    page.locator("#find").fill("rd black")
    rows = page.locator("#estimates tbody tr:visible")
    assert rows.count() >= 1
    assert all("Black" in text and "RD" in text for text in rows.all_inner_texts())
    assert f"{rows.count()} of" in page.locator("#found").inner_text()
    page.locator("#find").fill("")
    assert page.locator("#estimates tbody tr:not(:visible)").count() == 0


def test_a_feature_and_a_metric_can_be_chosen(visit):
    page = visit("crossed").page
    page.locator("#choose-feature").select_option("race")
    shown = {each.get_attribute("data-feature") for each in page.locator(".feature:visible").all()}
    assert shown == {"race"}
    page.locator("#choose-metric").select_option("DI")
    panels = page.locator("#disparities .panel:visible")
    assert [each.get_attribute("data-metric") for each in panels.all()] == ["DI"]
    page.locator("#choose-feature").select_option("")
    page.locator("#choose-metric").select_option("")
    folded = page.locator("details:not([open]) .panel").count()
    assert page.locator(".feature:not(:visible), .panel:not(:visible)").count() == folded


def test_a_metric_leads_to_its_meaning(visit):
    page = visit("small").page
    page.locator("#disparities a[href='#metric-RD']").first.click()
    meaning = page.locator("#metric-RD")
    assert meaning.is_visible()
    assert "Above 0: more false negatives" in meaning.inner_text()


def test_dark_is_dark_and_paper_is_white(visit):
    page = visit("small", color_scheme="dark").page
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 22, 26)"
    page.emulate_media(media="print", color_scheme="light")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden()
    assert page.locator("#choose").is_hidden()
    assert page.pdf().startswith(b"%PDF")


def test_the_notebook_fragment_is_seen_without_scripts(chromium, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(sample_reports.small()._repr_html_(), encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.get_by_text("Fairness audit of").is_visible()
    assert page.locator("tbody tr:visible").count() > 10
    context.close()
