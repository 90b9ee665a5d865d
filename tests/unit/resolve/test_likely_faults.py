"""What an auditor would not want to overlook is warned of, and first where it changes numbers."""

import polars as pl

import fairgauge as fg
from fairgauge.enums import DiagnosticCode as Code


def _rows(n=240, **more):
    """Return applications, some without a sex or a decision."""
    found = {
        "sex": [None if i % 11 == 0 else "FM"[i // 2 % 2] for i in range(n)],
        "hired": [None if i % 13 == 0 else "yes" if i % 3 == 0 else "no" for i in range(n)],
    }
    return pl.DataFrame(found | more)


def test_the_task_is_that_of_the_columns_that_are_given():
    rows = _rows(label=[i % 2 for i in range(240)], score=[i / 240 for i in range(240)])

    def task(**options):
        report = fg.audit(rows, sensitive="sex", **options)
        return next(e.message for e in report.diagnostics if e.code is Code.TASK)

    assert task(prediction="hired", positive="yes").startswith("prediction is treated as binary")
    assert task(label="label").startswith("label is treated as binary")
    assert task(score="score", threshold=0.5).startswith("score is treated as binary")
    both = task(label="hired", prediction="hired", positive="yes")
    assert both.startswith("label and prediction are treated as binary")


def test_an_approved_request_is_no_decision_and_not_to_be_counted_as_one():
    rows = pl.DataFrame({"action_taken": [1, 2, 3, 8, 1] * 100, "race": [*"ABABA"] * 100})
    report = fg.audit(rows, prediction="action_taken", sensitive="race", positive=1)
    warned = {str(d.code): d for d in report.diagnostics if d.code in fg.enums.DOUBTS}
    assert warned["undecided_outcomes"]["values"] == ("8",)
    assert warned["approved_as_refused"]["positive"] == ("1", "2")
