"""The smallest detectable difference is never printed as none."""

import polars as pl

import fairgauge as fg


def test_a_difference_that_rounds_to_none_is_stated_as_below_one():
    """So many rows that the interval is narrower than a tenth of a percentage point."""
    n = 40_000_000
    selected = {"a": n // 2, "b": round(n * 0.4001)}
    counts = [(g, y, k if y else n - k) for g, k in selected.items() for y in (1, 0)]
    rows = pl.DataFrame(counts, schema=["g", "y", "n"], orient="row")
    asked = {"prediction": "y", "sensitive": "g", "reference": {"g": "a"}, "count": "n"}
    rule = "selection_rate.difference >= -0.0999"
    report = fg.audit(rows, **asked, metrics="selection_rate.difference", rules=rule)
    (verdict,) = report.verdicts
    assert verdict.outcome == "inconclusive"
    assert 0 < verdict.reason["detectable"] < 0.001
    assert "below 0.1 pp" in verdict.says
