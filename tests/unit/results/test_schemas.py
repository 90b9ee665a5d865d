"""The published JSON Schemas hold for whatever is written, and for nothing else."""

import copy
import json

import jsonschema
import pytest

import sample_reports
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


def test_a_word_outside_the_enums_and_a_missing_key_are_errors():
    written = next(iter(SAMPLES.values()))().to_dict()
    wrong = copy.deepcopy(written)
    wrong["estimates"][0]["scope"] = "margin"
    assert any("margin" in error for error in errors(Report.json_schema(), wrong))
    del written["estimates"][0]["scope"]
    assert any("'scope' is a required" in error for error in errors(Report.json_schema(), written))
