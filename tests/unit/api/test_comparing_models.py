"""What a comparison of models warns of: what an audit of each of them would."""

import numpy as np
import polars as pl
import pytest
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.enums import CandidateVerdict, DiagnosticCode
from fairgauge.render import render

PEOPLE = rows()
MARGINS = {"accuracy": 0.02, "disparity": 0.08}
WORDS = {0: "denied", 1: "granted"}
IN_WORDS = PEOPLE.drop("person").with_columns(
    pl.col("repaid", "current", "fairer").replace_strict(WORDS, return_dtype=pl.String)
)


def compared(candidate, **options):
    data = IN_WORDS.with_columns(candidate=candidate)
    asked = {**QUESTION, "positive": "granted", "margins": MARGINS, **options}
    return fg.compare_models(data, candidate="candidate", **asked)


@pytest.mark.parametrize("word", ["granted", "denied"])
def test_a_candidate_that_decides_all_rows_alike_gets_no_favourable_verdict(word):
    """Accepting everybody closed every gap: "better, within all margins", and exit code 0."""
    few = pl.when(pl.int_range(pl.len()) % 20 == 0).then(pl.lit("denied"))
    data = IN_WORDS.with_columns(repaid=few.otherwise(pl.lit("granted")), candidate=pl.lit(word))
    asked = {**QUESTION, "positive": "granted", "margins": MARGINS}
    found = fg.compare_models(data, candidate="candidate", **asked)
    (one,) = found.candidates
    assert any(each.significant for each in one.disparities)
    accepts = word == "granted"
    verdict = CandidateVerdict.CANNOT_TELL if accepts else CandidateVerdict.WORSE
    assert (one.verdict, found.exit_code) == (verdict, 3 if accepts else 1)
    sign = "positive" if accepts else "negative"
    why = f"every decision is {sign}, so groups cannot differ in it"
    line = f"candidate: {str(verdict).upper()} ({why})"
    assert render(found, "text", quiet=True).startswith(line)
    assert line in render(found, "markdown")
    assert "check the decisions of candidate" in str(found)
    assert fg.Change.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("threshold", [0.5, [0.2, 0.5]])
def test_a_threshold_that_accepts_all_or_none_decides_all_rows_alike(threshold):
    rng = np.random.default_rng(0)
    data = PEOPLE.with_columns(
        now=0.4 * pl.col("current") + 0.3, then=pl.Series(rng.uniform(0.1, 0.4, PEOPLE.height))
    )
    asked = {"label": "repaid", "score": "now", "candidate": "then", "sensitive": "sex"}
    found = fg.compare_models(data, **asked, threshold=threshold, margins={"accuracy": 0.9})
    (one,) = found.candidates
    assert one.verdict is CandidateVerdict.CANNOT_TELL
    assert (one.reason["positive"], one.reason["threshold"]) == (False, 0.5)
    assert "negative at threshold 0.5" in render(found, "text", quiet=True)


def noted(found, code):
    return [each for each in found.diagnostics if each.code is code]


@pytest.mark.parametrize("label", ["repaid", None])
def test_a_decision_in_another_word_is_a_warning(label):
    word = pl.when(pl.col("region") == "north").then(pl.lit("override"))
    granted = pl.col("fairer") == "granted"
    found = compared(
        pl.when(granted).then(word.otherwise(pl.col("fairer"))).otherwise(pl.col("fairer")),
        label=label,
        margins=MARGINS if label else {"disparity": 0.08},
    )
    (each,) = noted(found, DiagnosticCode.PREDICTION_NOT_A_LABEL)
    rows_of = IN_WORDS.filter((pl.col("fairer") == "granted") & (pl.col("region") == "north"))
    assert each["rows"] == rows_of.height
    assert "override" in " ".join(str(found).split())
    assert ("label 'repaid' never has" if label else "model in use 'current' never") in str(each)
