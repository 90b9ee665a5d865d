"""Rules with alternatives, and rules that significance decides: practical significance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import Decide, Outcome

AIR, DIFFERENCE = "selection_rate.ratio", "selection_rate.difference"
PRACTICAL = f"{AIR} >= 0.9 or {DIFFERENCE} >= -0.05"
LENDING = {
    "White": (13142, 14461),
    "Black": (1065, 1337),
    "Native": (81, 94),
    "Asian": (1224, 1286),
}


def lend(rules, counts=LENDING, **options):
    return fg.audit(
        selected(counts, "race"), metrics=[AIR, DIFFERENCE], rules=rules,
        reference={"race": "White"}, **options,
    )  # fmt: skip


def outcomes(report):
    return {each.group: str(each.outcome) for each in report.verdicts}


def test_a_practically_significant_disparity_takes_a_ratio_and_a_difference():
    report = lend([PRACTICAL])
    assert outcomes(report) == {"Black": "fail", "Native": "inconclusive", "Asian": "pass"}
    (black,) = (each for each in report.verdicts if each.group == "Black")
    assert [each.metric for each in black.alternatives] == [AIR, DIFFERENCE]
    assert black.says == (
        "selection rate ratio 0.88, 95% CI 0.85 to 0.8998: the whole confidence interval is below "
        "0.9 (fail); selection rate difference −11.2 pp, 95% CI −13.5 to −9.1: the whole "
        "confidence interval is below −5 pp (fail); it does not remain when all comparisons are "
        "judged together"
    )


def test_by_practice_the_value_decides_and_significance_is_asked_besides():
    rule = fg.rule(AIR, at_least=0.96, alternatives=f"{DIFFERENCE} >= -0.04", decide="significant")
    report = lend([rule])
    # Native American: 81 of 94, ratio .948 and -4.7 pp, p .147 by Fisher's test
    assert outcomes(report) == {"Black": "fail", "Native": "inconclusive", "Asian": "pass"}
    (native,) = (each for each in report.verdicts if each.group == "Native")
    assert "outside the limits, but does not differ statistically significantly" in native.says


@given(st.tuples(*(st.integers(0, 300) for _ in range(4))), st.sampled_from(list(Decide)))
def test_the_verdict_is_the_best_of_its_limits(selected, decide):
    counts = {name: (x, 300) for name, x in zip(LENDING, selected, strict=True)}
    limits = [{"metric": AIR, "at_least": 0.9}, {"metric": DIFFERENCE, "at_least": -0.05}]
    one, other = (outcomes(lend([{**each, "decide": decide}], counts)) for each in limits)
    together = {**limits[0], "alternatives": [limits[1]], "decide": decide}
    order = ["pass", "inconclusive", "not_evaluated", "fail"]
    for group, outcome in outcomes(lend([together], counts)).items():
        assert outcome == min(one[group], other[group], key=order.index)


def test_a_limit_that_nothing_is_held_against_is_never_a_pass():
    counts = {"White": (90, 100), "B": (50, 100)}
    with pytest.raises(fg.SpecError, match=r"rules\[0\].metric: roc_auc.difference needs a score"):
        lend([f"{AIR} >= 0.9 or roc_auc.difference >= 0"], counts)
    report = lend([f"{AIR} >= 0.9 or false_positive_rate.ratio >= 0.1"], counts)
    assert report.verdict is Outcome.INCONCLUSIVE
