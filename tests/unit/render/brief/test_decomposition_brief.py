"""The brief of several gaps: the gravest first, each sentence with the name of its group."""

import re
from dataclasses import replace

import polars as pl
import pytest
from tests.every_result import result

import fairgauge as fg
from fairgauge.render.formats import render
from fairgauge.statements.why import why_page

# Z remains within both units, B is accounted for by them, and few rows are of C
COUNTS = {
    ("Z", "x"): (20, 200), ("Z", "y"): (60, 200), ("B", "x"): (190, 600), ("B", "y"): (60, 100),
    ("C", "x"): (2, 8), ("C", "y"): (3, 8), ("D", "x"): (70, 200), ("D", "y"): (380, 600),
}  # fmt: skip


def divided(counts, verb=fg.why, **asked):
    """Return how a gap divides over units, of the rows that are selected and all rows."""
    rows = [(*of, p, n) for of, (k, every) in counts.items() for p, n in ((1, k), (0, every - k))]
    table = pl.DataFrame(rows, ["group", "unit", "p", "n"], orient="row")
    return verb(table, prediction="p", positive=1, sensitive="group", count="n", strata="unit",
                **asked)  # fmt: skip


def test_the_gravest_gap_is_the_headline_and_too_few_people_come_last():
    found = divided(COUNTS)
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


def test_a_group_that_is_added_does_not_make_another_gap_pass():
    """A branch 35 points apart was outlying alone; beside ages the gap was accounted for."""
    rows = []
    for i in range(40):
        of, yes = ((50, 200), (45, 180)) if i % 2 else ((100, 100), (70, 70))
        if i == 6:
            of, yes = (25, 140), (10, 105)
        for race, n, y in zip(("Black", "White"), of, yes, strict=True):
            for age in "abcde":
                rows += [(f"B{i:02}", race, age, 1, y / 5), (f"B{i:02}", race, age, 0, (n - y) / 5)]
    table = pl.DataFrame(rows, schema=["branch", "race", "age", "ok", "n"], orient="row")
    alone, beside = (
        fg.why(
            table, prediction="ok", positive=1, count="n", strata="branch", sensitive=[*reference],
            metrics="selection_rate.difference", reference=reference,
        )
        for reference in ({"race": "White"}, {"race": "White", "age": "c"})
    )  # fmt: skip
    assert [each.stratum["branch"] for each in alone.gaps[0].strata if each.outlying] == ["B06"]
    (gap,) = (each for each in beside.gaps if each.estimate.feature == "race")
    assert (gap.verdict, gap.reason) == ("inconclusive", "varies")
    assert not any(each.outlying for each in gap.strata)


@pytest.mark.parametrize("turned", [False, True])
def test_the_first_page_has_neither_p_values_nor_pp(turned):
    """Also of two groups, where the page is read from the side that is worse off."""
    of = {("F", "x"): (20, 200), ("F", "y"): (60, 200),
          ("M", "x"): (60, 200), ("M", "y"): (120, 200)}  # fmt: skip
    found = divided(of, reference={"group": "F" if turned else "M"})
    for brief in (found.brief(), result("why").brief()):
        said = [each for _, answer in brief.answers for each in answer]
        for text in map(str, [brief.headline, *brief.verdict, *said]):
            assert " pp" not in text
            assert not re.search(r"\bp\u00a0", text), text
    within = found.gaps[0].part("within")
    stated = str(found.brief().found[1])
    assert f"on average {100 * abs(within.value):.1f} fewer of 100" in stated
    assert stated.startswith("People with group F, compared with people with group M")


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
    (head,) = (each for each in why_page(found).statements if each.code == "why_headline")
    assert (head.verdict, head.facts["regression"]) == ("remains", str(gap.regression_verdict))
    assert str(gap.verdict) == "remains"
    (text,) = (str(each) for each in brief.found if "difference to quote" in str(each))
    quoted, alone = text, str(brief.found[list(map(str, brief.found)).index(text) + 1])
    size = f"{100 * abs(adjusted.value):.1f}"
    assert "adjusted for branch and debt by logistic regression: on average" in quoted
    assert (f"{size} fewer of 100" if within < 0 else "of 100") in quoted
    assert f"{100 * abs(gap.part('within').value):.1f} fewer of 100" in alone
    assert "In the same branch, by branch alone, without debt: on average" in alone
    assert not any("by regression" in str(each) for each in brief.certainty)
    full = " ".join(render(found, "text", full=True).split())
    assert "“within branch” is the difference to quote" not in full
    lines = render(found, "text").splitlines()
    assert [line for line in lines if line.isupper() and line[0] != " "] == [
        str(found.verdict).upper()
    ]
    for causal in ("explain", "due to", "justif"):
        assert causal not in f"{brief.headline} {brief.verdict} {text}"


def test_one_stratum_of_the_other_direction_is_stated_only_where_its_interval_shows_it():
    found = result("why")
    (gap,) = found.gaps
    own = {each.stratum["Dept"]: each for each in gap.strata}["A"]
    ends = replace(own.interval, low=-0.01)
    wide = tuple(replace(each, interval=ends) if each is own else each for each in gap.strata)
    assert str(replace(found, gaps=(replace(gap, strata=wide),)).brief().headline).endswith(
        "; Dept A is unlike all others"
    )


def test_where_the_difference_varies_the_regression_is_not_to_be_quoted_either():
    of = {("F", "x"): (40, 400), ("F", "y"): (200, 400),
          ("M", "x"): (240, 400), ("M", "y"): (210, 400)}  # fmt: skip
    rows = [
        {"group": g, "unit": u, "debt": d, "y": y, "n": (k if y else n - k) // 2}
        for (g, u), (k, n) in of.items() for d in ("low", "high") for y in (0, 1)
    ]  # fmt: skip
    asked = {"label": "y", "positive": 1, "count": "n", "sensitive": "group", "strata": "unit"}
    found = fg.why(pl.DataFrame(rows), controls="debt", **asked)
    assert found.gaps[0].varies
    assert found.gaps[0].adjusted is not None
    for full in (False, True):
        text = " ".join(render(found, "text", full=full).split())
        assert "to quote" not in text
        assert "quote each unit separately, not these averages" in text


@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.ratio"])
def test_the_average_of_an_audit_stands_beside_those_of_a_decomposition(metric):
    of = {("F", "x"): (20, 200), ("F", "y"): (60, 100),
          ("M", "x"): (60, 250), ("M", "y"): (120, 220)}  # fmt: skip
    found, report = divided(of, metrics=metric), divided(of, verb=fg.audit, metrics=metric)
    gap = found.gaps[0]
    pooled = [e for e in report.estimates if e.scope.kind == "pooled"]
    (own,) = (each for each in pooled if each.group == gap.estimate.group)
    (part,) = (each for each in gap.parts if each.weights == "mantel_haenszel")
    assert part.value == pytest.approx(own.value)
    assert tuple(part.interval) == pytest.approx(tuple(own.interval))
    assert "within unit, as in an audit (Mantel-Haenszel weights)" in render(
        found, "markdown", full=True
    )
    assert "weighted by the mean of both sides" in render(found, "text") or "ratio" in metric
    assert "within unit, with Mantel-Haenszel weights." in render(report, "text", full=True)


@pytest.mark.parametrize(
    ("lang", "reason"),
    [
        ("en", "decided by itself, but not when all gaps are judged together"),
        ("de", "für sich entschieden, aber nicht, wenn alle Abstände gemeinsam beurteilt werden"),
    ],
)
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_regression_that_is_not_shown_beside_others_states_why_it_is_inconclusive(
    lang, reason, form
):
    """The verdict was "inconclusive" beside an interval without 0, for no stated reason."""
    found = controlled(-8)
    (gap,) = found.gaps
    assert 0 not in gap.adjusted.interval

    def stated(p_adjusted):
        own = replace(gap, adjusted=replace(gap.adjusted, p_adjusted=p_adjusted))
        shown = replace(found, gaps=(own,))
        page = render(shown, form, lang=lang, **({} if form == "html" else {"full": True}))
        return own.regression_verdict, " ".join(page.split())

    verdict, page = stated(0.07)
    assert (gap.verdict, verdict) == ("remains", "inconclusive")
    assert f"({reason})." in page
    assert f": {reason}." in page
    verdict, page = stated(0.04)
    assert verdict == "remains"
    assert reason not in page


def test_in_full_a_gap_is_read_from_its_group_as_its_table_is():
    """A sentence had White against Hispanic, and the table below it the inverse, unsaid."""
    metrics = ["selection_rate.difference", "selection_rate.ratio"]
    of = {("F", "x"): (20, 200), ("F", "y"): (60, 200),
          ("M", "x"): (60, 200), ("M", "y"): (120, 200)}  # fmt: skip
    found = divided(of, reference={"group": "F"}, metrics=metrics)
    assert str(found.brief().headline).startswith("People with group F")
    full = " ".join(render(found, "markdown", full=True).split())
    for gap, words in zip(found.gaps, ("difference", "ratio"), strict=True):
        section = full.split(f"## M (group) vs F: selection rate {words}")[1].split(" ## ")[0]
        assert "People with group M, compared with people with group F in the same" in section
        assert "People with group F, compared" not in section
        value = gap.part("within").value
        size = f"{value:.2f} times as often" if words == "ratio" else f"{100 * value:.1f} more of"
        assert f"on average {size}" in section
        row = f"{value:.2f}" if words == "ratio" else f"+{100 * value:.1f} pp"
        assert f"| within unit | {row} |" in section
