"""An audit by a monitor's file of a day that has no labels yet: their rules wait for them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render import render

CONFIG = """
label = "repaid"
prediction = "approved"
positive = 1
sensitive = "sex"
[monitor]
labels_within = 7
rules = ["selection_rate.ratio >= 0.2", "true_positive_rate.difference >= -0.9", "accuracy >= 0.1"]
"""
RULES = {"selection_rate.ratio >= 0.2": "pass"}
WAITING = {"true_positive_rate.difference >= -0.9": "not_evaluated",
           "accuracy >= 0.1": "not_evaluated"}  # fmt: skip


def day(labels: str) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    decided, repaid = rng.integers(0, 2, (2, 2_000))
    rows = pl.DataFrame({"sex": rng.choice(["F", "M"], 2_000), "approved": decided,
                         "repaid": repaid})  # fmt: skip
    if labels == "absent":
        return rows.drop("repaid")
    known = {"empty": 0, "half": 1_000, "all": 2_000}[labels]
    return rows.with_columns(repaid=pl.when(pl.int_range(pl.len()) < known).then("repaid"))


@pytest.mark.parametrize("form", ["frame", "file", "command"])
@pytest.mark.parametrize("labels", ["absent", "empty", "half", "all"])
def test_rules_wait_for_labels_that_come_later(labels, form, tmp_path):
    (tmp_path / "monitor.toml").write_text(CONFIG)
    day(labels).write_csv(tmp_path / "today.csv")
    today, config = tmp_path / "today.csv", tmp_path / "monitor.toml"
    if form == "command":
        asked = ["audit", today, "-c", config, "-o", tmp_path / "a.json"]
        result = CliRunner().invoke(main, [str(each) for each in asked], catch_exceptions=False)
        report = fg.load(tmp_path / "a.json")
        assert result.exit_code == report.exit_code
    else:
        report = fg.audit(day(labels) if form == "frame" else today, config=config)
    found = {each.rule: str(each.outcome) for each in report.verdicts}
    notes = [each.message for each in report.diagnostics if each.code == "labels_later"]
    if labels in ("half", "all"):
        assert notes == []
        assert report.spec["label"] == "repaid"
        return
    assert report.exit_code == 3
    assert {rule: found[rule] for rule in (RULES | WAITING)} == RULES | WAITING
    assert notes == [
        (
            "no row has its label yet, 'repaid', which the monitor expects later: "
            "true_positive_rate.difference >= -0.9 and accuracy >= 0.1 wait for it and are not "
            "evaluated"
        ),
    ]
    page = render(report, "html")
    assert "The whole table" in page
    assert ">None<" not in page
    value = report["selection_rate.ratio", "sex", "F"].value
    assert value == pytest.approx(fg.audit(day("all"), config=config)
                                  ["selection_rate.ratio", "sex", "F"].value)  # fmt: skip
