"""The brief of several gaps: the gravest first, each sentence with the name of its group."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.every_result import result

import fairgauge as fg
from fairgauge.enums import GapPartKind, StratumWeights, WhyInconclusive
from fairgauge.render.document import document as decomposition_document
from fairgauge.render.formats import render
from fairgauge.statements.why import why_page
from fairgauge.stats.significance import score_p

# Z remains within both units, B is accounted for by them, and few rows are of C
COUNTS = {
    ("Z", "x"): (20, 200), ("Z", "y"): (60, 200), ("B", "x"): (190, 600), ("B", "y"): (60, 100),
    ("C", "x"): (2, 8), ("C", "y"): (3, 8), ("D", "x"): (70, 200), ("D", "y"): (380, 600),
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return fg.why(
        counted(), prediction="p", positive=1, sensitive="group", count="n", strata="unit"
    )


def stated(found, code):
    """Return the statements of a code on the first page."""
    return [each for each in why_page(found).statements if each.code == code]


def counted():
    return pl.DataFrame(
        [
            {"group": group, "unit": unit, "p": p, "n": n}
            for (group, unit), (ones, of) in COUNTS.items()
            for p, n in ((1, ones), (0, of - ones))
        ]
    )


def test_the_gravest_gap_is_the_headline_and_too_few_people_come_last(found):
    order = [gap.estimate.group for _, gap in found.gravest()]
    assert order[0] != found.gaps[0].estimate.group
    remaining = [gap for _, gap in found.gravest() if gap.verdict == found.verdict]
    within = [abs(gap.part("within").value) for gap in remaining]
    assert within == sorted(within, reverse=True)
    assert len(within) > 1
    assert order[-1] == "C"
    assert [found.gaps[i] for i, _ in found.gravest()] == [gap for _, gap in found.gravest()]
    assert found.brief().headline.text == (
        "People with group Z have p = 1 less often than all other people, also within unit on "
        "average"
    )


def test_gaps_that_are_not_shown_do_not_stand_on_the_first_page_beside_one_that_is():
    counts = {"Z": (40, 400), "A": (200, 400), "B": (201, 400)}
    rows = [
        {"group": g, "unit": u, "p": p, "n": n}
        for g, (x, of) in counts.items()
        for u in "xy"
        for p, n in ((1, x), (0, of - x))
    ]
    asked = {"sensitive": "group", "reference": {"group": "A"}, "strata": "unit", "count": "n"}
    found = fg.why(pl.DataFrame(rows), prediction="p", positive=1, **asked)
    assert [str(gap.verdict) for gap in found.gaps] == ["no gap shown", "remains"]
    stated = [str(each) for each in found.brief().found]
    assert stated[0] == "Of 100 people with group Z, 10 had p = 1; of 100 people with group A, 50."
    assert stated[-1] == "1 more comparison: people with group B (no gap shown)."
    assert not any("group B" in each for each in stated[:-1])


def test_a_gap_that_is_not_shown_takes_the_headline_from_none_that_is():
    """ "No difference between White and Samoan people is shown" hid a gap that is accounted for."""
    cells = {
        ("White", "a"): (480, 800), ("White", "b"): (2720, 3200), ("Black", "a"): (360, 600),
        ("Black", "b"): (340, 400), ("Samoan", "a"): (24, 30),
    }  # fmt: skip
    rows = [
        {"race": race, "zone": zone, "p": p, "n": n}
        for (race, zone), (ones, of) in cells.items()
        for p, n in ((1, ones), (0, of - ones))
    ]
    asked = {"sensitive": "race", "reference": {"race": "White"}, "strata": "zone", "count": "n"}
    found = fg.why(pl.DataFrame(rows), prediction="p", positive=1, **asked)
    assert {gap.estimate.group: str(gap.verdict) for gap in found.gaps} == {
        "Black": "accounted for", "Samoan": "inconclusive",
    }  # fmt: skip
    assert str(found.verdict) == "inconclusive"
    (head,) = stated(found, "why_headline")
    assert (head.who.values, head.shown, head.verdict) == (
        (("race", "Black"),), True, "accounted for",
    )  # fmt: skip
    assert [each.who.values for each in head.facts["open"]] == [(("race", "Samoan"),)]
    assert "inconclusive for people with race Samoan" in found.brief().headline.text
    text = " ".join(render(found, "text").split())
    assert text.index("INCONCLUSIVE (NOT COMPARABLE)") < text.index("ACCOUNTED FOR: Black")
    assert text.index("Black (race): selection rate difference") < text.index("other gaps")


def test_comparisons_that_are_not_stated_are_named_and_counted_once(found):
    """A difference and a ratio of one rate are one comparison, whatever a page has room for."""
    both = fg.why(
        counted(), prediction="p", positive=1, sensitive="group", count="n", strata="unit",
        metrics=["selection_rate.difference", "selection_rate.ratio"],
    )  # fmt: skip
    assert len(both.gaps) == 2 * len(found.gaps)
    last = [str(one.brief().found[-1]) for one in (found, both)]
    assert last[0] == last[1]
    number, named = int(last[0].split()[0]), last[0].partition(": ")[2]
    assert number == len(found.gaps) - 2 == named.count("people with group")
    text = render(found, "text", full=True)
    assert text.index("Z (group)") < text.index("B (group)")


def test_a_gap_in_pay_is_stated_as_averages():
    pay = {("F", "x"): 30, ("F", "y"): 40, ("M", "x"): 33, ("M", "y"): 43}
    rows = [{"sex": s, "unit": u, "pay": mean + d} for (s, u), mean in pay.items()
            for d in (-1, 1) for _ in range(20 + 40 * ((s == "F") == (u == "x")))]  # fmt: skip
    found = fg.why(pl.DataFrame(rows), label="pay", task="regression", sensitive="sex",
                   reference={"sex": "M"}, strata="unit")  # fmt: skip
    brief = found.brief()
    assert str(brief.headline) == (
        "Average pay is lower for people with sex F than for people with sex M, also within unit"
    )
    average, parts = map(str, brief.found)
    assert average == (
        "Average pay: 8.0 lower for people with sex F (32.5) than for people with sex M (40.5), "
        "0.80 times as high."
    )
    assert parts == (
        "People with sex F, compared with people with sex M in the same unit: on average 3 lower "
        "(95% CI between 2.7 and 3.3 lower). To compare people in the same unit, quote this "
        "difference (within). That they are spread differently over unit (composition) accounts "
        "for 5 lower (95% CI between 4.0 and 6.0 lower); these add up to the gap."
    )
    rows += [{"sex": s, "unit": None, "pay": 40 + d} for s in "FM" for d in (-1, 1)]
    found = fg.why(pl.DataFrame(rows), label="pay", task="regression", sensitive="sex",
                   reference={"sex": "M"}, strata="unit")  # fmt: skip
    overall = str(found.brief().found[0])
    assert overall == (
        "Over all rows: Average pay: 7.9 lower for people with sex F (32.6) than for people with "
        "sex M (40.5), 0.80 times as high (between 6.9 and 8.9 lower, 95% CI). What follows is of "
        "the rows with unit."
    )


def test_the_verdict_names_groups_by_what_becomes_of_their_gaps(found):
    text = " ".join(render(found, "text").split())
    assert "REMAINS: " in text
    assert "INCONCLUSIVE (TOO FEW): C" in text
    assert "The verdicts hold for all 4 gaps together (Holm)" in text


def test_the_gap_of_berkeley_is_stated_as_counts():
    brief = result("why").brief()
    assert str(brief.headline) == (
        "Women were admitted less often than men; in Dept A they were admitted more often"
    )
    shares, parts, outlying = map(str, brief.found)
    assert shares == "Of 100 women, 30 were admitted; of 100 men, 45."
    assert "in the same Dept: on average 3.6 more of 100 (95% CI between 0.1 and 7 more)" in parts
    assert "(composition) accounts for 17.8 fewer of 100 (95% CI between 15 and 20 fewer)" in parts
    rates = "of 100 women, 82 were admitted; of 100 men, 62"
    assert outlying == f"In Dept A the difference is in the other direction: {rates}."


def test_cases_are_called_as_the_user_calls_them():
    brief = result("why").brief()
    assert str(brief.looked_at[0]) == "4,526 cases, all used."
    rows = pl.DataFrame({"p": [1, 0, 1, 0] * 2, "g": ["a", "a", "b", "b"] * 2,
                         "s": ["x"] * 4 + ["y"] * 4, "n": [30, 20, 10, 40] * 2})  # fmt: skip
    asked = {"prediction": "p", "sensitive": "g", "strata": "s"}
    counted = fg.why(rows, **asked, count="n").brief()
    assert str(counted.looked_at[0]) == "200 cases, all used."
    named = fg.why(rows, **asked, count="n", words={"unit": "loans", "noun": "people"}).brief()
    assert str(named.looked_at[0]) == "200 loans, all used."
    of_rows = fg.why(pl.concat([rows] * 9), **asked, words={"noun": "applicants"}).brief()
    assert str(of_rows.looked_at[0]) == "72 rows, all used."


def test_one_difference_within_strata_is_named_to_quote_and_the_others_by_their_names():
    brief = result("why").brief()
    texts = [str(each) for each in (*brief.found, *brief.certainty)]
    assert not any("quote this difference" in each for each in texts)  # it varies over Dept
    assert sum("quote each Dept separately, not this average." in each for each in texts) == 1
    (ways,) = (each for each in texts if " ways to average over Dept do not all" in each)
    for name in ("shares of women", "shares of men"):
        assert name in ways


def by_grade(shifts):
    """Return pay by sex and grade, of which each grade has its own difference."""
    rng = np.random.default_rng(0)
    sex, grade = rng.choice(["F", "M"], 2_000), rng.integers(0, len(shifts), 2_000)
    pay = 30_000 + 5_000 * grade + rng.normal(0, 3_000, 2_000)
    rows = pl.DataFrame(
        {"sex": sex, "grade": 8 + grade, "pay": pay - np.array(shifts)[grade] * (sex == "F")}
    )
    return fg.why(rows, label="pay", task="regression", sensitive="sex", reference={"sex": "M"},
                  strata="grade")  # fmt: skip


def test_cases_to_read_are_of_strata_in_which_the_worse_off_are_shown_to_be():
    steps = " ".join(map(str, result("why").brief().steps))
    assert "Dept A" not in steps  # where women are admitted more often
    found = by_grade([900, 900, 0, 1_100])
    assert "remains" in str(found.verdict)
    (gap,) = found.gaps
    shown = {each.stratum["grade"] for each in gap.strata if each.interval.high < 0}
    assert 1 < len(shown) < 4
    (step,) = (str(each) for each in found.brief().steps if "read cases" in str(each))
    assert set(re.findall(r"grade (\d+)", step)) == shown
    assert "statistically significant, all strata judged together" in step


def test_cases_to_read_are_not_of_strata_that_are_shown_only_where_each_is_judged_alone():
    (gap,) = (found := by_grade([900, 900, 450, 0])).gaps
    p = {
        each.stratum["grade"]: each.difference_p_adjusted
        for each in gap.strata
        if each.interval.high < 0
    }
    shown = {grade for grade, value in p.items() if value < 0.05}
    assert shown
    assert shown < p.keys()
    (step,) = (str(each) for each in found.brief().steps if "read cases" in str(each))
    assert set(re.findall(r"grade (\d+)", step)) == shown


def test_cases_to_read_are_of_the_groups_whose_difference_is_shown_there():
    """Regions were named where nobody of the only group that the page speaks of is."""
    counts = {("X", "N"): (7, 13), ("X", "S"): (6, 12)}
    for region in "NSE":
        counts |= {("B", region): (60, 600), ("A", region): (450, 1_500)}
    rows = [(*at, y, n) for at, (x, of) in counts.items() for y, n in ((1, x), (0, of - x))]
    table = pl.DataFrame(rows, schema=["g", "region", "p", "n"], orient="row")
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "strata": "region", "count": "n"}
    steps = [str(each) for each in fg.why(table, **asked).brief().steps]
    (step,) = (each for each in steps if "read cases" in each)
    assert "region E: the difference of people with g B from all other people there is" in step


def test_differences_in_strata_are_tested_together_of_means_and_of_rates():
    (gap,) = by_grade([900, 900, 450, 0]).gaps
    for each in gap.strata:  # adjusted at most by the number of strata (Bonferroni)
        shown = each.simultaneous_low > 0 or each.simultaneous_high < 0
        assert shown is (each.difference_p_adjusted < 0.05)
    (gap,) = result("why").gaps
    counts = [(round(e.rate_group * e.n_group), e.n_group,
               round(e.rate_reference * e.n_reference), e.n_reference)
              for e in gap.strata]  # fmt: skip
    p = score_p(*zip(*counts, strict=True))
    assert [e.difference_p_adjusted for e in gap.strata] == pytest.approx(
        np.minimum(6 * p, 1).tolist()
    )


def test_no_cases_are_read_where_eight_people_of_a_branch_show_nothing():
    """Five of 8 beside 188 of 200 were a difference among 20 branches (p = 0.016; Fisher: 0.28)."""
    counts = [("J", "B00", 5, 8), ("N", "B00", 188, 200)]
    for i in range(1, 20):
        counts += [("J", f"B{i:02}", 7, 8), ("N", f"B{i:02}", 186, 200)]
    rows = [(g, b, y, n) for g, b, x, of in counts for y, n in ((1, x), (0, of - x))]
    table = pl.DataFrame(rows, schema=["g", "branch", "ok", "n"], orient="row")
    asked = {"prediction": "ok", "positive": 1, "count": "n", "sensitive": "g"}
    (gap,) = (found := fg.why(table, **asked, reference={"g": "N"}, strata="branch")).gaps
    first = next(each for each in gap.strata if each.stratum["branch"] == "B00")
    assert first.difference_p_adjusted > 0.2
    assert "read cases" not in " ".join(map(str, found.brief().steps))


def test_a_group_that_is_added_does_not_make_another_gap_pass():
    """A branch 35 points apart was outlying alone; beside ages the gap was accounted for."""
    rows = []
    for i in range(40):
        of = (50, 200) if i % 2 else (100, 100)
        yes = (45, 180) if i % 2 else (70, 70)
        if i == 6:
            of, yes = (25, 140), (10, 105)
        for race, n, y in zip(("Black", "White"), of, yes, strict=True):
            for age in ("a", "b", "c", "d", "e"):
                rows += [(f"B{i:02}", race, age, 1, y / 5), (f"B{i:02}", race, age, 0, (n - y) / 5)]
    table = pl.DataFrame(rows, schema=["branch", "race", "age", "ok", "n"], orient="row")
    asked = {"prediction": "ok", "positive": 1, "count": "n", "strata": "branch"}
    asked |= {"metrics": "selection_rate.difference"}
    alone = fg.why(table, sensitive="race", reference={"race": "White"}, **asked)
    assert [each.stratum["branch"] for each in alone.gaps[0].strata if each.outlying] == ["B06"]
    reference = {"race": "White", "age": "c"}
    beside = fg.why(table, sensitive=["race", "age"], reference=reference, **asked)
    (gap,) = (each for each in beside.gaps if each.estimate.feature == "race")
    assert (gap.verdict, gap.reason) == ("inconclusive", "may vary")
    assert not any(each.outlying for each in gap.strata)
    assert "branch B06" in " ".join(map(str, beside.brief().certainty))


@pytest.mark.parametrize("unlike", [None, 10])
def test_strata_that_are_numbers_are_by_their_difference_behind_outlying_ones(unlike):
    """In their order, the first page showed codes 1, 2 and 4, and not the 31 that differs."""
    rows = [
        {"sex": sex, "level": level, "p": p, "n": n}
        for level in (11, 9, 12, 8, 7, 10)
        for sex, share in (("F", 0.9 if level == unlike else 0.40 + level / 100), ("M", 0.55))
        for p, n in ((1, round(300 * share)), (0, 300 - round(300 * share)))
    ]
    (gap,) = fg.why(
        pl.DataFrame(rows), prediction="p", positive=1, sensitive="sex", count="n", strata="level"
    ).gaps
    outlying = [int(each.stratum["level"]) for each in gap.strata if each.outlying]
    assert outlying == [unlike] * (unlike is not None)
    rest = [each.difference for each in gap.strata if not each.outlying]
    assert rest == sorted(rest, reverse=gap.estimate.value > 0)
    assert [each.outlying for each in gap.strata] == [True] * len(outlying) + [False] * len(rest)


def test_that_a_decision_may_change_the_column_is_among_what_is_not_shown():
    for found in (result("why"), by_grade([900] * 4)):
        limits = " ".join(map(str, found.brief().limits))
        assert "Where a column, such as a grade, is itself the result of" in limits


@pytest.mark.parametrize("metric", ["difference", "ratio"])
@pytest.mark.parametrize("reference", ["M", "F"])
def test_ways_to_average_that_agree_are_one_short_sentence_that_spans_them(metric, reference):
    """Its ends are those of all ways, of a ratio read from the side that is worse off."""
    found = controlled(-8, reference, metrics=f"selection_rate.{metric}")
    parts = [part.value for part in found.gaps[0].parts if part.part is GapPartKind.WITHIN]
    turned = reference == "F"
    values = [(1 / each if turned else each) if metric == "ratio" else abs(100 * each)
              for each in parts]  # fmt: skip
    ends = [f"{each:.{2 if metric == 'ratio' else 1}f}" for each in (min(values), max(values))]
    of = "times as often" if metric == "ratio" else "fewer of 100"
    span = " to ".join(f"{each} {of}" for each in dict.fromkeys(ends))
    (stated,) = (each for each in map(str, found.brief().certainty) if "ways to average" in each)
    span = f"from {span}" if " to " in span else span
    assert stated == f"All 4 ways to average over branch agree: {span}."


@pytest.mark.parametrize("reference", ["M", "F"])
def test_a_ratio_is_stated_in_times_and_no_sentence_of_the_page_in_percentage_points(reference):
    found = controlled(-8, reference, metrics="selection_rate.ratio")
    brief, (gap,) = found.brief(), found.gaps
    texts = [str(each) for _, answer in brief.answers for each in answer]
    assert not [each for each in texts if " pp" in each or "percentage point" in each]
    (quoted,) = (each for each in texts if "ratio to quote" in each)
    values = gap.adjusted.ratio, gap.adjusted.ratio_interval
    ratio, low, high = values[0], values[1].low, values[1].high
    if reference == "F":
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    size = f"{ratio:.2f} times as often (95% CI between {low:.2f} and {high:.2f})"
    assert f"by regression: on average {size}. This is the ratio to quote." in quoted
    assert any("multiply to the gap" in each for each in texts)


def test_with_controls_cases_to_read_are_alike_in_them_and_the_chart_shows_what_is_quoted():
    remains, accounted = controlled(-8), controlled(0)
    (step,) = stated(remains, "read_within")
    assert step.adjusted_for == ("branch", "debt")
    assert step.facts["strata"] == ((("branch", "N"),), (("branch", "S"),))
    text, decide = map(str, remains.brief().steps)
    assert "read cases of both sides within the same branch and debt: " in text
    assert "the difference by branch alone is statistically significant" in text
    assert decide == (
        "Those responsible: decide whether what remains within branch and debt is tolerable."
    )
    (step,) = map(str, accounted.brief().steps)
    assert step.startswith("Those responsible: ask whether branch and debt should count")
    drawn = decomposition_document(remains).exhibits[0]
    row = drawn.rows[-1]
    assert row.label == "adjusted for branch and debt by regression"
    assert row.mark.value == remains.gaps[0].adjusted.value


def test_with_controls_what_is_unlike_all_others_is_so_by_branch_alone():
    """The step read as if the test were within the same branch and debt."""
    rows = [
        (branch, sex, debt, decided, n)
        for branch in "ABCDEFGH"
        for sex in "FM"
        for debt, ones in (("low", 80), ("high", 60))
        for less in (40 * (branch == "C" and sex == "F"),)
        for decided, n in ((1, ones - less), (0, 100 - ones + less))
    ]
    table = pl.DataFrame(rows, ["branch", "sex", "debt", "approved", "n"], orient="row")
    asked = {"prediction": "approved", "positive": 1, "sensitive": "sex", "strata": "branch",
             "reference": {"sex": "M"}, "count": "n"}  # fmt: skip
    (step, *_) = map(str, fg.why(table, controls="debt", **asked).brief().steps)
    assert step == (
        "Those who know the cases: read cases of branch C first, within the same branch and debt: "
        "the difference by branch alone there is unlike all others."
    )
    (step, *_) = map(str, fg.why(table, **asked).brief().steps)
    assert step.endswith("read cases of branch C first: the difference there is unlike all others.")


@pytest.mark.parametrize("first", ["difference", "ratio"])
def test_a_ratio_beside_its_difference_has_the_regression_of_it(first):
    second = {"difference": "ratio", "ratio": "difference"}[first]
    both = [f"selection_rate.{each}" for each in (first, second)]
    found = controlled(-8, metrics=both)
    (quoted,) = (e for e in map(str, found.brief().found) if f"the {first} to quote" in e)
    assert "there is no regression" not in quoted
    assert "adjusted for branch and debt by regression: on average" in quoted


@pytest.mark.parametrize("seed", range(6))
def test_an_audit_adjusts_by_an_average_that_a_decomposition_names_as_the_audit_does(seed):
    """The audit stated 1.8 of 100 and the decomposition 3.6, both as "on average within Dept"."""
    rng = np.random.default_rng(seed)
    rows = pl.DataFrame(
        [(g, d, y, int(rng.integers(20, 400))) for g in "ab" for d in "XYZ" for y in (0, 1)],
        ["g", "d", "y", "n"], orient="row",
    )  # fmt: skip
    asked = {"prediction": "y", "sensitive": "g", "strata": "d", "count": "n"}
    report, why = fg.audit(rows, **asked), fg.why(rows, **asked)
    for gap in why.gaps:
        part = gap.part(GapPartKind.WITHIN, StratumWeights.MANTEL_HAENSZEL)
        of = gap.estimate
        (pooled,) = (
            each
            for each in report.estimates
            if (each.metric, each.group, each.scope.kind) == (of.metric, of.group, "pooled")
        )
        assert pooled.value == pytest.approx(part.value, abs=1e-12)
        text = render(why, "markdown", full=True)
        assert "is what an audit states as adjusted for d." in text
        rows = [row for row in text.splitlines() if "weights of Mantel and Haenszel |" in row]
        assert any(f"{100 * abs(part.value):.1f} pp" in row for row in rows)
    assert "on average within" not in str(report.brief()).lower()


def test_the_verdict_tells_what_is_open_from_what_is_found_in_one_stratum():
    (verdict,) = map(str, result("why").brief().verdict)
    assert verdict.startswith("Inconclusive over Dept as a whole: ")
    assert "That Dept A is unlike the others is statistically significant" in verdict


@pytest.mark.parametrize("turned", [False, True])
def test_the_first_page_has_neither_p_values_nor_pp(turned):
    """Also of two groups, where the page is read from the side that is worse off."""
    counts = {("F", "x"): (20, 200), ("F", "y"): (60, 200), ("M", "x"): (60, 200),
              ("M", "y"): (120, 200)}  # fmt: skip
    rows = [{"sex": s, "unit": u, "p": p, "n": n} for (s, u), (ones, of) in counts.items()
            for p, n in ((1, ones), (0, of - ones))]  # fmt: skip
    asked = {"prediction": "p", "positive": 1, "sensitive": "sex", "strata": "unit", "count": "n"}
    found = fg.why(pl.DataFrame(rows), **asked, reference={"sex": "F" if turned else "M"})
    for brief in (found.brief(), result("why").brief()):
        every = [brief.headline, *brief.verdict]
        every += [each for _, answer in brief.answers for each in answer]
        for text in map(str, every):
            assert " pp" not in text
            assert not re.search(r"\bp\u00a0", text), text
    within = found.gaps[0].part("within")
    stated = str(found.brief().found[1])
    assert f"on average {100 * abs(within.value):.1f} fewer of 100" in stated
    assert stated.startswith("People with sex F, compared with people with sex M")


def loans(within):
    """Return loans of which fewer are approved at a high debt, which more of F have.

    ``within`` are added of 100 of F at the same debt.
    """
    debts = {("F", "low"): 200, ("F", "high"): 600, ("M", "low"): 600, ("M", "high"): 200}
    rows = [
        {"sex": sex, "branch": branch, "debt": debt, "approved": decided, "n": n}
        for (sex, debt), of in debts.items()
        for branch in ("N", "S")
        for ones in (of * ((80 if debt == "low" else 40) + (sex == "F") * within) // 100,)
        for decided, n in ((1, ones), (0, of - ones))
    ]
    return pl.DataFrame(rows)


def controlled(within, reference="M", **asked):
    return fg.why(
        loans(within), prediction="approved", positive=1, sensitive="sex", strata="branch",
        reference={"sex": reference}, controls="debt", count="n", **asked,
    )  # fmt: skip


@pytest.mark.parametrize("reference", ["M", "F"])
@pytest.mark.parametrize(
    ("within", "shows"),
    [
        (0, "no statistically significant difference remains"),
        (-8, "a difference remains"),
        (12, "the reverse holds"),
    ],
)
def test_with_controls_the_regression_is_quoted_and_the_headline_states_for_what_it_holds(
    within, shows, reference
):
    found = controlled(within, reference)
    (gap,) = found.gaps
    brief, adjusted = found.brief(), gap.adjusted
    ends = f"within branch alone; with debt, by regression, {shows}"
    assert str(brief.headline).endswith(f", also {ends}")
    (head,) = stated(found, "why_headline")
    assert (head.verdict, head.facts["regression"]) == ("remains", str(gap.regression_verdict))
    assert str(gap.verdict) == "remains"
    (text,) = (str(each) for each in brief.found if "difference to quote" in str(each))
    quoted, alone = text, str(brief.found[list(map(str, brief.found)).index(text) + 1])
    size = f"{100 * abs(adjusted.value):.1f}"
    assert "adjusted for branch and debt by regression: on average" in quoted
    assert (f"{size} fewer of 100" if within < 0 else "of 100") in quoted
    assert f"{100 * abs(gap.part('within').value):.1f} fewer of 100" in alone
    assert "In the same branch, by branch alone, without debt: on average" in alone
    assert not any("by regression" in str(each) for each in brief.certainty)
    full = " ".join(render(found, "text", full=True).split())
    assert "“within branch” is the difference to quote" not in full
    assert f"WITH THE CONTROLS: {gap.regression_verdict.upper()}" in full
    for causal in ("explain", "due to", "justif"):
        assert causal not in f"{brief.headline} {brief.verdict} {text}"


def test_without_a_regression_with_the_controls_no_difference_is_named_to_quote():
    found = controlled(0)
    (gap,) = found.gaps
    bare = replace(found, gaps=(replace(gap, adjusted=None),)).brief()
    assert str(bare.headline).endswith(", also within branch alone")
    texts = " ".join(str(each) for each in bare.found)
    assert "by branch alone, without debt" in texts
    assert "to quote" not in texts


@pytest.mark.parametrize(
    ("ones", "of", "stated"),
    [
        ((17, 80), 10_000, ("Of 1,000 people with sex F, 2", "of 1,000 people with sex M, 8.")),
        ((3_000, 3_010), 10_000, ("Of 100 people with sex F, 30", "of 100 people with sex M, 30.")),
    ],
)
def test_counts_of_rare_rates_differ_and_their_intervals_are_of_as_many(ones, of, stated):
    rows = [
        {"sex": sex, "unit": unit, "y": y, "n": n}
        for sex, hits in zip("FM", ones, strict=True)
        for unit, part in (("u", hits // 2), ("v", hits - hits // 2))
        for y, n in ((1, part), (0, of // 2 - part))
    ]
    found = fg.why(
        pl.DataFrame(rows), label="y", positive=1, sensitive="sex", strata="unit", count="n",
        reference={"sex": "M"},
    )  # fmt: skip
    shares, parts, *_ = map(str, found.brief().found)
    for each in stated:
        assert each in shares
    denominators = {"1,000" if "1,000" in stated[0] else "100"}
    texts = " ".join([parts, *map(str, found.brief().certainty)])
    texts = texts.partition("95% CI (confidence interval)")[0]
    assert set(re.findall(r"(?:fewer|more|0\.1) of ([\d,]+\d)", texts)) == denominators


def test_one_stratum_of_the_other_direction_is_stated_only_where_its_interval_shows_it():
    found = result("why")
    (gap,) = found.gaps
    own = {each.stratum["Dept"]: each for each in gap.strata}["A"]
    ends = replace(own.interval, low=-0.01)
    wide = tuple(replace(each, interval=ends) if each is own else each for each in gap.strata)
    assert str(replace(found, gaps=(replace(gap, strata=wide),)).brief().headline).endswith(
        "; Dept A is unlike all others"
    )


def test_the_first_page_says_what_a_stratum_is_and_has_two_averages_at_most():
    rng = np.random.default_rng(4)
    n = 2_000
    sex, grade = rng.choice(["f", "m"], n), rng.integers(1, 4, n)
    pay = 3_000.0 + rng.normal(0, 200, n) - np.where(sex == "f", 50, 0)
    rows = pl.DataFrame({"sex": sex, "pay": pay, "job grade": grade})
    made = fg.why(rows, label="pay", sensitive="sex", task="regression", strata="job grade")
    assert str(made.brief().looked_at[-1]).endswith(" Each job grade is one stratum.")
    (gap,) = made.gaps
    parts = []
    for part in gap.parts:  # one average shows the other direction
        if (part.part, part.weights) == (GapPartKind.WITHIN, StratumWeights.AVERAGE):
            low, high = part.interval
            turned = replace(part.interval, low=-abs(high) - 1, high=-abs(low) - 0.5)
            part = replace(part, interval=turned, value=-abs(part.value) - 0.7)
        elif part.part is GapPartKind.WITHIN:
            part = replace(part, interval=replace(part.interval, low=1.0, high=9.0), value=5.0)
        parts.append(part)
    found = replace(made, gaps=(replace(gap, parts=tuple(parts)),))
    (stated,) = (str(each) for each in found.brief().certainty if "ways to average" in str(each))
    assert "ways to average over job grade do not all show the same." in stated
    assert stated.count("CI") == 2
    assert stated.count("weighted by the shares of") == 2


def of_branches(branches):
    """Return counts of two groups: the approved and all of either, in each branch."""
    return pl.DataFrame(
        [
            {"group": group, "branch": branch, "p": p, "n": n}
            for branch, sides in branches.items()
            for group, (ones, of) in zip("BW", sides, strict=True)
            for p, n in ((1, ones), (0, of - ones))
        ]
    )


def in_branches(branches):
    return fg.why(
        of_branches(branches), prediction="p", positive=1, sensitive="group",
        reference={"group": "W"}, count="n", strata="branch",
    )  # fmt: skip


def test_strata_that_differ_are_named_where_the_difference_varies_and_none_is_unlike_the_others():
    """Three of eight branches, which no test could tell from the others, had no names."""
    branches = {f"B{i:02}": ((295 + i % 2, 348), (1248, 1560)) for i in range(8)}
    branches |= {f"B{i:02}": ((108 + i // 3, 174), (624, 780)) for i in (1, 4, 6)}
    found = in_branches(branches)
    [gap] = found.gaps
    assert gap.reason is WhyInconclusive.VARIES
    assert not any(each.outlying for each in gap.strata)
    named, brief = "branch B01, branch B04 and branch B06", found.brief()
    assert f"varies, and is statistically significant in {named}" in brief.headline.text
    assert f"statistically significant in {named}, all strata" in brief.verdict[0].text
    assert f"read cases of {named}: the difference there" in brief.steps[0].text
    assert "one by one" not in " ".join(each.text for each in brief.steps)


@pytest.mark.parametrize("unlike", [(), (0.2,)])
def test_next_names_outlying_strata_first_and_then_others_whose_difference_is_shown(unlike):
    """Beside an outlying branch those with a difference of their own were not named."""
    branches = {f"B{i:02}": ((480 + 25 * (i % 3 - 1), 600), (480, 600)) for i in range(12)}
    branches |= {"B03": ((420, 600), (480, 600))}
    branches |= {f"C{i}": ((round(600 * rate), 600), (480, 600)) for i, rate in enumerate(unlike)}
    found = in_branches(branches)
    [gap] = found.gaps
    outlying = sorted(each.stratum["branch"] for each in gap.strata if each.outlying)
    assert outlying == [f"C{i}" for i in range(len(unlike))]
    assert all(f"branch {name}" in found.brief().headline.text for name in outlying)
    step = found.brief().steps[0].text
    named = re.findall(r"\b[BC]\d+", step)
    assert named == [*outlying, "B03"]
    assert step.count("unlike all others") == bool(unlike)
    assert step.count("there is statistically significant, all strata") == 1


def test_strata_that_a_step_names_are_in_the_table_on_the_screen():
    """A difference that reverses had those of the other end of the list as its first strata."""
    branches = {f"B{i:02}": ((77 + i * 5 % 9, 100), (480, 640)) for i in range(24)}
    branches |= {"B02": ((92, 100), (480, 640)), "B04": ((91, 100), (480, 640))}
    branches |= {"B30": ((100, 900), (0, 0))}
    found = in_branches(branches)
    text = render(found, "text")
    assert "read cases of branch B02 and branch B04" in " ".join(text.split())
    rows = re.findall(r"^(B\d\d) ", text, re.MULTILINE)
    assert {"B02", "B04"} < set(rows)
    assert len(rows) == 5


def test_rows_of_clusters_are_not_called_people_in_any_sentence() -> None:
    """ "To compare people in the same s" stood below rows of items, several of each."""
    cells = [("A", 3), ("B", 5)]
    rows = {"g": [], "s": [], "item": [], "p": []}
    for group, of_ten in cells:
        for i in range(1_200):
            values = (group, "xz"[i % 2], f"{group}{i // 4}", int(i * 7 % 10 < of_ten))
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "strata": "s", "cluster": "item"}
    page = " ".join(render(fg.why(rows, **asked), "text", full=True).split())
    assert "To compare rows in the same s, quote" in page
    assert not re.search(r"\b(people|person|nobody)\b", page)
