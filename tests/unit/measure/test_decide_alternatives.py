"""Rules with alternatives, and rules that significance decides: practical significance."""

from __future__ import annotations

import itertools
import re

import jsonschema
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import Decide, Outcome
from fairgauge.question.rules import Rule, parse_rule
from fairgauge.reasons import ReasonCode
from fairgauge.render import render
from fairgauge.render.words.verdict_sentences import describe_outcome
from fairgauge.results.report import Report
from fairgauge.results.verdicts import counted_as

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
        "selection rate ratio 0.88: the whole 95% CI (0.85 to 0.8998) is below 0.9 (fail); "
        "selection rate difference −11.2 pp: the whole 95% CI (−13.5 to −9.1 pp) is below −5 pp "
        "(fail); every limit fails; it does not remain when all comparisons are judged together"
    )


NUMBERS = {
    "Black": ("0.88", "0.85 to 0.90", "−11.2 pp", "−13.5 to −9.1"),
    "Native": ("0.95", "0.86 to 1.01", "−4.7 pp", "−13.1 to +0.9"),
    "Asian": ("1.05", "1.03 to 1.06", "+4.3 pp", "+2.9 to +5.4"),
}


def saved(report, path):
    report.save(path)
    return flat(path.read_text(encoding="utf-8"))


def flat(text):
    return " ".join(text.replace("&gt;", ">").split())


@pytest.mark.parametrize("decide", ["interval", "significant"])
def test_every_output_shows_the_number_and_interval_of_every_limit(tmp_path, decide):
    rule = fg.rule(AIR, at_least=0.96, alternatives=f"{DIFFERENCE} >= -0.04", decide=decide)
    report = lend([rule])
    written = {name: saved(report, tmp_path / name) for name in ("r.html", "r.md", "r.xml")}
    for verdict in report.verdicts:
        numbers = NUMBERS[verdict.group]
        shown = [written["r.html"], written["r.md"], verdict.says]
        if verdict.outcome is not Outcome.PASS:  # JUnit says nothing of what passes
            shown += [written["r.xml"], describe_outcome(report, verdict)]
        for text in shown:
            assert all(number in text for number in numbers)
    text = flat(render(report, "text"))
    assert "FAIL for Black (selection rate ratio 0.88, CI 0.85 to 0.90" in text
    assert "difference −11.2 pp, CI −13.5 to −9.1" in text


def test_an_open_rule_says_which_limits_fail_and_which_are_open():
    rule = fg.rule(AIR, at_least=0.9, alternatives=f"{DIFFERENCE} >= 0.01")
    report = lend([rule])
    (native,) = (each for each in report.verdicts if each.group == "Native")
    assert native.says == (
        "selection rate ratio 0.95: the 95% CI (0.86 to 1.01) includes 0.9 (inconclusive); "
        "selection rate difference −4.7 pp: the whole 95% CI (−13.1 to +0.9 pp) is below 1 pp "
        "(fail); no limit passes, and not all fail"
    )
    assert (
        "selection rate ratio 0.95, CI 0.86 to 1.01: inconclusive; selection rate difference "
        "−4.7 pp, CI −13.1 to +0.9: fail"
    ) in flat(render(lend([rule], {k: v for k, v in LENDING.items() if k != "Black"}), "text"))


def test_what_is_counted_as_a_pass_or_a_fail_keeps_its_numbers():
    for outcome in (Outcome.PASS, Outcome.FAIL):
        (native,) = (
            each for each in counted_as(lend([PRACTICAL]).verdicts, outcome)
            if each.group == "Native"
        )  # fmt: skip
        assert all(number in native.says for number in NUMBERS["Native"])
        assert native.says.endswith(f"inconclusive counts as {outcome}")


def test_what_fails_alone_and_not_in_its_family_keeps_its_numbers():
    counts = LENDING | {"Black": (1180, 1337)}
    limits = f"{AIR} >= 0.985 or {DIFFERENCE} >= -0.008"
    report = lend([limits], counts, multiplicity="familywise", confidence=0.6)
    reasons = [each for each in report.verdicts if each.reason.code is ReasonCode.FAMILYWISE]
    for each in reasons:
        assert " and selection rate difference −" in each.says
        assert each.says.count("60% CI (") == 2
    assert reasons


@pytest.mark.parametrize("format_", ["text", "html", "markdown"])
def test_rules_that_significance_decides_say_so(format_):
    rule = {"metric": AIR, "at_least": 0.96}
    by_interval, significant = (
        flat(render(lend([{**rule, "decide": decide}]), format_))
        for decide in ("interval", "significant")
    )
    assert "rate ratio >= 0.96 (fails only if significant)" in significant
    assert "fails only if significant" not in by_interval
    assert "significant" in lend([{**rule, "decide": "significant"}]).verdicts[-1].says


def test_limits_that_decide_differently_by_group_claim_no_common_way():
    rules = [
        {"metric": AIR, "at_least": 0.8, "groups": [group], "decide": decide}
        for group, decide in (("Black", "significant"), ("Asian", "interval"))
    ]
    assert "fails only if significant" not in flat(render(lend(rules), "html"))


def test_by_practice_the_value_decides_and_significance_is_asked_besides():
    rule = fg.rule(AIR, at_least=0.96, alternatives=f"{DIFFERENCE} >= -0.04", decide="significant")
    report = lend([rule])
    # Native American: 81 of 94, ratio .948 and -4.7 pp, p .147 by Fisher's test
    assert outcomes(report) == {"Black": "fail", "Native": "inconclusive", "Asian": "pass"}
    (native,) = (each for each in report.verdicts if each.group == "Native")
    assert "outside the limits and not statistically significant" in native.says


def test_the_draft_of_colorado_takes_five_points_and_significance():
    counts = {"White": (900, 1000), "Small": (86, 100), "Large": (800, 1000), "Near": (860, 1000)}
    report = fg.audit(
        selected(counts, "race"),
        preset="colorado-insurance-draft-2023",
        reference={"race": "White"},
    )
    # 4 points are below the limit, however significant; of 100 people neither is shown
    assert outcomes(report) == {"Small": "pass", "Large": "fail", "Near": "pass"}


@given(st.tuples(*(st.integers(0, 300) for _ in range(4))), st.sampled_from(list(Decide)))
def test_the_verdict_is_the_best_of_its_limits(selected, decide):
    counts = {name: (x, 300) for name, x in zip(LENDING, selected, strict=True)}
    limits = [{"metric": AIR, "at_least": 0.9}, {"metric": DIFFERENCE, "at_least": -0.05}]
    one, other = (outcomes(lend([{**each, "decide": decide}], counts)) for each in limits)
    together = {**limits[0], "alternatives": [limits[1]], "decide": decide}
    order = ["pass", "inconclusive", "not_evaluated", "fail"]
    for group, outcome in outcomes(lend([together], counts)).items():
        assert outcome == min(one[group], other[group], key=order.index)


def test_the_order_of_alternatives_changes_no_verdict():
    both = PRACTICAL.split(" or ")
    made = [outcomes(lend([" or ".join(each)])) for each in itertools.permutations(both)]
    assert made[0] == made[1]


def test_text_table_and_keywords_are_one_rule():
    table = {"metric": AIR, "at_least": 0.9, "alternatives": [f"{DIFFERENCE} >= -0.05"]}
    made = fg.rule(AIR, at_least=0.9, alternatives=fg.rule(DIFFERENCE, at_least=-0.05))
    assert parse_rule(PRACTICAL) == made
    assert str(made) == PRACTICAL
    assert (
        lend([table]).spec["rules"] == lend([made]).spec["rules"] == lend([PRACTICAL]).spec["rules"]
    )


def test_rules_are_saved_and_read_again(tmp_path):
    report = lend([PRACTICAL, f"{AIR} >= 0.8"])
    jsonschema.validate(report.to_dict(), Report.json_schema())
    report.save(tmp_path / "report.json")
    again = fg.load(tmp_path / "report.json")
    assert again.verdicts == report.verdicts
    words = "election rate ratio >= 0.9 or selection rate difference >= −5 pp"
    for format_ in ("text", "html", "markdown"):
        assert words in " ".join(render(again, format_).replace("&gt;", ">").split())


def test_alternatives_are_one_comparison_of_the_family():
    """A false fail takes both limits to fail, so that no level is spent on the second."""
    limits = [f"{AIR} >= 0.95", f"{DIFFERENCE} >= -0.02"]
    alone = lend(limits[:1], multiplicity="familywise")
    both = lend([" or ".join(limits)], multiplicity="familywise")
    family = [
        next(each for each in report.diagnostics if str(each.code) == "fails_together")
        for report in (alone, both)
    ]
    assert [dict(each.parameters)["comparisons"] for each in family] == [3, 3]
    assert outcomes(both)["Black"] == "fail"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"metric": "accuracy", "at_least": 0.9, "decide": "significant"}, "no value of no differ"),
        (f"{AIR} >= 0.9 or GE <= 0.2", "GE is no number of a single group"),
        ({"metric": AIR, "at_least": 0.9, "alternatives": ["x"]}, "cannot read 'x'"),
        ({"metric": AIR, "at_least": 0.9, "alternatives": [{"metric": "x", "at_least": 1}]}, "'x'"),
        (
            {"metric": AIR, "at_least": 0.9,
             "alternatives": [{"metric": DIFFERENCE, "at_least": 0, "groups": ["Black"]}]},
            r"alternatives\[0\].groups: unknown key",
        ),
        (
            {"metric": AIR, "at_least": 0.9, "alternatives": [Rule(DIFFERENCE, 0, groups=("x",))]},
            "takes a metric and its limits alone",
        ),
        (f"{AIR} >= 0.9 or ", "cannot read"),
    ],
)  # fmt: skip
def test_rules_that_cannot_be_decided(rule, message):
    with pytest.raises(fg.SpecError, match=message):
        lend([rule])


def test_a_limit_that_nothing_is_held_against_is_never_a_pass():
    counts = {"White": (90, 100), "B": (50, 100)}
    with pytest.raises(fg.SpecError, match=r"rules\[0\].metric: roc_auc.difference needs a score"):
        lend([f"{AIR} >= 0.9 or roc_auc.difference >= 0"], counts)
    report = lend([f"{AIR} >= 0.9 or false_positive_rate.ratio >= 0.1"], counts)
    assert report.verdict is Outcome.INCONCLUSIVE


def test_monitors_and_thresholds_take_single_limits():
    with pytest.raises(fg.SpecError, match="rules: has alternatives"):
        fg.thresholds(
            {"y": [1, 0], "score": [0.9, 0.1], "sex": ["F", "M"]},
            label="y", score="score", sensitive="sex", rules=PRACTICAL,
        )  # fmt: skip


OBSTACLES = {
    "without a group": (None, "yes", "no"),
    "without an outcome": ("Black", None, None),
    "of unclear meaning": ("not available", "yes", "no"),
}


def unrecorded(race, hired, refused):
    """Return Black and White people, and 640 rows that lack a group or an outcome."""
    cells = [("Black", "yes", 850), ("Black", "no", 150), ("White", "yes", 4300),
             ("White", "no", 700), (race, hired, 500), (race, refused, 140)]  # fmt: skip
    return pl.DataFrame(
        [cell[:2] for cell in cells for _ in range(cell[2])], ["race", "hired"], orient="row"
    )


@pytest.mark.parametrize("decide", [Decide.INTERVAL, Decide.SIGNIFICANT])
@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_a_rule_with_alternatives_states_why_it_is_open_as_a_rule_of_one_limit_does(
    obstacle, decide
):
    """Its own reason names none: it read "the CI reaches both sides" and asked for more rows."""
    pages = []
    table = unrecorded(*OBSTACLES[obstacle])
    for others in ((), f"{DIFFERENCE} >= -0.05"):
        report = fg.audit(
            table, prediction="hired", positive="yes", sensitive="race",
            reference={"race": "White"},
            rules=[fg.rule(AIR, at_least=0.9, alternatives=others, decide=decide)],
        )  # fmt: skip
        assert str(report.verdict) == "inconclusive"
        brief, markdown = report.brief(), render(report, "markdown")
        (legend,) = re.findall("<sub>(Inconclusive: .*)</sub>", markdown)
        because = " ".join(map(str, brief.verdict)).partition("” is inconclusive ")[2]
        pages.append((legend, because, *map(str, [*brief.certainty, *brief.steps])))
    assert pages[0] == pages[1]
    assert not [text for text in pages[1] if "more rows" in text]
    if obstacle == "of unclear meaning":
        assert "it is unclear what many values mean" in pages[1][0]
        assert "because it is unclear what many values mean" in pages[1][1]
    else:
        assert f"rows {obstacle} could change what it shows" in pages[1][0]
