"""Two reports compared: numbers by hand, directions, verdicts, refusals, and the command."""

import dataclasses
import json
import math
import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.needs import EVERY_CASE
from tests.selected_groups import selected

import compared_reports as pairs
import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import ClassKind, Direction, Outcome, ReferenceKind, Status, WhyIncomplete
from fairgauge.measure.compare_reports import changes
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render import render
from fairgauge.results.comparison import Change
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import OVERALL, POOLED, Interval, Reference


def estimate(value, low=None, high=None, metric="RD", **more):
    level = more.pop("confidence", 0.95)
    known = {"set": "clarify", "feature": "sex", "group": "F"}
    known["reference"] = Reference(ReferenceKind.OTHERS)
    interval = None if low is None else Interval(low, high, level)
    return Estimate(metric=metric, value=value, interval=interval, **(known | more))


def change(old, new, **more):
    (found,) = changes([(old, new)], **more)
    return found


# --- the numbers ---------------------------------------------------------------------------------


def test_a_difference_changes_by_a_difference_with_movers_limits():
    found = change(estimate(0.10, 0.04, 0.16), estimate(0.30, 0.22, 0.39))
    assert found.by == "difference"
    assert found.change == pytest.approx(0.2)
    assert found.interval.low == pytest.approx(0.2 - math.hypot(0.08, 0.06))  # by hand: 0.1
    assert found.interval.high == pytest.approx(0.2 + math.hypot(0.09, 0.06))
    assert (found.direction, found.crossed, found.significant) == (Direction.FURTHER, False, True)


@pytest.mark.parametrize(
    ("old", "new", "direction", "crossed"),
    [
        ((0.2, 0.15, 0.25), (0.05, 0.0, 0.1), Direction.CLOSER, False),
        ((-0.2, -0.25, -0.15), (0.05, 0.0, 0.1), Direction.CLOSER, True),
        ((0.02, -0.03, 0.07), (-0.2, -0.25, -0.15), Direction.FURTHER, True),
        ((-0.05, -0.1, 0.0), (-0.2, -0.25, -0.15), Direction.FURTHER, False),
    ],
)
def test_directions_are_seen_from_no_difference(old, new, direction, crossed):
    found = change(estimate(*old), estimate(*new))
    assert (found.direction, found.crossed, found.significant) == (direction, crossed, True)


@pytest.mark.parametrize("half", [0.02, 0.0498, 0.0502, 0.2])
def test_the_p_value_and_the_limits_agree(half):
    share = half / math.sqrt(2)
    old, new = (estimate(v, v - share, v + share) for v in (0.1, 0.15))
    found = change(old, new)
    assert (found.change_p_value < 0.05) == (found.interval.low > 0) == (half < 0.05)
    assert found.significant == (found.interval.low > 0)


def test_what_rests_on_too_few_rows_is_never_beyond_doubt():
    few = estimate(0.6, 0.5, 0.7, status=Status.TOO_FEW)
    assert not change(estimate(0.1, 0.05, 0.15), few).significant
    assert change(estimate(0.1, 0.05, 0.15), few).interval


def test_many_changes_are_one_family():
    lonely = (estimate(0.1, 0.05, 0.15), estimate(0.175, 0.125, 0.225))
    assert changes([lonely])[0].significant
    flat = (estimate(0.1, 0.05, 0.15), estimate(0.1, 0.05, 0.15))
    found = changes([lonely, *[flat] * 10])
    assert found[0].change_p_adjusted == pytest.approx(11 * found[0].change_p_value)
    assert not any(each.significant for each in found)


# --- two reports ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def months():
    return fg.compare(*pairs.months())


def test_what_got_worse_comes_first(months):
    assert months.worse
    first = months.changes[0]
    assert first.significant
    assert first.direction is Direction.FURTHER
    order = [(each.significant, each.direction is Direction.FURTHER) for each in months.changes]
    sure = [further for each, further in order if each]
    assert sure == sorted(sure, reverse=True)
    assert [each for each, _ in order] == sorted((each for each, _ in order), reverse=True)


RATIO = ["selection_rate.ratio >= 0.8"]
GROUPS = {"W": {"tp": 800, "fn": 200}, "B": {"tp": 700, "fn": 300}, "A": {"tp": 300, "fn": 700}}


def two(old, new, **options):
    asked = {"rules": RATIO, "metrics": "selection_rate.ratio"} | options
    return fg.compare(pairs.report(old, **asked), pairs.report(new, **asked), same_rows=False)


def unmatched(found):
    return [
        (each.report, each.verdict.group, str(each.verdict.outcome), each.reason.code)
        for each in found.unmatched
    ]


def test_a_verdict_whose_group_is_gone_is_neither_better_nor_unchanged():
    found = two(GROUPS, {name: GROUPS[name] for name in "WB"}, reference={"race": "W"})
    assert unmatched(found) == [("old", "A", "fail", ReasonCode.ABSENT)]
    assert (len(found.stayed), found.flips, found.worse) == (1, (), False)
    assert found.why_incomplete
    assert (found.old.verdict, found.new.verdict) == (Outcome.FAIL, Outcome.PASS)
    back = two({name: GROUPS[name] for name in "WB"}, GROUPS, reference={"race": "W"})
    assert unmatched(back) == [("new", "A", "fail", ReasonCode.ABSENT)]
    assert back.why_incomplete  # it fails, and nothing is known of then
    assert not back.worse
    for each in (found, back):
        assert "Nothing changed" not in str(each)
    for text in (str(found), render(found, "markdown"), render(found, "html")):
        words = " ".join(re.sub(r"<[^>]*>|[*|\\]", " ", text).split())
        assert "1 has no counterpart in the new report" in words
        assert "A (race)" in words
        assert "the new report has no such group" in words
    assert Change.from_dict(json.loads(found.to_json())) == found


@pytest.mark.parametrize("gone", ["W", "B"])
@pytest.mark.parametrize("share", [0.9, 0.5, 0.8])
def test_whichever_of_two_groups_is_gone_is_no_green_light(gone, share):
    """Without the men, whose verdict is that of the women, a gate on what is worse was green."""
    old = {"W": {"tp": 500, "fn": 500}, "B": {"tp": round(500 * share), "fn": 1_000}}
    new = {name: cells for name, cells in old.items() if name != gone}
    found = two(old, new)
    assert (found.worse, bool(found.why_incomplete)) == (False, True)
    few = two(old, old | {gone: {"tp": 3, "fn": 3}})
    assert (few.worse, bool(few.why_incomplete)) == (False, True)


def test_a_group_of_which_hardly_a_row_is_left_is_no_green_light():
    old = {"W": {"tp": 500, "fn": 500}, "B": {"tp": 400, "fn": 500}}
    left = {"W": old["W"], "B": {"tp": 40, "fn": 40}}
    assert two(old, left).why_incomplete == (WhyIncomplete.GROUP_GONE,)
    all_fewer = {"W": {"tp": 40, "fn": 40}, "B": left["B"]}
    assert WhyIncomplete.GROUP_GONE not in two(old, all_fewer).why_incomplete


def test_rows_that_only_one_report_leaves_out_are_no_green_light():
    rows = {
        "sex": ["F", "M"] * 400, "p": [1, 1, 0, 1] * 200, "site": ["a", "b", "b"] * 266 + ["a"] * 2,
    }  # fmt: skip
    by = [
        fg.audit(pl.DataFrame(rows), prediction="p", positive=1, sensitive="sex", where=where,
                 accept="group_of_one_outcome:sex")
        for where in ({}, {"site": "a"}, {"site": "b"})
    ]  # fmt: skip
    assert fg.compare(*by[:2]).why_incomplete == (WhyIncomplete.OTHER_ROWS,)
    assert not fg.compare(*by[1:]).why_incomplete  # as of two periods


@pytest.mark.parametrize("lost", ["sex", "p"])
def test_many_more_rows_that_lack_something_are_no_green_light(lost):
    """Of 22% of the women who are refused; what is left of a gap of 6 points passed as before."""
    old, new = (
        pl.DataFrame({"sex": ["F", "M"] * 5_000, "p": [i % 100 < n for i in range(10_000)]})
        for n in (50, 44)
    )
    new = new.with_columns(
        p=pl.col("p") | ((pl.col("sex") == "M") & (pl.int_range(10_000) % 9 < 1))
    )
    gone = (pl.col("sex") == "F") & ~pl.col("p") & (pl.int_range(10_000) % 100 > 86)
    asked = {"prediction": "p", "positive": True, "sensitive": "sex",
             "rules": "selection_rate.ratio >= 0.8"}  # fmt: skip
    less = new.with_columns(pl.when(~gone).then(lost).alias(lost))
    before, after = (fg.audit(rows, **asked) for rows in (old, less))
    assert after.verdict is Outcome.PASS
    found = fg.compare(before, after)
    assert found.exit_code == 3
    assert WhyIncomplete.MORE_LACK in found.why_incomplete


def test_a_verdict_whose_rule_is_gone_is_no_green_light():
    old, new = (
        pairs.report(GROUPS, rules=rules, metrics="selection_rate.ratio", reference={"race": "W"})
        for rules in (RATIO, [])
    )
    found = fg.compare(old, new)
    assert (found.worse, bool(found.why_incomplete)) == (False, True)
    assert "Nothing changed" not in str(found)
    back = fg.compare(new, old)
    assert not back.why_incomplete  # a rule that is new has nothing to be held against


@given(
    st.lists(st.sampled_from("ABCD"), min_size=2, unique=True),
    st.lists(st.sampled_from("ABCD"), min_size=2, unique=True),
    st.sampled_from(["others", "best", "largest", "overall"]),
)
def test_every_verdict_is_compared_or_listed(old, new, reference):
    cells = {name: {"tp": 90 - 9 * i, "fn": 40 + i} for i, name in enumerate("ABCD")}
    found = two({n: cells[n] for n in old}, {n: cells[n] for n in new}, reference=reference)
    asked = {"rules": RATIO, "metrics": "selection_rate.ratio", "reference": reference}
    for which, names in (("old", old), ("new", new)):
        verdicts = pairs.report({n: cells[n] for n in names}, **asked).verdicts
        alone = [each for each in found.unmatched if each.report == which]
        assert len(found.flips) + len(found.stayed) + len(alone) == len(verdicts)


def test_strata_are_compared_each_with_itself():
    def audit(shares):
        rows = [
            {
                "y": 1, "p": int(i % 2 == 1 or (i // 2) % 10 < share), "sex": "FM"[i % 2],
                "dept": dept,
            }
            for dept, share in shares.items()
            for i in range(400)
        ]  # fmt: skip
        return fg.audit(
            pl.DataFrame(rows), label="y", prediction="p", sensitive="sex", strata="dept",
            metrics="RD",
        )  # fmt: skip

    found = fg.compare(audit({"A": 9, "B": 9}), audit({"B": 9, "C": 1, "A": 1}), same_rows=False)
    women = {each.after.scope: each for each in found.changes if each.group == "F"}
    of = {scope.stratum: each for scope, each in women.items() if scope.stratum}
    assert (women.keys() >= {OVERALL, POOLED}, len(women), *of) == (True, 4, "A", "B")
    assert of["A"].change == pytest.approx(0.8)
    assert not of["B"].moved
    assert found.changes[0].after.scope == OVERALL, "all rows come before single strata"
    assert ("estimate", "RD", "new") in {(e.what, e.name, e.report) for e in found.alone}


# --- the same rows -------------------------------------------------------------------------------


def test_the_same_rows_give_no_interval_where_dependence_could_explain_a_change():
    old, new = pairs.models()
    found = fg.compare(old, new)
    assert found.same_rows
    assert found.refused == Reason.of(ReasonCode.SAME_ROWS, evidence="sizes")
    assert all(each.interval is None and not each.significant for each in found.changes)
    assert any(each.direction is Direction.FURTHER for each in found.changes)
    assert fg.compare(old, old).refused["evidence"] == "fingerprint"


@pytest.mark.parametrize(
    ("stated", "asked", "why"),
    [
        (None, {}, (WhyIncomplete.SAME_COUNTS,)),
        (False, {}, (WhyIncomplete.SAME_COUNTS,)),
        (True, {}, ()),
        (None, {"min_n": 50}, ()),
    ],
)
def test_the_same_counts_are_no_comparison_unless_they_are_meant(stated, asked, why):
    """A file that was copied to the name of the next month had ended with 0."""
    old, _ = pairs.models()
    found = fg.compare(old, spec(old, **asked), same_rows=stated)
    assert (found.why_incomplete, found.exit_code) == (why, 3 if why else 0)
    assert ("a copy of the other" in " ".join(str(found).split())) is bool(why)


# --- asked differently ---------------------------------------------------------------------------


def spec(report, **changed):
    return dataclasses.replace(report, spec={**report.spec, **changed})


def test_reports_about_different_things_are_refused_all_reasons_at_once():
    old, new = pairs.months()
    with pytest.raises(fg.SpecError) as caught:
        fg.compare(spec(old, label="approved"), spec(new, label="repaid", positive=["yes"]))
    assert str(caught.value) == (
        "label: 'approved' in the old report, 'repaid' in the new one: their numbers mean "
        "different things and cannot be compared; audit both alike\n"
        "positive: '1' in the old report, 'yes' in the new one: their numbers mean "
        "different things and cannot be compared; audit both alike"
    )


def test_what_is_no_report_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old, _ = pairs.months()
    old.save("old.json")
    cube = fg.confusion("sex", {"F": {"tp": 1}, "M": {"tp": 2}})
    cube.save("day.cube.json")
    fg.compare(old, old).save("diff.json")
    (tmp_path / "loans.csv").write_text("a,b\n1,2\n")

    def said(new):
        with pytest.raises(fg.DataError) as caught:
            fg.compare("old.json", new)
        return str(caught.value)

    make = "fairgauge audit DATA ... -o report.json makes one"
    assert said("loans.csv") == f"'loans.csv' is no report of fairgauge; {make}"
    assert said("diff.json") == f"'diff.json' is no report of fairgauge; {make}"
    assert said("no.json") == "no file 'no.json'"
    assert said("day.cube.json") == f"'day.cube.json' is no report of fairgauge; {make}"
    assert said(cube) == "cannot compare a Cube; compare two reports, or the files of two"


# --- the command ---------------------------------------------------------------------------------


def test_a_verdict_is_worse_where_its_disparity_grew_or_intervals_share_no_value():
    men = {"tp": 6000, "fn": 4000}
    rule = [fg.rule("selection_rate.difference", between=(-0.1, 0.1))]
    passed, nearly, open_, failed = (
        pairs.report({"F": {"tp": x, "fn": 10000 - x}, "M": men}, rules=rule, metrics="DPPL")
        for x in (5800, 5200, 5080, 4800)
    )
    assert open_.verdict is Outcome.INCONCLUSIVE
    for new in (open_, failed):
        found = fg.compare(passed, new, same_rows=False)
        assert (found.verdict, found.worse) == ("worse", True)
    same = fg.compare(passed, failed, same_rows=True)
    assert (same.verdict, same.worse) == ("worse", True)
    assert nearly.verdict is Outcome.PASS
    same = fg.compare(nearly, open_, same_rows=True)
    assert not any(each.significant for each in same.changes)
    assert (same.worse, bool(same.why_incomplete)) == (False, True)


def month(shares, n=4_000):
    """Return the report of one month: the share selected of F and of M, in one metric."""
    counts = {name: (round(n * share), n) for name, share in zip("FM", shares, strict=True)}
    return fg.audit(selected(counts, "sex"), metrics="selection_rate.difference")


def test_a_disparity_that_changes_sides_is_described_by_who_is_now_worse_off():
    found = fg.compare(month((0.428, 0.500)), month((0.560, 0.500), 3_900))
    (one,) = found.changes
    assert (one.changed, one.crossed, one.other_side, one.significant) == (True, True, True, False)
    text = " ".join(str(found).split())
    assert "People with sex M have prediction = 1 less often than people with sex F" in text
    assert "in the old report it was the reverse" in text
    assert (
        "1 difference between groups changed statistically significantly, not shown to be larger"
        in text
    )


def test_a_direction_is_family_wise_too():
    """Of nine groups that change sides and keep their distance none is called closer or further.

    With a distance tested by itself alone, some would be in 1 - .95^9 = 37% of pairs of reports.
    """
    rng = np.random.default_rng(26)
    names, called = "ABCDEFGHI", 0
    for _ in range(60 if EVERY_CASE else 20):
        sides = []
        for sign in (1, -1):
            share = {name: 0.5 + sign * (-1) ** i * 0.04 for i, name in enumerate(names)}
            counts = {"R": {"tp": 20_000, "fp": 0, "fn": 0, "tn": 20_000}}
            for name in names:
                k = int(rng.binomial(3_000, share[name]))
                counts[name] = {"tp": k, "fp": 0, "fn": 0, "tn": 3_000 - k + sign}
            sides.append(
                fg.audit(fg.confusion("g", counts), reference={"g": "R"},
                         metrics="selection_rate.difference")
            )  # fmt: skip
        found = fg.compare(*sides, same_rows=False)
        assert sum(each.changed for each in found.changes) >= 7
        called += any(each.significant for each in found.changes)
    assert called <= (8 if EVERY_CASE else 3)  # 5% of 60, or of 20, and three standard errors


CLASSES = ("urgent", "soon", "routine")
OF_CLASSES = {
    "prediction": "p", "task": "multiclass", "count": "n", "sensitive": "g",
    "reference": {"g": "m"}, "metrics": ["selection_rate.ratio"],
}  # fmt: skip


def _of_classes(f, m=(1_000, 2_000, 1_000), classes=CLASSES, **more):
    """Return a report on how often two groups are put in each class."""
    rows = [(g, c, n) for g, of in (("f", f), ("m", m)) for c, n in zip(classes, of, strict=True)]
    table = pl.DataFrame(rows, schema=["g", "p", "n"], orient="row")
    return fg.audit(table, **(OF_CLASSES | more))


def test_no_class_is_compared_with_another():
    """0.70 of urgent, which improved, to 1.29 of routine, which hardly moved, "changed sides"."""
    old, new = _of_classes((700, 2_050, 1_250)), _of_classes((820, 1_890, 1_290))
    found = fg.compare(old, new, same_rows=False)
    assert {each.after.class_ for each in found.changes if each.after.class_} == {*CLASSES}
    assert all(each.before.class_scope == each.after.class_scope for each in found.changes)
    assert not any(each.class_scope.kind is ClassKind.WORST for c in found.changes
                   for each in (c.before, c.after))  # fmt: skip
    assert not found.worse
    assert not found.alone
    assert not fg.compare(old, new).worse  # of the same rows
    assert found.changes[0].after.class_ == "urgent"
    assert found.changes[0].direction is Direction.CLOSER


def test_labels_that_became_the_predictions_leave_nothing_compared():
    """The new report's errors were all 0, and the comparison exited with 0: nothing got worse."""
    rng = np.random.default_rng(2)
    p, sex = rng.integers(0, 2, 2_000), rng.choice(["F", "M"], 2_000)
    right = rng.random(2_000) < 0.8
    asked = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "sex"}
    old, new = (
        fg.audit({"sex": sex, "p": p, "y": y}, **asked) for y in (np.where(right, p, 1 - p), p)
    )
    found = fg.compare(old, new)
    assert (found.exit_code, found.why_incomplete) == (3, (WhyIncomplete.DOUBTED,))


def test_rules_of_one_text_that_are_decided_in_two_ways_are_both_compared():
    men = {"tp": 50, "fn": 50}
    rules = [
        {"metric": "selection_rate.ratio", "at_least": 0.8, "decide": decide, "groups": ["F"]}
        for decide in ("point", "interval")
    ]
    old, new = (
        pairs.report({"F": {"tp": x, "fn": 100 - x}, "M": men}, rules=rules,
                     metrics="selection_rate.ratio") for x in (50, 30)
    )  # fmt: skip
    found = fg.compare(old, new)
    outcomes = [(str(e.old.outcome), str(e.new.outcome)) for e in (*found.flips, *found.stayed)]
    assert len(outcomes) == 2
    assert ("pass", "fail") in outcomes


def report(rates, n=300, metrics="selection_rate.ratio", **asked):
    """Audit groups that differ in their rates, each compared with the best of them."""
    sizes = n if isinstance(n, dict) else dict.fromkeys(rates, n)
    counts = {g: (round(sizes[g] * rate), sizes[g]) for g, rate in rates.items() if sizes[g]}
    return fg.audit(selected(counts), **{"reference": "best", "metrics": metrics} | asked)


def test_changes_to_other_references_are_not_tested():
    old = report({"a": 0.5, "b": 0.4, "c": 0.35})
    new = report({"a": 0.45, "b": 0.55, "c": 0.3}, 400)
    found = fg.compare(old, new)
    untested = [each for each in found.changes if each.untested]
    assert [each.group for each in untested] == ["c"]
    assert all(each.change_p_value is None and each.reason for each in untested)
    text = " ".join(render(found, "text", full=True).split())
    assert "Not statistically significant" not in text
    assert "not tested: " in text
    assert "1 difference between groups changed, not tested" in text
    assert str(found.brief().headline) in render(found, "text", quiet=True)


def of_two(n_f, rate_f=0.5, **rules):
    sizes = {"F": n_f, "M": 2_000}
    return report({"F": rate_f, "M": 0.5}, sizes, "selection_rate.difference", reference="others",
                  **rules)  # fmt: skip


def test_a_group_that_is_gone_leaves_nothing_that_did_not_change():
    """It was "no difference between groups changed statistically significantly", and no 3."""
    found = fg.compare(of_two(2_000), of_two(0))
    assert (found.compared, bool(found.why_incomplete), found.worse) == (False, True, False)
    assert str(found.brief().headline) == "No comparison of groups has a value in both reports"


@pytest.mark.parametrize(("rows", "incomplete"), [(10, False), (60, True)])
def test_a_group_that_is_gone_is_no_green_light(rows, incomplete):
    """Without rules, the group that was worst off was gone, and the exit code 0."""
    groups = [*"ab"] * 300 + ["c"] * rows
    table = pl.DataFrame({"g": groups, "p": [*[1, 0, 0, 1] * 150, *[0, 1] * (rows // 2)]})
    asked = {"prediction": "p", "positive": 1, "sensitive": "g"}
    before, after = fg.audit(table, **asked), fg.audit(table.head(600), **asked)
    assert bool(fg.compare(before, after, same_rows=False).why_incomplete) is incomplete
    assert not fg.compare(after, before, same_rows=False).why_incomplete


def test_a_gate_fails_where_a_difference_or_a_verdict_got_worse(tmp_path):
    paths = [str(tmp_path / name) for name in ("old.json", "new.json")]
    rule = {"rules": ["selection_rate.ratio >= 0.8"]}
    cases = [
        (of_two(1_200), of_two(1_500, 0.3)),
        (of_two(1_200, 0.4), of_two(1_500, 0.7)),
        (of_two(1_200, **rule), of_two(1_500, 0.3, **rule)),
    ]
    for old, new in cases:
        for each, path in zip((old, new), paths, strict=True):
            each.save(path)
        run = CliRunner().invoke(main, ["compare", *paths, "--fail-on", "worse", "-q"])
        assert run.exit_code == 1


@pytest.mark.parametrize(
    ("rate", "n", "worse"),
    [(0.62, 2_400, False), (0.5, 2_400, False), (0.38, 2_400, True), (0.3, 2_400, True),
     (0.45, 24_000, False)],
)  # fmt: skip
def test_a_group_that_is_worse_off_after_it_was_better_off_is_worse(rate, n, worse):
    """From +10 to -12 points is no further from no difference, and it ended with 0.

    At 0.45 it changed sides, too, and is closer.
    """
    asked = {"metrics": "selection_rate.difference", "reference": {"g": "b"},
             "rules": ["selection_rate.ratio >= 0.5"]}  # fmt: skip
    old = report({"a": 0.6, "b": 0.5}, 2_000, **asked)
    new = report({"a": rate, "b": 0.5}, n, **asked)
    found = fg.compare(old, new)
    assert found.worse is worse
    if rate == 0.38:
        change = found.changes[0]
        assert (change.other_side, change.significant) == (True, False)
