"""A rule does not pass by counting as unfavourable what may be favourable, or no outcome."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.reasons import ReasonCode

RULES = ["selection_rate.ratio >= 0.6"]


def rows(value: str, of: int = 100, refused: str = "denied", role: str = "outcome") -> pl.DataFrame:
    """Return rows of two groups of equal rates; some of one have another value."""
    return pl.DataFrame({
        role: ["approved"] * 300 + [value] * of + [refused] * (500 - of)
        + ["approved"] * 300 + [refused] * 500,
        "g": ["a"] * 800 + ["b"] * 800,
    })  # fmt: skip


def audited(table: pl.DataFrame, **more: object) -> fg.Report:
    asked = {"prediction": "outcome", "positive": "approved", "sensitive": "g", "rules": RULES}
    return fg.audit(table, **{**asked, **more})


@pytest.mark.parametrize(
    "value",
    ["Approved ", "pending", "withdrawn", "Not yet decided", "Not assessed", "9999", "n/a", "1"],
)  # fmt: skip
def test_unclear_outcomes_withhold_a_pass_as_blank_ones_do(value):
    """It was PASS with a warning, and a pipeline that reads exit codes went on."""
    report = audited(rows(value))
    (verdict,) = report.verdicts
    assert (verdict.outcome, verdict.reason.code) == (
        Outcome.INCONCLUSIVE, ReasonCode.UNCLEAR_VALUES
    )  # fmt: skip
    assert (verdict.reason["what"], verdict.reason["rows"]) == ("clear prediction", 100)
    assert fg.Report.from_dict(report.to_dict()).verdicts == report.verdicts
    text = " ".join(str(report).split())
    assert "because a warning puts the data in doubt" in text
    assert "100 rows have no clear prediction" in text
    steps = " ".join(map(str, report.brief().steps))
    assert "Analyst: first do what the warnings ask" in steps
    assert "collect more rows" not in steps


def of_classes(spelt: str, of: str = "p", kappa: bool = False) -> tuple[pl.DataFrame, dict]:
    """Return rows of three classes, of which one column spells a fifth of one otherwise."""
    rng = np.random.default_rng(3)
    man, y = rng.random(4_000) < 0.5, rng.choice(["hog", "mellan", "lag"], 4_000)
    other = np.where(y == "hog", "mellan", np.where(y == "mellan", "lag", "hog"))
    p = np.where(rng.random(4_000) < np.where(man, 0.95, 0.9), y, other)
    table = pl.DataFrame({"g": np.where(man, "m", "f"), "y": y, "p": p, "clear": p})
    some = (pl.col(of) == "mellan") & (pl.int_range(pl.len()) % 5 == 0)
    rule = "|cohen_kappa.difference| <= 0.4" if kappa else "|accuracy.difference| <= 0.4"
    return table.with_columns(pl.when(some).then(pl.lit(spelt)).otherwise(of).alias(of)), {
        "label": "y", "prediction": "p", "sensitive": "g", "rules": rule
    }  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("kappa", [False, True])
@pytest.mark.parametrize("of", ["p", "y"])
@pytest.mark.parametrize("spelt", ["Mellan", "mellan "])
def test_spellings_of_a_class_withhold_a_pass(spelt, of, kappa):
    """They are classes of their own, of which a prediction is never right: a warning, and PASS."""
    table, asked = of_classes(spelt, of, kappa)
    report = fg.audit(table, **asked)
    assert {(each.outcome, each.reason.code) for each in report.verdicts} == {
        (Outcome.INCONCLUSIVE, ReasonCode.UNCLEAR_VALUES)
    }
    assert report.exit_code == 3
    rows = (table[of] == spelt).sum()
    assert {each.reason["rows"] for each in report.verdicts} == {rows}
    note = next(d for d in report.diagnostics if d.code is DiagnosticCode.SAME_NAMES)
    assert "favourable" not in note.message
    assert "count as different classes" in note.message
    lines = [d["line"] for d in report.diagnostics if d.code is DiagnosticCode.SAME_NAMES]
    assert fg.audit(table, **asked, recode=lines).exit_code == 0
    assert fg.audit(table, **asked, recode=lines[:1]).exit_code == len(lines[1:]) * 3
    same = fg.audit(table, **asked, task="multiclass", positive=["mellan", spelt])
    assert same.exit_code == 3  # of classes it states nothing


@pytest.mark.parametrize(
    ("value", "outcome"),
    [("pending", "inconclusive"), ("approved ", "inconclusive"), ("denied", "pass")],
)
def test_people_whose_outcome_is_unclear_withhold_a_pass(value, outcome):
    """A person with several decisions counts once, and it was not known how many are unclear."""
    table = rows(value).with_row_index("person").with_columns(day=pl.lit(1))
    earlier = table.with_columns(pl.lit("denied").alias("outcome"), day=pl.lit(0))
    report = audited(pl.concat([table, earlier]), person="person")
    assert report.verdict == outcome
    assert ("100 people have no clear prediction" in " ".join(str(report).split())) is (
        outcome != "pass"
    )


@pytest.mark.parametrize(("who", "code"), [
    (lambda i: i, "never_repeats"),
    (lambda i: "unknown" if i % 5 == 0 else f"p{i % 400}", "placeholder_identifier"),
    (lambda i: f"p{i % 400}" if i % 3 else f"P{i % 400} ", "alike_identifiers"),
])  # fmt: skip
def test_clusters_that_are_none_withhold_a_pass(who, code):
    """Their intervals are as narrow as those of independent rows, and a warning stated why."""
    table = rows("denied").with_columns(who=pl.Series([str(who(i)) for i in range(1_600)]))
    doubted, accepted = (audited(table, cluster="who", accept=e) for e in ((), f"{code}:who"))
    assert (doubted.verdict, accepted.verdict) == (Outcome.INCONCLUSIVE, Outcome.PASS)
    assert doubted.estimates == accepted.estimates
    known = table.with_columns(who=pl.Series([f"p{i % 400}" for i in range(1_600)]))
    assert audited(known, cluster="who").verdict is Outcome.PASS


@pytest.mark.parametrize(("unknown", "inconclusive"), [(8, False), (1_200, True)])
def test_an_identifier_of_many_people_withholds_a_pass(unknown, inconclusive):
    """1,200 refused women counted as one person: a warning, PASS and exit code 0."""
    n = 1_200
    table = pl.DataFrame({
        "who": [f"p{i}" for i in range(2 * n)] + ["UNKNOWN"] * unknown,
        "g": ["f", "m"] * n + ["f"] * unknown,
        "outcome": ["approved", "approved", "denied", "denied"] * (n // 2) + ["denied"] * unknown,
    })  # fmt: skip
    report = audited(table, person="who")
    (note,) = (d for d in report.diagnostics if d.code is DiagnosticCode.PLACEHOLDER_IDENTIFIER)
    (verdict,) = report.verdicts
    if not inconclusive:
        assert verdict.outcome is Outcome.PASS
        return
    assert (verdict.outcome, verdict.reason.code) == (
        Outcome.INCONCLUSIVE, ReasonCode.UNCLEAR_VALUES
    )  # fmt: skip
    assert report.exit_code == 3
    assert "1,200 rows have no clear identifier of one person" in " ".join(str(report).split())
    (step,) = map(str, report.brief().steps)
    assert step.startswith("Analyst: first do what the warnings ask")
    recoded = audited(table, person="who", recode=note["line"])
    assert [each.outcome for each in recoded.verdicts] == [Outcome.FAIL]
    one = audited(table, person="who", recode={"who": {"UNKNOWN": ["UNKNOWN"]}})
    assert one.exit_code == 0
    assert DiagnosticCode.PLACEHOLDER_IDENTIFIER not in {d.code for d in one.diagnostics}


def scored(**columns: str) -> pl.DataFrame:
    """Return rows with labels, a useful score, and others that are computed from these."""
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=800)
    table = pl.DataFrame({"y": y, "u": rng.random(800), "g": [*"ab"] * 400})
    table = table.with_columns(useful=0.25 * pl.col("y") + 0.75 * pl.col("u"))
    return table.with_columns(pl.sql_expr(f"{made} AS {name}") for name, made in columns.items())


@pytest.mark.parametrize("made", ["y * 1.0", "0.2 + 0.6 * y", "0.1 + y * 0.1234", "y"])
def test_a_score_that_copies_the_label_withholds_a_pass(made):
    """A score of 1.0 for one label and 0.0 for the other passed, and nothing was said."""
    asked = {"label": "y", "positive": 1, "sensitive": "g", "score": "s", "threshold": 0.5}
    report = fg.audit(scored(s=made), **asked, rules=["accuracy >= 0.1", "roc_auc >= 0.8"])
    assert report.exit_code == 3
    assert {each.outcome for each in report.verdicts} == {Outcome.INCONCLUSIVE}
    text = " ".join(str(report).split())
    assert "800 rows have no score apart from the label" in text
    assert (
        "the score 's' has one value where the label 'y' is positive, another elsewhere, in all "
        "800 rows; check that it is the model's score, not a copy of the outcome"
    ) in text
    assert "first do what the warnings ask" in " ".join(map(str, report.brief().steps))
