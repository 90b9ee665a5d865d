"""The published JSON Schemas hold for whatever is written, and for nothing else."""

import copy
import json

import jsonschema
import pytest
from tests.monitored_days import RATIO, asked, cube, days

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.results.monitor_results import MonitorReport
from fairgauge.results.report import Report

SAMPLES = {
    name: getattr(sample_reports, name)
    for name in ("small", "several", "berkeley", "crossed", "hostile")
}


def errors(schema, written):
    jsonschema.Draft202012Validator.check_schema(schema)
    found = jsonschema.Draft202012Validator(schema).iter_errors(written)
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


@pytest.mark.parametrize("name", SAMPLES)
def test_reports_keep_to_their_schema(name):
    assert errors(Report.json_schema(), json.loads(SAMPLES[name]().to_json())) == []


@pytest.mark.parametrize("counts", ["alarm", {}, {"2026-01-01": cube(0, of=0)}, days(2, 9, 0.4)])
def test_monitors_keep_to_their_schema_and_are_shown_in_every_format(counts, tmp_path, shifted):
    rules = [RATIO, "selection_rate >= 0.1"]
    if counts == "alarm":
        cube(500, of=1_000, others=1_000, size=2_000).save(tmp_path / "b.cube.json")
        near = {"metric": "selection_rate.difference", "within": 0.05}
        rules = [RATIO | {"groups": ["F", "f"]}, near | {"of": str(tmp_path / "b.cube.json")},
                 "balanced_accuracy.difference >= -0.5"]  # fmt: skip
    report = fg.monitor(shifted if counts == "alarm" else counts, asked(*rules))
    assert bool(report.alarms and report.unmatched) is (counts == "alarm")
    assert errors(MonitorReport.json_schema(), json.loads(report.to_json())) == []
    assert report.to_json() == report.to_json()
    for name in ("text", "html", "markdown", "csv", "junit", "openmetrics"):
        assert render(report, name)


def test_a_word_outside_the_enums_and_a_missing_key_are_errors():
    written = next(iter(SAMPLES.values()))().to_dict()
    wrong = copy.deepcopy(written)
    wrong["estimates"][0]["scope"] = "margin"
    assert any("margin" in error for error in errors(Report.json_schema(), wrong))
    del written["estimates"][0]["scope"]
    assert any("'scope' is a required" in error for error in errors(Report.json_schema(), written))
