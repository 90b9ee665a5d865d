"""Every method that made a confidence interval is described where the interval is shown."""

import pytest
from tests.every_result import LOANS, loans, result

import fairgauge as fg
from fairgauge.enums import IntervalMethod
from fairgauge.render.documents.report_notes import described_methods, method_name
from fairgauge.render.grammar import english

STOCK = ["loans", "spreads", "three classes", "strata", "scores", "estimated groups with answers"]


def test_every_method_is_described_by_a_sentence():
    for method in IntervalMethod:
        text = english().table["method"][method]
        assert text[0].isupper(), method
        assert text.endswith("."), method
        assert len(text) < 200, method


@pytest.mark.parametrize("name", [*STOCK, "bayes"])
def test_every_method_of_a_report_is_described_once(name):
    report = fg.audit(loans(), **LOANS, method=name) if name == "bayes" else result(name)
    used = {m for e in report.estimates if e.interval for m in e.interval.methods}
    assert used
    described = [each["name"] for each in described_methods(report)]
    assert len(described) == len(set(described))
    assert set(map(method_name, used)) <= set(described)
