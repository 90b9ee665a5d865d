"""What a user writes, for type checkers: mypy --strict and pyright must see the real types."""

from typing import Any, assert_type

import fairgauge as fg
from fairgauge_check import Check, check

sex = ["F", "M", "M"]
report = fg.audit(
    label=[1, 0, 1], prediction=[1, 1, 0], sensitive={"sex": sex}, rules=["DI >= 0.8"], seed=1
)
assert_type(report, fg.Report)
assert_type(report["DI", "sex", "F"], fg.Estimate)
assert_type(report["DI", "sex", "F"].value, float | None)
assert_type(report["DI", "sex", "F"].says, str)
assert_type([verdict.rule for verdict in report.verdicts], list[str])
assert_type(report.to_json(), str)
assert_type(report.check(inconclusive="pass"), fg.Report)

counts = fg.count("loans.csv", label="paid", sensitive=["sex", fg.cut("age", [40])])
assert_type(counts, fg.Cube)
assert_type(counts + counts, fg.Cube)
assert_type(fg.audit(counts, metrics=[fg.rate("missed", of=fg.FN, among=fg.TP + fg.FN)]), fg.Report)
loaded = fg.load("loans.cube.json")
assert isinstance(loaded, fg.Cube | fg.Report | Check)
assert_type(loaded, fg.Cube | fg.Report | Check)
assert_type(check("published.csv"), Check)
assert_type(fg.compare(report, report), fg.Change)
assert_type(fg.rule("DI", at_least=0.8), fg.Rule)


def frame(rows: Any) -> fg.Report:
    return fg.audit(rows, label="paid", score="p", positive=fg.above(0.5), sensitive="sex")


fg.audit("loans.csv", lable="paid", sensitive="sex")  # type: ignore[call-arg]
fg.audit("loans.csv", label=5, sensitive="sex")  # type: ignore[arg-type]
fg.audit("loans.csv", sensitive="sex", confidence="high")  # type: ignore[arg-type]
fg.audit([1, 0], [1, 1], sensitive_features=sex)  # type: ignore[arg-type, call-arg]
fg.rule("DI", atleast=0.8)  # type: ignore[call-arg]
report.verdct  # type: ignore[attr-defined]
