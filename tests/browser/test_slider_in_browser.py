"""The threshold slider says what an audit at that threshold says, to the last digit."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
import sample_reports
from conftest import Visit
from fairgauge.render import render

AGAINST = {"others": "all others"}
GRID = [k / 20 for k in range(21)]
METRICS = ["clarify", "vertex", "selection_rate", "f1", "error_type_ratio", "false_positive_rate"]
CASES = {
    "others": {},
    "overall": {"reference": "overall"},
    "largest": {"reference": "largest"},
    "best": {"reference": "best"},
    "named": {"reference": {"g": "South"}},
    "one value set": {"sensitive": {"g": ["North"]}},
    "weights": {"weight": "w"},
    "scores of the other class": {"score_of": 0},
    "exact scores": {"method": "exact"},
    "predictions beside scores": {"prediction": "p"},
}
READ = """() => {
  const table = (id) => Object.fromEntries(Array.from(document.querySelectorAll(`#${id} tbody tr`))
    .map((row) => [row.dataset.name || row.querySelector('th').firstChild.textContent,
      Array.from(row.querySelectorAll('data')).map((each) => each.value)]));
  const heads = (id) => Array.from(document.querySelectorAll(`#${id} thead bdi`))
    .map((each) => each.textContent);
  const against = Object.fromEntries(Array.from(document.querySelectorAll('#tool-metrics tbody tr'))
    .map((row) => [row.dataset.name, row.querySelector('.against').textContent]));
  return {rates: table('tool-rates'), metrics: table('tool-metrics'), against,
    groups: heads('tool-rates'), compared: heads('tool-metrics')};
}"""
SLIDE = """(k) => document.querySelectorAll('#tool-sliders input[type=range]').forEach((each) => {
  each.value = k; each.dispatchEvent(new Event('input')); })"""


@pytest.fixture
def opened(chromium, tmp_path):
    visits = []

    def open_report(report, **options):
        path = tmp_path / f"{len(visits)}.html"
        path.write_text(render(report, "html"), encoding="utf-8")
        visits.append(Visit(chromium, path, **options))
        return visits[-1].page

    yield open_report
    for each in visits:
        assert each.complaints == []
        each.context.close()


def audited(**options):
    rows = sample_reports.scores()
    beside = "prediction" in options
    if beside:
        rows = rows.with_columns(p=pl.col("s").fill_null(0).ge(0.31).cast(pl.Int64))
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": "g"} | options
    return fg.audit(rows, **({"metrics": METRICS} | options))


def number(text):
    return {"": None, "Infinity": math.inf, "-Infinity": -math.inf}.get(text) if text in (
        "", "Infinity", "-Infinity") else float(text)  # fmt: skip


def same(shown, expected):
    shown = number(shown)
    if shown is None or expected is None:
        return shown is expected
    return shown == expected or abs(shown - expected) <= 1e-12 * max(1, abs(expected))


def check(found, report, threshold):
    """Compare everything that the slider shows with a report at the same threshold."""
    groups = [g for g in report.groups if g.threshold == threshold]
    assert found["groups"] == [g.group for g in groups]
    titles = {name.replace("_", " "): name for name in groups[0].rates} | {"F1": "f1"}
    assert len([title for title in found["rates"] if title in titles]) >= 10
    compared = 0
    for i, group in enumerate(groups):
        cells = group.weighted_counts or group.counts
        for name in ("TP", "FP", "FN", "TN"):
            assert same(found["rates"][name][i], cells[name.lower()]), (group.group, name)
        for title, values in found["rates"].items():
            if title in titles:
                expected = group.rates[titles[title]].value
                assert same(values[i], expected), (group.group, title, values[i], expected)
    for metric, values in found["metrics"].items():
        for i, name in enumerate(found["compared"]):
            every = [
                e for e in report.estimates
                if (e.metric, e.group, e.threshold) == (metric, name, threshold)
            ]  # fmt: skip
            assert same(values[i], every[0].value if every else None), (metric, name, values[i])
            if every:
                assert found["against"][metric] == AGAINST.get(
                    str(every[0].reference), str(every[0].reference)
                )
            compared += bool(every)
    return compared


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", CASES)
def test_the_slider_says_what_an_audit_says(opened, name):
    options = CASES[name]
    page = opened(audited(**options))
    at = {key: value for key, value in options.items() if key != "prediction"}
    expected = audited(threshold=GRID, **at)
    for threshold in GRID:
        page.evaluate(SLIDE, round(threshold * 1000))
        assert check(page.evaluate(READ), expected, threshold) > 10


RULES = ["others", "overall", "largest", "best", {"g": "B"}]
TABLES = {
    "two groups": {"A": 600, "B": 400},
    "three groups": {"A": 500, "B": 300, "C": 200},
    "a group of 12 rows": {"A": 500, "B": 300, "C": 12},
    "twelve groups": {name: 60 + 5 * i for i, name in enumerate("ABCDEFGHIJKL")},
}


def whose_best_moves(groups):
    """Return scores that are higher in later groups, and vary less: the best one moves."""
    rng = np.random.default_rng(3)
    place = np.repeat(np.arange(len(groups)), list(groups.values()))
    spread = np.array([0.3, 0.2, 0.1])[place % 3]
    score = np.clip(rng.normal(0.45 + 0.04 * (place % 3), spread), 0, 1).round(2)
    label = (rng.random(len(place)) < score).astype(int)
    return pl.DataFrame({"g": np.array(list(groups))[place], "s": score, "y": label})


@pytest.mark.one_in(8)
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("name", TABLES)
def test_the_slider_compares_with_the_reference_of_the_report(opened, name, rule):
    """Of one metric at a time: with several rates in a page every group is compared by some."""
    rows = whose_best_moves(TABLES[name])
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": "g", "reference": rule}
    named = set()
    for metric in ("selection_rate.ratio", "false_positive_rate.difference"):
        page = opened(fg.audit(rows, metrics=metric, **options))
        expected = fg.audit(rows, metrics=metric, threshold=GRID, **options)
        for threshold in GRID[1:-1]:
            page.evaluate(SLIDE, round(threshold * 1000))
            found = page.evaluate(READ)
            own = {e.group: e for e in expected.estimates if e.threshold == threshold}
            values = dict(zip(found["compared"], found["metrics"][metric], strict=True))
            shown = set(values) & set(own)
            assert shown == set(own) or name == "twelve groups"
            for group in shown:
                assert same(values[group], own[group].value), (metric, threshold, group)
                reference = str(own[group].reference)
                assert found["against"][metric] == AGAINST.get(reference, reference)
            for group in set(values) - set(own):  # the reference itself
                assert found["against"][metric] == group
                assert values[group] == ""
            named.add(found["against"][metric])
    assert "C" not in named or name != "a group of 12 rows"
    assert (len(named) > 1) == (rule == "best")


def test_the_page_names_the_best_group_that_its_own_report_names(opened):
    """Local Law 144 with scores: the report said B vs A 0.487, the page B vs C 0.655."""
    rows = whose_best_moves(TABLES["a group of 12 rows"])
    report = fg.audit(rows, score="s", sensitive="g", preset="nyc-ll144")
    found = opened(report).evaluate(READ)
    (metric,) = found["metrics"]
    values = dict(zip(found["compared"], found["metrics"][metric], strict=True))
    own = [e for e in report.estimates if e.metric == metric]
    assert own
    for each in own:
        assert found["against"][metric] == each.reference.group
        assert float(values[each.group]) == pytest.approx(each.value, abs=0.02)  # nearest edge


def test_groups_with_thresholds_of_their_own_keep_the_reference_of_the_report(opened):
    rows = whose_best_moves(TABLES["three groups"])
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": "g", "reference": "best"}
    report = fg.audit(rows, metrics="selection_rate.ratio", **options)
    page = opened(report)
    note = page.locator("#tool-kept")
    assert note.is_hidden()
    page.get_by_label("a threshold for each group").check()
    assert note.is_visible()
    page.get_by_label("threshold of A, as a number").fill("0.1")
    page.get_by_label("threshold of A, as a number").press("Enter")
    assert page.evaluate(READ)["against"] == {
        "selection_rate.ratio": report.estimates[0].reference.group
    }


def test_profile_clarify_divides_and_compares_in_its_own_way(opened):
    rows = sample_reports.scores().filter(pl.col("s").is_not_null())
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": "g", "profile": "clarify"}
    page = opened(fg.audit(rows, metrics=METRICS, **options))
    expected = fg.audit(rows, metrics=METRICS, threshold=GRID, **options)
    for threshold in GRID:
        page.evaluate(SLIDE, round(threshold * 1000))
        check(page.evaluate(READ), expected, threshold)


def test_profile_clarify_has_no_slider_where_scores_are_missing(opened):
    page = opened(audited(profile="clarify"))
    assert page.locator("#scores").count() == 1
    assert page.locator("#tool").count() == 0


def test_numbers_are_rounded_as_in_the_report(opened):
    """Python rounds halves to even, which a browser does not by itself."""
    page = opened(audited())
    for value, digits in ((6.25, 1), (-6.25, 1), (6.35, 1), (18.75, 1), (0.0625, 3), (-0.04, 1)):
        expected = f"{value:.{digits}f}".replace("-0.0", "0.0").replace("-", "−")
        assert page.evaluate(f"minus(fixed({value}, {digits}))") == expected


def test_a_threshold_between_edges_is_moved_to_the_nearest_with_a_notice(opened):
    page = opened(audited())
    box = page.locator("#tool-sliders input[type=number]")
    expected = audited(threshold=[0.123, 0.679])
    for asked, taken in (("0.12345", 0.123), ("0.6789", 0.679)):
        box.fill(asked)
        box.press("Enter")
        assert page.locator("#tool-status").inner_text() == (
            f"{asked} is no edge of the bins that scores are counted in; {taken}, the nearest, "
            "is taken."
        )
        assert box.input_value() == str(taken)
        check(page.evaluate(READ), expected, taken)


def test_every_group_can_have_a_threshold_of_its_own(opened):
    page = opened(audited())
    page.get_by_label("a threshold for each group").check()
    thresholds = {"North": 0.3, "South": 0.55, "a <b> c": 0.8}
    for name, threshold in thresholds.items():
        page.get_by_label(f"threshold of {name}, as a number").fill(str(threshold))
        page.get_by_label(f"threshold of {name}, as a number").press("Enter")
    rows = sample_reports.scores().with_columns(
        p=pl.when(pl.col("s").is_null())
        .then(None)
        .otherwise(pl.col("s") >= pl.col("g").replace_strict(thresholds))
        .cast(pl.Int64)
    )
    expected = fg.audit(rows, label="y", prediction="p", positive=1, sensitive="g", metrics=METRICS)
    found = page.evaluate(READ)
    assert found["rates"]["threshold"] == ["0.3", "0.55", "0.8"]
    assert check(found, expected, None) > 10
    page.get_by_role("button", name="Reset to the report's threshold").click()
    assert page.evaluate(READ)["rates"]["threshold"] == ["0.5", "0.5", "0.5"]


def test_many_groups_are_added_up_so_that_the_rest_is_whole(opened):
    rows = sample_reports.scores().with_columns(g=pl.int_range(pl.len()) % 20)
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": "g", "metrics": METRICS}
    page = opened(fg.audit(rows, **options))
    expected = fg.audit(rows, threshold=[0.4], **options)
    page.evaluate(SLIDE, 400)
    found = page.evaluate(READ)
    assert found["groups"][-1] == "12 other groups"
    assert len(found["compared"]) == 8
    for metric, values in found["metrics"].items():
        for name, value in zip(found["compared"], values, strict=True):
            estimate = expected[metric, "g", name]
            assert same(value, estimate.value), (metric, name)


def test_it_works_from_the_keyboard_and_is_labelled(opened):
    page = opened(audited())
    slider = page.get_by_label("threshold of all groups", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "0.501"
    assert page.evaluate(READ)["rates"]["threshold"] == ["0.501"] * 3
    page.keyboard.press("Home")
    assert page.evaluate(READ)["rates"]["threshold"] == ["0"] * 3
    assert "North: 100.0% predicted positive" in page.locator("#tool-status").inner_text()


def test_another_feature_can_be_chosen(opened):
    rows = sample_reports.scores().with_columns(h=pl.int_range(pl.len()) % 2)
    options = {"label": "y", "score": "s", "positive": 1, "metrics": METRICS}
    page = opened(
        fg.audit(rows, sensitive=["g", "h"], **options), viewport={"width": 400, "height": 800}
    )
    page.locator("#tool-feature").select_option("h")
    expected = fg.audit(rows, sensitive="h", threshold=[0.5], **options)
    check(page.evaluate(READ), expected, 0.5)
    page.get_by_label("a threshold for each group").check()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("table", ["compas", "adult"])
def test_pages_of_real_tables_stay_below_a_megabyte(shared, opened, table):
    name, label, positive = {
        "compas": ("compas_pred.csv", "two_year_recid", 1),
        "adult": ("adult_pred.csv.gz", "income", ">50K"),
    }[table]
    options = {"label": label, "positive": positive, "score": "score", "sensitive": ["sex", "race"]}
    report = fg.audit(str(shared.data(name)), intersections=[("sex", "race")], **options)
    assert len(render(report, "html").encode()) < 1_000_000
    page = opened(report, viewport={"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    at = fg.audit(str(shared.data(name)), threshold=[0.3], **options)
    page.evaluate(SLIDE, 300)
    only = [g for g in at.groups if g.feature == "sex"]
    found = page.evaluate(READ)
    assert found["groups"] == [g.group for g in only]
    assert [float(n) for n in found["rates"]["TP"]] == [g.counts["tp"] for g in only]
