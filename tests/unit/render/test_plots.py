"""What is plotted is what the HTML draws: the numbers of the result, in its units and words."""

import math
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests import every_result
from tests.every_result import LOANS, RULES, loans

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.errors import DataError
from fairgauge.render import _document_tree as tree
from fairgauge.render import render
from fairgauge.render._document_tree import (
    Chart,
    ChartRow,
    GridCell,
    GridRule,
    Mark,
    RuleGrid,
    TimeChart,
    Unit,
)
from fairgauge.render.chart_axes import (
    chart_axis,
    grid_axes,
    placed_on,
    placed_times,
)
from fairgauge.render.document import document
from fairgauge.render.writers import markdown

DRAWN = {"models", "compared reports", "alternatives", "alarm", "no alarm", "why"}


def dots(ax):
    """Return the places of what is drawn as dots, as far as the axes show them."""
    return [tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() == "o"]


def known(values):
    return [each for each in values if each is not None and math.isfinite(each)]


def report(**more):
    return fg.audit(loans(), **LOANS, **more)


@pytest.mark.filterwarnings("ignore:Glyph")  # of emoji, which the font lacks
@pytest.mark.parametrize("name", every_result.RESULTS)
def test_every_result_is_plotted_or_says_why_not(name, tmp_path):
    result = every_result.result(name)
    drawn = isinstance(result, fg.Report) or name in DRAWN
    assert ("Charts: -o " in " ".join(render(result).split())) is drawn
    if drawn:
        figure = result.plot()
        figure.savefig(tmp_path / "drawn.png")
        assert isinstance(figure, Figure)
        assert all(ax.get_title("left") for ax in figure.axes)
    else:
        with pytest.raises(DataError, match="no chart to plot"):
            result.plot()


def test_gaps_are_the_estimates_of_each_metric_with_their_intervals():
    asked = ["selection_rate.difference", "selection_rate.ratio", "accuracy.difference"]
    found = report(metrics=asked)
    figure = found.plot()
    assert len(figure.axes) == len(asked)
    for ax, metric in zip(figure.axes, asked, strict=True):
        own = [e for e in found.estimates if e.metric == metric and not e.mirror_of]
        assert [x for x, _ in dots(ax)] == known(e.value for e in own)
        ends = {tuple(of[:, 0]) for lines in ax.collections for of in lines.get_segments()}
        low, high = ax.get_xlim()
        shown = [(e.low, e.high) for e in own if low < e.low and e.high < high]
        assert shown
        assert ends.issuperset(shown)


def test_a_report_without_rules_draws_its_leading_gaps_as_html_too():
    found = report()
    (chart,) = (each for each in document(found).exhibits if isinstance(each, tree.Chart))
    leading = found.findings[0].estimate.metric
    own = [e for e in found.estimates if e.metric == leading and not e.mirror_of]
    assert [row.mark.value for row in chart.rows] == [e.value for e in own]
    assert len(chart.rows) > 1
    ruled = document(report(rules=RULES)).exhibits
    assert not any(isinstance(each, tree.Chart) for each in ruled)


def test_rates_are_those_of_the_groups():
    found = report(metrics=["selection_rate.difference"])
    (ax,) = found.plot("rates").axes
    rates = [group.rates["selection_rate"].value for group in found.groups]
    assert [x for x, _ in dots(ax)] == rates
    assert [x.get_text() for x in ax.get_yticklabels()][:2] == ["sex: Female", "sex: Male"]


def test_rules_show_what_each_comes_to_and_what_it_allows():
    found = report(rules=RULES)
    first, second = found.plot("rules").axes
    (grid,) = (e for e in document(found).exhibits if isinstance(e, tree.RuleGrid))
    assert first.get_title("left") == grid.rules[0].words
    cells = [cells[1] for _, rows in grid.parts for _, cells in rows if cells[1]]
    assert [x for x, _ in dots(second)] == known(cell.mark.value for cell in cells)
    assert "95% CI" not in "".join(t.get_text() for t in second.get_yticklabels())


def scored(n=400, **more):
    rng = np.random.default_rng(5)
    score = rng.beta(2, 3, n).round(2)
    rows = {"g": rng.choice(["$a", "b"], n), "score": score, "w": rng.integers(1, 4, n)}
    rows["label"] = (rng.random(n) < score).astype(int)
    rows = {name: each.tolist() for name, each in rows.items()}
    return fg.audit(rows, label="label", score="score", sensitive="g", **more)


def test_calibration_is_of_the_rows_that_the_report_measures():
    found = scored(metrics=["calibration_gap.difference", "expected_calibration_error.difference"])
    (ax,) = found.plot("calibration").axes
    dotted = {tuple(line.get_xdata()) for line in ax.lines if line.get_marker() == "o"}
    ends = {tuple(of[:, 1]) for lines in ax.collections for of in lines.get_segments()}
    written = [text.get_text() for text in ax.texts]
    for curve, group in zip(found.score_curves, found.groups, strict=True):
        assert tuple(each.mean_score for each in curve.bins) in dotted
        assert {(each.low, each.high) for each in curve.bins} <= ends
        assert {str(each.n) for each in curve.bins} | {curve.group} <= {*written}
        gaps = [each.n * (each.mean_score - each.observed) for each in curve.bins]
        assert sum(each.n for each in curve.bins) == group.n
        assert sum(gaps) / group.n == pytest.approx(group.rates["calibration_gap"].value)
        error = sum(map(abs, gaps)) / group.n
        assert error == pytest.approx(group.rates["expected_calibration_error"].value)


def test_each_roc_curve_is_named_with_its_area_and_encloses_it():
    found = scored(metrics="roc_auc.difference")
    (ax,) = found.plot("roc").axes
    for curve, group, text in zip(found.score_curves, found.groups, ax.texts[:-1], strict=True):
        area = group.rates["roc_auc"]
        assert text.get_text().startswith(f"{group.group}: AUC {area.value:.3f}")
        across, upwards = curve.false_positive_rates, curve.true_positive_rates
        assert np.trapezoid(upwards, across) == pytest.approx(area.value, abs=0.001)
        assert curve.bins == ()
    assert fg.Report.from_dict(found.to_dict()).score_curves == found.score_curves


def test_html_draws_both_and_rows_with_weights_have_no_wilson_intervals(tmp_path):
    found = scored(metrics=["roc_auc.difference", "calibration_gap.difference"])
    found.save(tmp_path / "drawn.html")
    page = (tmp_path / "drawn.html").read_text(encoding="utf-8")
    assert page.count('<figure class="card time curves">') == 2
    first = found.score_curves[0].bins[0]
    assert f'cx="{100 * first.mean_score:.4g}%"' in page
    weighted = scored(weight="w")
    bins = weighted.score_curves[0].bins
    assert {(each.low, each.high) for each in bins} == {(None, None)}
    weighted.save(tmp_path / "weighted.html")
    without = (tmp_path / "weighted.html").read_text(encoding="utf-8")
    assert "observed as often as scored. Below" in without
    assert "interval of each rate by itself" in page
    assert "interval of each rate by itself" not in without


def test_calibration_states_its_level_and_which_of_many_groups_are_drawn():
    rng = np.random.default_rng(5)
    groups = [f"g{i}" for i in rng.integers(0, 9, 900)]
    rows = {"g": groups, "score": rng.random(900), "label": rng.integers(0, 2, 900)}
    rows = {name: [*each] for name, each in rows.items()}
    asked = ["roc_auc.difference", "calibration_gap.difference"]
    found = fg.audit(rows, label="label", score="score", sensitive="g", metrics=asked)
    (calibration,), (roc,) = found.plot("calibration").axes, found.plot("roc").axes
    assert "rate by itself (95%)" in " ".join(calibration.texts[-1].get_text().split())
    for ax in (calibration, roc):
        assert "Drawn are 6 of 9 groups" in " ".join(ax.texts[-1].get_text().split())
    assert "Drawn are" not in scored().plot("roc").axes[0].texts[-1].get_text()


def test_a_monitor_has_small_charts_of_all_others_the_nearest_to_an_alarm_first():
    days = {
        f"2026-09-{day:02}": fg.confusion("g", {
            "a": {"tp": 40, "fn": 60}, "b": {"tp": 44 + day % 3, "fn": 60}, "c": {"tp": 9, "fn": 20}
        })
        for day in range(1, 9)
    }  # fmt: skip
    rules = [{"metric": "selection_rate.difference", "between": [-0.1, 0.1]}]
    asked = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "g"}
    found = fg.monitor(days, asked | {"monitor": {"rules": rules}})
    whole = document(found, full=True)
    (over_time,) = (each for each in whole.sections if each.id == "series")
    drawn = [each for each in over_time.blocks if isinstance(each, TimeChart)]
    assert [chart.marks[-1].value for chart in drawn] == [
        each.points[-1].value for each in found.gravest[1:]
    ]
    assert not any(chart.notes for chart in drawn)
    assert len(drawn) == 2
    assert render(found, "html").count('class="charts multiples"') == 1


def test_times_are_those_of_the_comparison():
    found = every_result.result("alarm")
    ax = found.plot().axes[0]
    (each, *_) = found.gravest
    assert [y for _, y in dots(ax)] == known(point.value for point in each.points)


def test_an_axes_of_ones_own_takes_one_chart():
    ax = Figure().subplots()
    found = report(metrics=["selection_rate.difference"])
    assert found.plot(ax=ax) is ax.figure
    assert ax.get_title("left") == "Selection rate difference, compared with others"
    with pytest.raises(DataError, match=r"ax= takes one chart, and there are \d+: "):
        report().plot(ax=ax)


def test_names_are_no_mathematics_and_nothing_global_changes():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    rows = {"g": ["$x^2", "b$"] * 50, "y": [1, 0, 0, 1] * 25}
    figure = fg.audit(rows, prediction="y", sensitive="g").plot("rates")
    figure.canvas.draw()
    assert [x.get_text() for x in figure.axes[0].get_yticklabels()] == ["$x^2", "b$"]
    assert dict(mpl.rcParams) == before
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("bars", {}, "Allowed: gaps, rules, rates, calibration and roc"),
        ("roc", {}, "this report has no chart of its roc to plot"),
        ("rules", {}, r"this report has no chart of its rules to plot"),
    ],
)
def test_what_cannot_be_plotted_says_so(kind, more, said):
    with pytest.raises(DataError, match=said):
        report(**more).plot(kind)


# ---- axes of charts: fitted to what is known well, so that a few people do not hide the others
SOLID = [Mark(0.9, 0.85, 0.95), Mark(0.8, 0.7, 0.9)]


def chart_of(*marks, unit=Unit.RATIO):
    rows = tuple(ChartRow("group", mark, "", "") for mark in marks)
    axis = chart_axis(Chart("chart", rows, unit, neutral=1.0 if unit is Unit.RATIO else 0.0))
    return axis.ticks, [placed_on(mark, axis.scale) for mark in marks]


def test_a_few_people_stretch_no_axis_of_differences():
    solid = [Mark(-0.02, -0.05, 0.01), Mark(0.03, 0.0, 0.06)]
    ticks, (*_, mark) = chart_of(*solid, Mark(-0.5, -0.9, 0.4, sparse=True), unit=Unit.POINTS)
    assert (ticks, mark.low) == (chart_of(*solid, unit=Unit.POINTS)[0], 0.0)


@pytest.mark.parametrize(
    "sparse", [Mark(0.01, 0.0001, 1.4, sparse=True), Mark(0.0, 0.0, 3.0, sparse=True)]
)
def test_a_few_people_do_not_stretch_the_axis(sparse):
    ticks, (*_, mark) = chart_of(*SOLID, sparse)
    assert ticks == chart_of(*SOLID)[0]
    assert (mark.at, mark.low) == (None, 0.0)


@pytest.mark.parametrize(("rules", "least"), [(1, 7), (2, 22), (3, 33)])
def test_labels_of_axes_that_share_a_page_do_not_touch(rules, least):
    for low, high in [(-0.11, 0.24), (-0.4, 0.1), (-0.02, 0.03), (-0.5, 0.5)]:
        rule = GridRule("a rule", "", Unit.POINTS, 0.0, (-0.1, 0.1))
        cell = GridCell("36 v 53", Mark((low + high) / 2, low, high), "", Outcome.FAIL)
        grid = RuleGrid("rules", (rule,) * rules, (("part", (("group", (cell,) * rules),)),))
        for axis in grid_axes(grid):
            places = [tick.at for tick in axis.ticks]
            assert min(b - a for a, b in pairwise(places)) >= least if len(places) > 1 else places
            assert "0" in [tick.label for tick in axis.ticks]


def test_a_value_nearby_has_its_place_and_where_all_is_sparse_all_is_shown():
    _, (*_, second, mark) = chart_of(*SOLID, Mark(0.55, 0.02, 0.99, sparse=True))
    assert mark.low == 0.0 < mark.at < mark.high < 100.0
    assert second.low > mark.at
    _, marks = chart_of(Mark(0.2, 0.05, 1.5, sparse=True), Mark(0.5, 0.1, 2.0, sparse=True))
    assert all(0 < mark.low < mark.at < mark.high < 100 for mark in marks)


@pytest.mark.parametrize("allowed", [(-0.05, 0.05), (-0.3, 0.3), (-1.0, 0.02)])
def test_a_limit_of_a_chart_over_time_is_not_the_edge_of_its_drawing(allowed):
    marks = (Mark(0.01, -0.02, 0.04), Mark(0.02, -0.01, 0.05))
    chart = TimeChart("a rate", ("one", "two"), marks, Unit.POINTS, allowed=allowed)
    above, below = placed_times(chart).allowed
    assert 8 < above < below < 92


def test_a_chart_in_markdown_states_its_intervals_in_cells_of_their_own():
    rows = (ChartRow("a", Mark(1.0, 0.5, 2.0), "1.0", "95% CI 0.5 to 2.0"),)
    text = "\n".join(markdown._block(Chart("Sizes", rows, Unit.NUMBER, None)))
    assert "| Sizes | value | confidence interval |" in text
    assert "| a | 1.0 | 95% CI 0.5 to 2.0 |" in text
