"""The specification of a monitor: what is refused before anything is counted."""

import json
import tomllib

import jsonschema
import pytest
from click.testing import CliRunner

from fairgauge.catalogue.catalogue import METRICS
from fairgauge.cli import main
from fairgauge.errors import SpecError
from fairgauge.monitoring.monitor_spec import read_monitor_spec
from fairgauge.question.specification import ask, unmet_need

LABELS_ALONE = {"label": "approved", "positive": 1, "sensitive": "sex"}


def fairgauge(*args):
    return CliRunner().invoke(main, [str(each) for each in args], catch_exceptions=False)


def test_a_rule_is_accepted_exactly_where_its_metric_has_what_it_needs():
    question = ask(**LABELS_ALONE)
    for metric in METRICS:
        limit = {"metric": metric.name, "at_most": min(0.5, metric.range[1] / 2)}
        asked = LABELS_ALONE | {"monitor": {"rules": [limit]}, "accept": "limits_the_better_off"}
        if unmet_need(metric, question) is None:
            assert read_monitor_spec(asked).rules[0].metric == metric.name
            continue
        with pytest.raises(SpecError) as error:
            read_monitor_spec(asked)
        assert [each.path for each in error.value.problems] == ["monitor.rules[0].metric"]
    with pytest.raises(SpecError, match=r"monitor.accept: .* write it above \[monitor\]"):
        read_monitor_spec(LABELS_ALONE | {"monitor": {"rules": [limit], "accept": "gap"}})


CONFIG = """
label = "approved"
prediction = "predicted"
positive = 1
sensitive = "sex"
[monitor]
horizon = 100
labels_within = 7
start = "2026-11-01"
rules = [{metric = "selection_rate.ratio", at_least = 0.8, groups = ["F"]}, "DPPL <= 0.1"]
"""
WRONG = {
    "horizon = 100": "horizon = 0",
    "labels_within = 7": "labels_within = 0",
    "at_least = 0.8": "at_leat = 0.8",
    "start =": "begin =",
}


def validated(tmp_path, text):
    """Return the result of validating a specification file, and what its schema objects to."""
    (tmp_path / "day.csv").write_text("sex,approved,predicted\nF,1,1\nF,0,0\nM,1,1\nM,0,1\n")
    config = tmp_path / "monitor.toml"
    config.write_text(text)
    made = json.loads(fairgauge("schema", "spec").output)
    jsonschema.Draft202012Validator.check_schema(made)
    objections = jsonschema.Draft202012Validator(made).iter_errors(tomllib.loads(text))
    return fairgauge("validate", tmp_path / "day.csv", "-c", config), list(objections)


@pytest.mark.parametrize("right", WRONG)
def test_a_mistake_in_the_table_of_a_monitor_fails_both_checks(tmp_path, right):
    result, objections = validated(tmp_path, CONFIG.replace(right, WRONG[right]))
    assert result.exit_code == 2
    assert "monitor." in result.output
    assert objections
