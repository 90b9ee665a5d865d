"""Verdicts that decide nothing, counted as a pass or a fail: every output shows the same."""

from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render import render
from fairgauge.results.verdicts import Verdict, counted_as, overall

REASONS = {
    Outcome.PASS: [ReasonCode.INSIDE],
    Outcome.FAIL: [ReasonCode.POINT_OUTSIDE],
    Outcome.INCONCLUSIVE: [ReasonCode.NO_INTERVAL],
    Outcome.NOT_EVALUATED: [ReasonCode.NO_VALUE, ReasonCode.NO_ESTIMATE],
}
UNMATCHED = {"what": "group", "name": "female"}


@st.composite
def verdicts(draw):
    outcome = draw(st.sampled_from([*REASONS]))
    code = draw(st.sampled_from(REASONS[outcome]))
    of = Reason.of(code, **(UNMATCHED if code is ReasonCode.NO_ESTIMATE else {}))
    return Verdict(
        rule="DI >= 0.8", metric="DI", feature="sex", group="F", outcome=outcome, reason=of
    )


several = st.lists(verdicts(), min_size=1, max_size=6)


@given(several)
def test_what_counts_as_a_fail_leaves_nothing_undecided(before):
    after = counted_as(before, Outcome.FAIL)
    passed = {verdict.outcome for verdict in before} == {Outcome.PASS}
    assert {verdict.outcome for verdict in after} <= {Outcome.PASS, Outcome.FAIL}
    assert overall(after) is (Outcome.PASS if passed else Outcome.FAIL)


@given(several)
def test_a_rule_that_matches_nothing_never_passes(before):
    after = counted_as(before, Outcome.PASS)
    measured = {each.rule for each in before if each.value is not None}
    for one, other in zip(before, after, strict=True):
        unmatched = one.reason.code is ReasonCode.NO_ESTIMATE or one.rule not in measured
        kept = unmatched or one.outcome is Outcome.FAIL
        assert other.outcome is (one.outcome if kept else Outcome.PASS)
    passed = all(each.outcome is Outcome.PASS for each in after)
    assert (overall(after) is Outcome.PASS) is passed


@given(several, st.sampled_from([Outcome.PASS, Outcome.FAIL]))
def test_decided_verdicts_stay_and_the_others_say_why(before, outcome):
    after = counted_as(before, outcome)
    assert counted_as(after, outcome) == after
    for one, other in zip(before, after, strict=True):
        if other != one:
            assert other.says.startswith(f"{one.says}; ")
            assert other.says.endswith(f" counts as {outcome}")
            assert other.reason["reasons"] == (one.reason,)


def test_a_group_that_a_rule_names_and_no_row_has_is_no_pass_in_any_format():
    women, men = {"tp": 50, "fn": 50}, {"tp": 55, "fn": 45}
    rule = {"metric": "selection_rate.ratio", "at_least": 0.1, "groups": ["F", "X"]}
    report = fg.audit(fg.confusion("sex", {"F": women, "M": men}), rules=[rule])
    junit = render(report, "junit")
    assert 'tests="2" failures="0" errors="0" skipped="1"' in junit
    assert '0.1: X" time="0">' in junit
    assert "there is no estimate of the group 'X'" in junit
    quiet = render(report, "text", quiet=True)
    assert "NOT EVALUATED (X): " in quiet
    assert report.exit_code == 3
