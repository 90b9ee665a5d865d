"""The words and numbers of a monitor's report, where they were hard to read."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from tests.monitored_days import RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render._document_tree import Mark, TimeChart, Unit
from fairgauge.render.charts.charts import placed_times
from fairgauge.render.streams import table_of


def test_thresholds_are_written_without_rounding_errors():
    rules = [RATIO | {"groups": group} for group in ("F", "M")]
    report = fg.monitor(days(3, 9, 0.4), asked(*rules, alpha=0.05))
    for each in report.comparisons:
        assert each.threshold == float(f"{365 / each.alpha:.12g}")
    for kind in ("csv", "openmetrics"):
        assert not re.search(r"\d\.\d*(0000000|9999999)\d", render(report, kind))


def test_truth_and_open_limits_are_cells_that_every_reader_knows():
    report = fg.monitor(days(3, 9, 0.4), asked(RATIO))
    for row in csv.DictReader(io.StringIO(render(report, "csv"))):
        assert (row["tolerated_low"], row["tolerated_high"]) == ("0.8", "")
        assert (row["alarm"], row["sparse"]) == ("false", "false")


def test_the_headline_mentions_periods_without_counts(shifted):
    counts = {name: c for name, c in shifted.items() if name != "2026-01-05"}
    report = fg.monitor(counts, asked(RATIO))
    headline = "39 days, 2026-01-01 to 2026-02-09 (1 without counts)"
    assert headline in str(report)
    assert f"{headline} · made <time" in render(report, "html")


def test_the_time_axis_names_periods_between_its_ends():
    report = fg.monitor(days(40, 99, 0.4), asked(RATIO))
    html = render(report, "html")
    names = html.partition('class="time-names"')[2].partition("</svg>")[0]
    assert re.findall(r">([\d-]+)<", names) == [day_names(40)[i] for i in (0, 13, 26, 39)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 400])
@pytest.mark.parametrize("name", ["2026-11-{}", "2026-11-20T{}:00Z"])
def test_named_periods_are_distinct_and_have_both_ends(count, name):
    times = tuple(name.format(i) for i in range(count))
    placed = placed_times(TimeChart("t", times, tuple(Mark(0.5) for _ in times), Unit.PERCENT))
    shown = [each.label for each in placed.times]
    assert len(set(shown)) == len(shown) <= 4
    assert set(times[:1] + times[-1:]) <= set(shown)
    assert [each.at for each in placed.times] == sorted(each.at for each in placed.times)


def test_names_of_authors_are_spelt_as_they_are():
    report = fg.monitor({day_names(1)[0]: cube(40)}, asked(RATIO))
    assert "Grünwald" in render(report, "html")


def test_the_running_value_is_in_every_output_with_its_confidence_sequence(shifted):
    report = fg.monitor(shifted, asked(RATIO))
    (each,) = report.comparisons
    for point in each.points:
        assert point.running_low <= point.running <= point.running_high
    last = each.points[-1]
    assert (
        f"}} {last.running_low}\n"
        in render(report, "openmetrics").partition("# TYPE fairgauge_running_low gauge")[2]
    )
    plain = report.to_dict()["comparisons"][0]["points"][-1]
    assert (plain["running"], plain["running_high"]) == (last.running, last.running_high)
    rows = table_of(report)
    assert rows.rows[-1][rows.columns.index("running_low")] == last.running_low
    html = render(report, "html")
    assert "confidence sequences of the running values" in html
    assert html.count('class="l running-line"') == 1
    # beside an alarm the line is of what it is about
    assert 'class="running-band"' not in html
    after = each.alarm.after
    assert f"the days from {after.first} to {after.last} together, after the change" in html
    quiet = render(fg.monitor(days(40, 40, 0.4), asked(RATIO)), "html")
    assert quiet.count('class="running-band"') == quiet.count('class="l running-line"') == 1
    assert "95% CI, for all days together" in quiet


def test_no_sequence_is_shown_where_intervals_decide(shifted):
    rule = {"metric": "balanced_accuracy.difference", "between": [-0.3, 0.3], "groups": "F"}
    html = render(fg.monitor(shifted, asked(rule)), "html")
    assert 'class="running-band"' not in html
    assert "for all days together" not in html


def test_the_last_line_proposes_files_of_a_monitor(shifted):
    text = render(fg.monitor(shifted, asked(RATIO)), "text")
    assert text.endswith("Charts: -o monitor.html. Data: -o monitor.json.\n")


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "notebook"])
def test_rules_are_stated_in_the_words_of_an_audit(format_, tmp_path):
    file = tmp_path / "base.cube.json"
    cube(39).save(file)
    near = {"metric": "selection_rate.difference", "within": 0.05, "of": str(file)}
    unknown = RATIO | {"groups": "Women"}
    report = fg.monitor(days(3, 9, 0.4), asked(RATIO, near, unknown))
    full = {"full": True} if format_ in ("text", "markdown") else {}
    page = " ".join(html.unescape(render(report, format_, **full)).replace("\\", "").split())
    if format_ != "notebook":  # it has no notes
        assert "Selection rate ratio >= 0.8 names the group Women, which no period has." in page
    had = "“had prediction = 1 at least 0.8 times as often as others”"
    assert f"by the rules {had} and selection rate difference within 5 percentage points of" in page
    if format_ != "notebook":
        assert "selection rate ratio >= 0.8; selection rate difference within 5 pp of" in page
    (looked_at,) = (str(e) for e in report.brief().looked_at if "by the rules" in str(e))
    assert "_" not in looked_at.replace(file.name, "")
