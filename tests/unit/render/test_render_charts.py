"""Altair charts: what they draw is what the report says."""

from __future__ import annotations

import importlib
import json

import pytest

import fairgauge as fg
import sample_reports
from fairgauge.errors import DataError, MissingExtra

altair = pytest.importorskip("altair")


def drawn(chart):
    """Return the rows of every small chart, by its title."""
    found = chart.to_dict()
    every = {}
    for each in found["concat"]:
        rows = []
        for layer in each["layer"]:
            data = layer.get("data") or each.get("data") or found["data"]
            rows += data["values"] if "values" in data else found["datasets"][data["name"]]
        every[each["title"]["text"]] = [row for row in rows if "group" in row]
    return every


def test_disparities_have_their_values_and_intervals():
    report = sample_reports.sure(sample_reports.several())
    chart = drawn(report.plot())
    assert {title.split()[0] for title in chart} >= {"DI", "AD", "RD"}
    rows = chart["RD  Recall Difference"]
    for row in rows:
        estimate = report["RD", "race", row["group"]]
        assert (row["value"], row["low"], row["high"]) == (
            estimate.value, estimate.low, estimate.high,
        )  # fmt: skip
    assert [row["few"] for row in rows if row["group"] == "Other"] == [True, True]


def test_rates_are_of_the_groups():
    report = sample_reports.small()
    chart = drawn(report.plot("rates", names=["recall"]))
    assert list(chart) == ["true positive rate"]
    values = {row["group"]: row["value"] for row in chart["true positive rate"]}
    assert values == {g.group: g.rates["true_positive_rate"].value for g in report.groups}


def test_a_feature_and_metrics_can_be_chosen():
    report = sample_reports.crossed()
    chart = report.plot(feature="race", names=["AD", "DI"]).to_dict()
    assert [each["title"]["text"].split()[0] for each in chart["concat"]] == ["DI", "AD"]
    assert {each["title"]["subtitle"] for each in chart["concat"]} == {"race"}


def test_ratios_are_on_a_logarithmic_axis_and_neutral_at_one():
    text = json.dumps(sample_reports.small().plot(names=["DI"]).to_dict())
    assert '"type": "log"' in text
    assert '"at": 1.0' in text


def test_infinite_values_are_left_out():
    cells = {"a": {"tp": 3, "fn": 2, "tn": 1}, "b": {"tp": 4, "fp": 2, "fn": 1, "tn": 3}}
    report = fg.audit(fg.confusion("g", cells), metrics=["TE", "DI"])
    with pytest.raises(DataError) as error:
        report.plot(names=["TE"])
    assert str(error.value) == "no disparities of this report have a value to draw"


def test_every_sample_is_drawn_and_valid():
    for name in ("small", "several", "berkeley", "crossed", "hostile", "scored"):
        report = getattr(sample_reports, name)()
        for kind in ("disparities", "rates"):
            assert json.dumps(report.plot(kind).to_dict(), allow_nan=False)


def test_unknown_kinds_features_and_names_are_refused():
    report = sample_reports.small()
    with pytest.raises(DataError, match=r"no chart 'rate'. Did you mean 'rates'\? Say"):
        report.plot("rate")
    with pytest.raises(DataError, match=r"no feature 'sexx'. Did you mean 'sex'\?"):
        report.plot(feature="sexx")
    with pytest.raises(LookupError, match="no metric named 'XY'"):
        report.plot(names=["XY"])


def test_without_altair_it_says_what_to_install(monkeypatch):
    real = importlib.import_module

    def absent(name, *rest):
        if name == "altair":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr("fairgauge.render.altair_charts.import_module", absent)
    with pytest.raises(MissingExtra) as error:
        sample_reports.small().plot()
    assert str(error.value) == ("a chart needs an optional library: pip install 'fairgauge[viz]'")
