"""Bills of materials: the report's own numbers, in the schema of CycloneDX."""

from __future__ import annotations

import json

import polars as pl
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import fairgauge as fg
import sample_reports
from fairgauge.enums import Status
from fairgauge.render import render

SAMPLES = ("small", "several", "berkeley", "crossed", "scored", "hostile")


def bom(report):
    return json.loads(render(report, "cyclonedx"))


def cyclonedx_metrics(report):
    (component,) = bom(report)["components"]
    return component["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_cyclonedx_holds_to_its_schema(sample):
    report = sample_reports.sure(getattr(sample_reports, sample)())
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(render(report, "cyclonedx")) is None


def test_the_schema_refuses_what_is_no_bill():
    text = render(sample_reports.small(), "cyclonedx")
    broken = text.replace('"performanceMetrics"', '"measurements"')
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(broken) is not None


def test_rates_and_intervals_are_those_of_the_report():
    report = sample_reports.several()
    found = {(each["type"], each.get("slice", "")): each for each in cyclonedx_metrics(report)}
    (black,) = (g for g in report.groups if g.group == "Black")
    rate = black.rates["true_positive_rate"]
    metric = found["true_positive_rate", "race: Black"]
    assert float(metric["value"]) == rate.value
    ends = metric["confidenceInterval"]
    assert (float(ends["lowerBound"]), float(ends["upperBound"])) == (rate.low, rate.high)
    (total,) = report.totals
    assert float(found["accuracy", ""]["value"]) == total.rates["accuracy"].value
    (ratio,) = (
        e for e in report.estimates if (e.metric, e.group) == ("selection_rate.ratio", "Black")
    )
    assert float(found["selection_rate.ratio", "race: Black vs others"]["value"]) == ratio.value


@pytest.mark.parametrize("sample", SAMPLES)
def test_each_slice_of_a_metric_stands_once_and_none_is_on_insufficient_data(sample):
    report = getattr(sample_reports, sample)()
    keys = [(each["type"], each.get("slice", "")) for each in cyclonedx_metrics(report)]
    assert len(keys) == len(set(keys))
    decided = [e for e in report.estimates if e.status is Status.OK]
    assert {key for key, _ in keys if "." in key} <= {e.metric for e in decided}


def test_findings_are_fairness_assessments():
    cells = {
        "Black": {"tp": 50, "fn": 50, "fp": 10, "tn": 90},
        "White": {"tp": 90, "fn": 10, "fp": 40, "tn": 60},
    }
    report = fg.audit(fg.confusion("race", cells))
    (component,) = bom(report)["components"]
    found = component["modelCard"]["considerations"]["fairnessAssessments"]
    assert found
    assert all(each["groupAtRisk"].startswith("race: ") for each in found)


COUNTS = {
    "F": {"tp": 40, "fp": 20, "fn": 30, "tn": 60},
    "M": {"tp": 80, "fp": 30, "fn": 20, "tn": 50},
}


def test_what_the_document_states_is_on_the_bill():
    stated = {"organisation": "A bank", "author": "A. Person", "purpose": "Loans to students"}
    report = fg.audit(fg.confusion("sex", COUNTS), document=stated)
    (component,) = bom(report)["components"]
    assert component["modelCard"]["considerations"]["useCases"] == ["Loans to students"]
    without = fg.audit(fg.confusion("sex", COUNTS))
    (component,) = bom(without)["components"]
    assert "useCases" not in component["modelCard"]["considerations"]


def test_averages_of_classes_are_named_and_infinite_values_are_left_out():
    table = pl.DataFrame({"sex": ["F", "M"] * 60, "grade": list("aabbcc") * 20,
                          "given": list("abcabc") * 20})  # fmt: skip
    asked = {"label": "grade", "prediction": "given", "task": "multiclass", "sensitive": "sex"}
    names = {each.get("slice") for each in cyclonedx_metrics(fg.audit(table, **asked))}
    assert "sex: F, macro average" in names
    nobody = {"F": {"tp": 40, "tn": 60}, "M": {"fn": 40, "tn": 60}}
    report = fg.audit(fg.confusion("sex", nobody), metrics="selection_rate.ratio")
    assert any(each.value == float("inf") for each in report.estimates)
    assert "inf" not in render(report, "cyclonedx").casefold().replace("information", "")
