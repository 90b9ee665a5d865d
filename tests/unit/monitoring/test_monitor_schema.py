"""The published JSON Schema holds for every report of a monitor, and for nothing else."""

import json

import jsonschema
import pytest
from tests.monitored_days import RATIO, asked, cube, days

import fairgauge as fg
from fairgauge.results.monitor_results import MonitorReport


def errors(report):
    schema = MonitorReport.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    found = jsonschema.Draft202012Validator(schema).iter_errors(json.loads(report.to_json()))
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


def test_reports_keep_to_their_schema(tmp_path, shifted):
    cube(500, of=1_000, others=1_000, size=2_000).save(tmp_path / "b.cube.json")
    near = {"metric": "selection_rate.difference", "within": 0.05,
            "of": str(tmp_path / "b.cube.json")}  # fmt: skip
    history = fg.History(tmp_path / "history")
    for name, counts in shifted.items():
        history.add(name, counts)
    rules = (RATIO | {"groups": ["F", "f"]}, near, "balanced_accuracy.difference >= -0.5")
    report = fg.monitor(history, asked(*rules))
    assert report.alarms
    assert report.unmatched
    assert errors(report) == []


@pytest.mark.parametrize("counts", [{}, {"2026-01-01": cube(0, of=0)}, days(2, 9, 0.4)])
def test_empty_and_undefined_reports_do_too(counts):
    report = fg.monitor(counts, asked(RATIO, "selection_rate >= 0.1"))
    assert errors(report) == []
    assert str(report)
    assert report.to_json() == report.to_json()
    for name in ("html", "markdown", "csv", "junit", "openmetrics"):
        from fairgauge.render import render

        assert render(report, name)
