"""Classes of several that mean a missing value are warned of, and can be excluded."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode

ROWS = 900
ASKED = {
    "label": "y", "prediction": "p", "sensitive": "g", "task": "multiclass", "metrics": "accuracy",
}  # fmt: skip


def rows(classes=("cancel", "sales", "other")):
    rng = np.random.default_rng(4)
    y = rng.choice(classes, ROWS)
    p = np.where(rng.random(ROWS) < 0.8, y, rng.choice(classes, ROWS))
    return pl.DataFrame({"g": rng.choice(["a", "b"], ROWS), "y": y, "p": p})


def warned(table, **more):
    found = fg.audit(table, **ASKED, **more)
    return found, [d for d in found.diagnostics if d.code is DiagnosticCode.CLASSES_OF_MISSING]


@pytest.mark.parametrize(
    "classes", [("none", "mild", "severe"), (-1, 0, 1), (7, 8, 9), ("a1", "99", "b2")]
)  # fmt: skip
def test_usual_classes_are_not_warned_of(classes):
    assert warned(rows(classes))[1] == []


@pytest.mark.parametrize(("value", "columns"), [(" ", ["y"]), ("N/A", ["p"]), ("9999", ["y", "p"])])
def test_a_class_that_means_a_missing_value_is_warned_of_and_excluded(value, columns):
    table = rows().with_columns(
        pl.when(pl.int_range(ROWS) % 20 > 0).then(name).otherwise(pl.lit(value)).alias(name)
        for name in columns
    )
    _, warnings = warned(table)
    assert [(each["column"], each["values"], each["rows"]) for each in warnings] == [
        (name, (value,), 45) for name in columns
    ]
    assert warnings[0].message in str(fg.audit(table, **ASKED)).replace("\n", " ")
    lines = [each["line"] for each in warnings]
    recoded, left = warned(table, recode="\n".join(lines))
    assert left == []
    lacking = table.with_columns(pl.col("y", "p").replace({value: None}))
    expected = fg.audit(lacking, **ASKED)
    assert [e.value for e in recoded.estimates] == [e.value for e in expected.estimates]
