"""Scores in the page: curves and their tables."""

from __future__ import annotations

import random

import polars as pl
import pytest

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.charts.score_sections import labels, path, scored

NEEDS = {
    "both": frozenset({"label", "prediction"}),
    "label": frozenset({"label"}),
    "prediction": frozenset({"prediction"}),
}


def audit_of(groups, rows=200, **options):
    chance = random.Random(1)
    table = pl.DataFrame(
        {
            "y": [chance.randrange(2) for _ in range(rows)],
            "s": [round(chance.random(), 3) for _ in range(rows)],
            "g": [groups[i % len(groups)] for i in range(rows)],
        }
    )
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": "g"} | options
    return fg.audit(table, **options)


def test_a_path_goes_through_its_corners_and_no_others():
    assert path([(0, 0), (0, 0.2), (0, 1), (0.5, 1), (1, 1)]) == "M0 400v-400h400"
    assert path([(0, 0), (0.5, 0.5), (1, 1)]) == "M0 400l400-400"
    assert path([(0, 0), (0.5, 0.25), (1, 1)]) == "M0 400l200-100l200-300"
    assert path([(0, 1), (0.5, 0.5), (0.5, 0.75)]) == "M0 0l200 200v-100"
    assert path([]) == ""


def test_names_stand_on_their_curves_and_apart():
    flat = [[(k / 20, 0.3 + i / 12) for k in range(21)] for i in range(5)]
    found = labels([(f"group number {i}", points) for i, points in enumerate(flat)])
    assert [spot.shape for _, spot in found] == [0, 1, 2, 3, 4]
    boxes = [(label.x, label.y) for label, _ in found]
    for i, (x, y) in enumerate(boxes):
        assert all(abs(x - a) > 20 or abs(y - b) >= 5 for a, b in boxes[:i])


@pytest.mark.parametrize("count", [2, 3, 4, 6])
@pytest.mark.parametrize("name", ["{}", "the people of district {}"])
def test_names_are_never_printed_over_each_other(count, name):
    """Where one finds no room beside the others, they stand below the drawing."""
    close = [[(k / 20, (1 - k / 20) ** (1 + i / 20)) for k in range(21)] for i in range(count)]
    found = labels([(name.format(i), points) for i, points in enumerate(close)])
    placed = [label for label, _ in found if label is not None]
    assert len(placed) in (0, count)
    assert len(placed) == count or name != "{}" or count > 3
    for i, one in enumerate(placed):
        for other in placed[:i]:
            across = 2.6 * (len(one.text) + len(other.text)) / 2
            assert abs(one.x - other.x) >= across or abs(one.y - other.y) >= 6.5
    report = audit_of([name.format(i) for i in range(count)])
    (drawn,) = scored(report)
    text = render(report, "html")
    for sweep in drawn.sweeps:
        assert len({curve.label is None for curve in sweep.curves}) == 1
    crowded = sum(sweep.curves[0].label is None for sweep in drawn.sweeps)
    assert text.count('<svg class="key"') == crowded * count


def test_curves_and_tables_hold_the_numbers_of_the_report():
    report = sample_reports.scored()
    (found,) = scored(report)
    assert [curve.name for curve in found.roc] == ["North", "South", "a <b> c"]
    for sweep in found.sweeps:
        shown = dict(sweep.table.rows)["0.5"]
        for (text, _), group in zip(shown, report.groups, strict=True):
            assert text == f"{group.rates[sweep.rate].value:.1%}"
    for curve, group in zip(found.roc, report.groups, strict=True):
        auc = group.rates["roc_auc"]
        notes = [note.replace("\N{NO-BREAK SPACE}", " ") for note in curve.notes[:2]]
        assert notes == [f"AUC {auc.value:.3f}", f"95% CI {auc.low:.3f} to {auc.high:.3f}"]
    total = sum(
        int(below.split("n ")[1].replace(",", ""))
        for _, cells in found.bins.rows
        for _, below in cells
        if "n " in below and below != "no rows"
    )
    known = sample_reports.scores().drop_nulls(["s", "y"])
    assert total == len(known)


def test_a_few_groups_are_drawn_and_more_are_listed():
    report = audit_of([f"group {i:02}" for i in range(30)], rows=900)
    (found,) = scored(report)
    assert len(found.roc) == len(found.calibration) == 6
    assert len(found.bins.groups) == 24
    text = render(report, "html")
    assert "The 6 largest of 30 groups are drawn, the 24 largest listed." in text


def test_a_group_of_one_label_has_no_roc_curve_and_says_so():
    rows = sample_reports.scores().with_columns(
        y=pl.when(pl.col("g") == "North").then(0).otherwise(pl.col("y"))
    )
    (found,) = scored(fg.audit(rows, label="y", score="s", positive=1, sensitive="g"))
    assert found.roc[0].notes == ["no curve: there are not both positive and negative labels"]
    assert found.roc[0].path == ""
    assert all(curve.path for curve in found.roc[1:])


def test_scores_of_another_range_are_not_calibrated():
    rows = sample_reports.scores().with_columns(pl.col("s") * 10)
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": "g"}
    report = fg.audit(rows, score_range=(0, 10), threshold=5, **options)
    (found,) = scored(report)
    assert (found.bins, list(found.calibration)) == (None, [])
    assert len(found.roc) == 3
    assert list(found.ticks) == ["0", "5", "10"]


def test_without_labels_only_the_selection_rate_is_swept():
    rows = sample_reports.scores()
    report = fg.audit(rows, score="s", positive=1, sensitive="g")
    (found,) = scored(report)
    assert [sweep.rate for sweep in found.sweeps] == ["selection_rate"]
    assert (list(found.roc), list(found.calibration), found.bins) == ([], [], None)


def test_a_report_without_scores_has_no_part_for_them():
    text = render(sample_reports.small(), "html")
    for part in ('id="scores"', 'href="#scores"'):
        assert part not in text


def test_a_page_of_many_features_with_scores_stays_below_a_megabyte():
    chance = random.Random(2)
    rows = 4_000
    table = {"y": [chance.randrange(2) for _ in range(rows)]}
    table["s"] = [chance.random() for _ in range(rows)]
    names = [f"f{i}" for i in range(10)]
    table |= {name: [chance.randrange(12) for _ in range(rows)] for name in names}
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": names}
    text = render(fg.audit(pl.DataFrame(table), **options), "html")
    assert len(text.encode()) < 1.25 * 2**20
    assert "The scores of 6 more features are in the JSON report." in text
