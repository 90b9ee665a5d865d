"""What a report draws of the estimators of groups that nobody recorded."""

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.render._document_tree import Chart, Items
from fairgauge.render.documents._feature_sections import estimator_blocks


def audited(rules):
    """Return an audit of 1,500 people whose groups are known by probabilities alone."""
    rng = np.random.default_rng(7)
    black = rng.beta(0.4, 0.6, 1500)
    approved = rng.random(1500) < np.where(rng.random(1500) < black, 0.3, 0.6)
    data = {"approved": approved.astype(int), "black": black, "white": 1 - black}
    groups = fg.probabilities(Black="black", White="white")
    return fg.audit(
        data, prediction="approved", sensitive={"race": groups}, reference={"race": "White"},
        metrics=["selection_rate.difference", "selection_rate.ratio"], rules=rules,
    )  # fmt: skip


def test_what_a_rule_is_about_is_drawn_with_every_estimator_and_the_range_allowed():
    report = audited(["selection_rate.difference >= -0.05"])
    assumed, chart, lines = estimator_blocks(report)
    assert isinstance(assumed, Items)
    assert [text.split(":")[0] for text in assumed.items] == ["Likelihood", "Bounds"]
    assert isinstance(chart, Chart)
    assert chart.allowed == (-0.05, float("inf"))
    drawn = {row.label: (row.mark.low, row.mark.high) for row in chart.rows}
    own = [each for each in report.estimators if each.metric == "selection_rate.difference"]
    assert sorted(drawn.values()) == sorted((each.interval.low, each.interval.high) for each in own)
    (deciding,) = (row.below for row in chart.rows if row.emphasis)
    assert deciding.startswith("Decides; as precise as ")
    assert isinstance(lines, Items)
    assert all("selection rate ratio" in line for line in lines.items)


@pytest.mark.parametrize("limit", [-0.05, -0.3, -0.9])
def test_the_tipping_slope_moves_the_interval_across_the_limit(limit):
    """An interval that holds the limit would exclude it; any other would reach it."""
    report = audited([f"selection_rate.difference >= {limit}"])
    found = next(each for each in report.estimators if each.tipping_slope is not None)
    chart = next(each for each in estimator_blocks(report) if isinstance(each, Chart))
    text = " ".join(row.below for row in chart.rows)
    if abs(found.tipping_slope) > 1:
        assert "within a group, the rate" not in text
        return
    held = found.interval.low < limit < found.interval.high
    assert f"CI would {'exclude' if held else 'reach'} the limit of the rule" in text
    assert f"rate {'rose' if found.tipping_slope > 0 else 'fell'} by" in text


def test_without_rules_the_findings_are_drawn():
    report = audited([])
    charts = [each for each in estimator_blocks(report) if isinstance(each, Chart)]
    assert len(charts) == len(report.findings) == 1
    assert charts[0].allowed is None
