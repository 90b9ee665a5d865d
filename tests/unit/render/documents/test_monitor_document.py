"""The words and numbers of a monitor's report, where they were hard to read."""

import csv
import html
import io

import pytest
from tests.monitored_days import RATIO, asked, cube, days

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render.streams import table_of


def test_truth_and_open_limits_are_cells_that_every_reader_knows():
    report = fg.monitor(days(3, 9, 0.4), asked(RATIO))
    for row in csv.DictReader(io.StringIO(render(report, "csv"))):
        assert (row["tolerated_low"], row["tolerated_high"]) == ("0.8", "")
        assert (row["alarm"], row["sparse"]) == ("false", "false")


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
