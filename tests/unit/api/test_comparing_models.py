"""What a comparison of models warns of: what an audit of each of them would."""

import numpy as np
import polars as pl
import pytest
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.enums import CandidateVerdict, DiagnosticCode, Level
from fairgauge.errors import DataError
from fairgauge.render import render

PEOPLE = rows()
UNDECIDED = DiagnosticCode.UNDECIDED_OUTCOMES
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
    why = f"every decision is {sign}, so that groups cannot differ in it"
    line = f"candidate: {str(verdict).upper()} ({why})"
    assert render(found, "text", quiet=True).startswith(line)
    assert line in render(found, "markdown")
    assert "check the decisions of candidate" in str(found)
    assert fg.ModelComparison.from_dict(found.to_dict()) == found


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
    of_scores = fg.compare_models(
        data, **asked, threshold=0.5, metrics="roc_auc.difference", margins={"accuracy": 0.9}
    )
    assert of_scores["then"].reason is None  # which compares no decisions


def test_a_candidate_whose_scores_are_all_the_same_is_not_better():
    """Its differences in the mean score are 0, and it was called better."""
    data = pl.DataFrame({
        "sex": ["F", "M"] * 300, "repaid": [1, 0, 1, 1, 0, 0] * 100,
        "now": [0.7, 0.2, 0.6, 0.8, 0.1, 0.3] * 100, "then": [0.3] * 600,
    })  # fmt: skip
    for metric in ("mean_score.difference", "score_ks"):
        asked = {"label": "repaid", "score": "now", "candidate": "then", "sensitive": "sex"}
        found = fg.compare_models(data, **asked, metrics=metric, margins={"brier_score": 0.9})
        (one,) = found.candidates
        assert one.verdict is CandidateVerdict.CANNOT_TELL
        text = render(found, "text")
        assert "every score is 0.3" in text
        assert "check the decisions of then, its scores" in text


def test_one_class_in_all_rows_is_one_decision():
    data = IN_WORDS.with_columns(
        pl.col("repaid", "current").replace({"denied": "part"}),
        candidate=pl.lit("part"),
    ).with_columns(repaid=pl.when(pl.col("sex") == "F").then(pl.lit("none")).otherwise("repaid"))
    found = fg.compare_models(
        data, **QUESTION, candidate="candidate", task="multiclass", margins={"accuracy": 0.9}
    )
    assert found["candidate"].verdict is CandidateVerdict.CANNOT_TELL
    assert "every decision is part" in render(found, "text", quiet=True)


def noted(found, code):
    return [each for each in found.diagnostics if each.code is code]


@pytest.mark.parametrize("label", ["repaid", None])
def test_a_decision_in_another_word_is_a_warning(label):
    word = pl.when(pl.col("region") == "north").then(pl.lit("granted (override)"))
    granted = pl.col("fairer") == "granted"
    found = compared(
        pl.when(granted).then(word.otherwise(pl.col("fairer"))).otherwise(pl.col("fairer")),
        label=label,
        margins=MARGINS if label else {"disparity": 0.08},
    )
    (each,) = noted(found, DiagnosticCode.PREDICTION_NOT_A_LABEL)
    rows_of = IN_WORDS.filter((pl.col("fairer") == "granted") & (pl.col("region") == "north"))
    assert each["rows"] == rows_of.height
    assert "granted (override)" in " ".join(str(found).split())
    assert ("label 'repaid' never has" if label else "model in use 'current' never") in str(each)


@pytest.mark.parametrize("label", ["repaid", None])
@pytest.mark.parametrize(
    "words", [{"denied": "0", "granted": "1"}, {"denied": "F", "granted": "T"}]
)
def test_decisions_in_the_words_of_no_label_are_refused(label, words):
    other = pl.col("fairer").replace_strict(words, return_dtype=pl.String)
    margins = {"disparity": 0.08}
    wanted = "name the favourable values of each" if label else "use the same values in both"
    with pytest.raises(fg.SpecError, match=rf"'candidate' holds .* {wanted}"):
        compared(other, label=label, margins=margins)


@pytest.mark.parametrize("label", ["repaid", None])
def test_a_code_of_missing_decisions_of_a_candidate_is_warned_of_once(label):
    """Two warnings were of the same rows; without labels the candidate's codes had none."""
    code = pl.when(pl.col("region") == "north").then(pl.lit("9999"))
    rows_of = IN_WORDS.filter(pl.col("region") == "north").height
    for in_use in ("current", "fairer"):
        data = IN_WORDS.with_columns(
            candidate=code.otherwise("fairer"), fairer=code.otherwise("fairer")
        )
        asked = {**QUESTION, "positive": "granted", "margins": {"disparity": 0.08}}
        found = fg.compare_models(
            data, **asked | {"label": label, "prediction": in_use}, candidate="candidate"
        )
        warned = [each for each in found.diagnostics if each.get("column") == "candidate"]
        assert [(e.code, e["rows"]) for e in warned] == [(UNDECIDED, rows_of)]


def test_a_label_of_a_code_of_missing_ones_is_warned_of_once():
    label = pl.when(pl.col("region") == "north").then(pl.lit("9999")).otherwise("repaid")
    found = fg.compare_models(
        IN_WORDS.with_columns(repaid=label),
        **QUESTION | {"positive": "granted"}, candidate="fairer", margins=MARGINS,
    )  # fmt: skip
    (each,) = [each for each in found.diagnostics if each.level is Level.WARNING]
    assert (each.code, each["column"]) == (UNDECIDED, "repaid")


def test_rows_without_a_group_or_a_stratum_are_warned_of_once():
    """Each model that lacks some decisions repeated them, with a few rows more or less."""
    one_in = {"repaid": 2, "sex": 5, "current": 4, "fairer": 6}
    lacking = {name: pl.when(pl.col("person") % n != 0).then(name) for name, n in one_in.items()}
    refused = (pl.col("person") % 7 < 3 * (1 - pl.col("current"))) | (pl.col("person") % 5 < 1)
    found = fg.compare_models(
        PEOPLE.with_columns(**lacking, region=pl.when(~refused).then("region")),
        **QUESTION | {"strata": "region"}, candidate="fairer", margins=MARGINS,
    )  # fmt: skip
    codes = [each.code for each in found.diagnostics]
    for code in (DiagnosticCode.MISSING_GROUPS, DiagnosticCode.MISSING_STRATA):
        assert codes.count(code) == 1


def test_half_of_the_decisions_in_upper_case_are_a_warning():
    half = pl.when(pl.col("region") == "north").then(pl.col("fairer").str.to_uppercase())
    found = compared(half.otherwise(pl.col("fairer")))
    assert noted(found, DiagnosticCode.SAME_NAMES)


def test_a_copy_of_the_label_is_a_warning():
    found = compared(pl.col("repaid"))
    (each,) = noted(found, DiagnosticCode.PREDICTION_IS_LABEL)
    assert each["column"] == "candidate"
    assert "not a copy of the outcome" in " ".join(str(found).split())


def test_who_is_excluded_is_stated_by_group():
    rng = np.random.default_rng(0)
    women = (PEOPLE["sex"] == "F").to_numpy()
    without = pl.Series(women & (rng.random(PEOPLE.height) < 0.3))
    found = compared(pl.when(~without).then(pl.col("fairer")))
    (each,) = noted(found, DiagnosticCode.MISSING_OUTCOMES)
    assert (each["rows"], each["most"]) == (without.sum(), "F")
    assert "have no decision by 'candidate'" in str(each)
    assert " ".join(str(each).split()) in " ".join(str(found).split())


def test_a_question_that_is_as_meant_has_no_warning():
    assert compared(pl.col("fairer")).diagnostics == ()


def test_the_class_is_named_and_the_accuracy_is_of_all_classes():
    rng = np.random.default_rng(6)
    classes = np.array(["bronze", "gold", "silver"])
    y = rng.integers(3, size=3_000)
    data = pl.DataFrame({
        "g": rng.choice(["A", "B"], len(y)), "y": classes[y],
        "p": classes[np.where(rng.random(len(y)) < 0.9, y, 0)],
    }).with_columns(c=pl.col("p").replace("gold", "Gold"))  # fmt: skip
    found = fg.compare_models(
        data, label="y", prediction="p", candidate="c", sensitive="g", margins={"accuracy": 0.01}
    )
    text = " ".join(str(found).split())
    assert "favourable decision" not in text
    assert "a positive decision" not in text
    (accuracy,) = found["c"].margins
    assert accuracy.change.old == pytest.approx((data["p"] == data["y"]).mean())
    old, new = accuracy.change.old, accuracy.change.new
    assert f"Accuracy: {old:.1%} under “p” and {new:.1%} under “c”" in text


@pytest.mark.each_value
@pytest.mark.parametrize("current", ["current", "fairer"])
@pytest.mark.parametrize("positive", [1, True, "true", None])
def test_one_model_may_decide_by_numbers_and_the_other_by_truths(current, positive):
    """As beside a label: 1 was "ambiguous", and no name of both was accepted."""
    candidate = {"current": "fairer", "fairer": "current"}[current]
    asked = {**QUESTION, "prediction": current, "positive": positive, "margins": MARGINS}
    numbers = fg.compare_models(PEOPLE, candidate=candidate, **asked)
    for column in (current, candidate):
        rows = PEOPLE.with_columns(pl.col(column).cast(pl.Boolean))
        found = fg.compare_models(rows, candidate=candidate, **asked)
        assert str(found) == str(numbers)


def test_a_rule_for_a_group_that_does_not_exist_is_a_warning():
    rule = fg.rule("selection_rate.difference", at_least=-0.2, groups=["Female"])
    found = compared(pl.col("fairer"), rules=[rule], margins={"accuracy": 0.02})
    (each,) = noted(found, DiagnosticCode.UNMATCHED)
    assert each["path"] == "rules[0].groups[0]"


@pytest.mark.parametrize("where", [{"groups": ["F"]}, {"features": ["sex"]}])
def test_a_rule_makes_the_margins_of_its_groups_and_features(where):
    rule = fg.rule("selection_rate.difference", at_least=-0.3, at_most=0.3, **where)
    asked = {
        "margins": {"accuracy": 0.02},
        "metrics": ["selection_rate.difference"],
        "rules": [rule],
    }
    found = compared(pl.col("fairer"), sensitive=["sex", "region"], **asked)["candidate"]
    held = {(one.feature, one.group) for one in found.disparities if one.margin is not None}
    assert held
    assert held <= ({("sex", "F")} if "groups" in where else {("sex", "F"), ("sex", "M")})


@pytest.mark.parametrize("lacking", [4, 200])
def test_many_rows_without_an_identifier_are_refused(lacking):
    """Changes of new customers, who have none yet, were in the change and not in its interval."""
    n = 400
    rows = pl.DataFrame({
        "y": [0, 1] * 200, "now": [1, 1, 0, 0] * 100, "new": [0, 1, 1, 0] * 100,
        "sex": ["F", "F", "M"] * 133 + ["M"],
        "who": [None if i < lacking else f"c{i // 2}" for i in range(n)],
    })  # fmt: skip
    asked = {"label": "y", "prediction": "now", "candidate": "new", "sensitive": "sex"}
    if lacking / n < 0.05:
        assert fg.compare_models(rows, **asked, cluster="who").candidates
        return
    with pytest.raises(DataError, match=r"200 of 400 rows .*--where 'who != \(missing\)'"):
        fg.compare_models(rows, **asked, cluster="who")
    assert fg.compare_models(rows, **asked, cluster="who", where="who != (missing)").candidates
