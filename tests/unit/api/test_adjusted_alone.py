"""A difference adjusted for strata that is not shown over all rows: what an audit states of it."""

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, ScopeKind, WhyInconclusive
from fairgauge.render import render
from fairgauge.results.disparities import is_significant, shown_adjusted_alone

ASKED = {
    "prediction": "decision",
    "positive": "approved",
    "count": "n",
    "sensitive": "race",
    "reference": {"race": "White"},
    "strata": "branch",
}
FEW_COMMON = [("Black", "A", 50, 100), ("White", "A", 370, 500), ("Black", "B", 320, 400)]
"""No difference over all rows; −24 pp in branch A, which a fifth of Black people are in."""
MOST_COMMON = [("Black", "A", 180, 300), ("White", "A", 360, 480), ("Black", "B", 190, 200)]
"""As before, with three fifths of Black people in branch A."""
ALL_COMMON = [
    ("Black", "A", 120, 200), ("White", "A", 560, 700),
    ("Black", "B", 380, 800), ("White", "B", 130, 200),
    ("Black", "C", 950, 1000), ("White", "C", 690, 1100),
]  # fmt: skip
WITHOUT_STRATUM = [
    ("Black", "A", 300, 440), ("Black", "B", 300, 440), ("Black", None, 180, 185),
    ("White", "A", 700, 950), ("White", "B", 700, 950),
]  # fmt: skip
"""No difference over all rows; −5.5 pp without those who have no branch, nearly all approved."""


def rows_of(cells):
    rows = [
        (race, branch, decision, n)
        for race, branch, approved, every in cells
        for decision, n in (("approved", approved), ("denied", every - approved))
    ]
    return pl.DataFrame(rows, schema=["race", "branch", "decision", "n"], orient="row")


def audited(cells, **options):
    return fg.audit(
        rows_of(cells), **{"metrics": ["selection_rate.difference"], **ASKED, **options}
    )


def adjusted_of(audit):
    (found,) = (each for each in audit.estimates if each.scope.kind is ScopeKind.POOLED)
    return found


def brief_of(audit):
    brief = audit.brief()
    return str(brief.headline), " ".join(map(str, brief.found)), " ".join(map(str, brief.steps))


@pytest.mark.parametrize("cells", [FEW_COMMON, WITHOUT_STRATUM])
def test_what_is_of_other_rows_is_no_finding(cells):
    """ "Black: selection rate 50.0% vs 74.0%" was stated of a fifth of people, as significant."""
    audit = audited(cells)
    adjusted = adjusted_of(audit)
    assert adjusted.p_adjusted < 0.01
    assert not is_significant(adjusted)
    assert shown_adjusted_alone(audit.estimates) == []
    headline, found, _ = brief_of(audit)
    assert "There are" not in headline
    assert "adjusted" not in f"{headline} {found}"
    for kind in ("text", "markdown"):
        text = " ".join(render(audit, kind, full=True).split())
        assert "is statistically significant:" not in text
        assert "nothing is concluded from" in text


def test_an_adjusted_difference_alone_states_of_whom_it_is():
    audit = audited(MOST_COMMON, rules=["|selection_rate.difference| <= 0.2"])
    sides = "60.0% of Black people and 100.0% of White people"
    among = f"branch (among {sides}, in strata that both are in)"
    headline, found, steps = brief_of(audit)
    assert headline == (
        "Black people have decision = approved less often than White people, adjusted for "
        f"{among}, but over all rows no difference is shown"
    )
    assert f"but adjusted for {among} one is statistically significant (between 7 and 23 " in found
    assert "60.0% vs 75.0%" not in f"{found} {adjusted_of(audit).says}"
    assert "see how the difference divides over branch" in steps


def test_of_a_rate_and_its_odds_that_differ_adjusted_the_rate_leads():
    """ "Selection odds is lower for Black than for White" was the headline of a preset."""
    metrics = ["selection_odds.ratio", "selection_rate.difference"]
    audit = audited(MOST_COMMON, metrics=metrics)
    ((whole, adjusted),) = shown_adjusted_alone(audit.estimates)
    assert whole.metric == adjusted.metric == "selection_rate.difference"
    headline, found, _ = brief_of(audit)
    assert headline.startswith("Black people have decision = approved less often than White")
    assert "odds" not in f"{headline} {found}"


def test_rates_that_are_weighted_by_stratum_are_not_stated_as_those_of_a_group():
    audit = audited(ALL_COMMON)
    adjusted = adjusted_of(audit)
    assert adjusted.says.startswith("Black: selection rate ")
    assert " vs " not in adjusted.says
    assert " than for White, adjusted for the strata (95% CI " in adjusted.says


def test_published_tables_state_why_nothing_is_concluded():
    for cells, stated in (
        (FEW_COMMON, "(more than half of one side is in no stratum that both sides have)"),
        (MOST_COMMON, "Adjusted for branch, Black: among 60.0% of Black and 100.0% of White, in"),
    ):
        audit = fg.audit(rows_of(cells), **ASKED, preset="us-lending")
        assert stated in " ".join(render(audit, "markdown", full=True).split())


def random_cells(random):
    """Return strata of both sides and of one, and rows without one, with any rates."""
    branches = [*"ABCDEFGH"[: random.integers(2, 8)]]
    alone = random.choice([0.0, 0.2, 0.6])
    cells = []
    for branch in branches:
        rate, gap = random.uniform(0.3, 0.9), random.choice([0.0, -0.15, 0.1])
        missing = random.random() < alone
        of_black = random.random() < 0.5
        for race in ("Black", "White"):
            if missing and (race == "Black") is not of_black:
                continue
            n = int(random.integers(40, 700))
            share = np.clip(rate + gap * (race == "Black"), 0.02, 0.98)
            cells.append((race, branch, int(random.binomial(n, share)), n))
    if random.random() < 0.4:
        n = int(random.integers(50, 300))
        race = random.choice(["Black", "White"])
        cells.append((race, None, int(random.binomial(n, random.choice([0.1, 0.5, 0.95]))), n))
    known = {race for race, branch, *_ in cells if branch is not None}
    return cells if len(known) > 1 else random_cells(random)


def test_an_audit_states_no_adjusted_difference_where_a_decomposition_compares_nothing():
    random, refused, tables = np.random.default_rng(5), 0, 60 if EVERY_CASE else 25
    for _ in range(tables):
        cells = random_cells(random)
        (gap,) = fg.why(rows_of(cells), **ASKED).gaps
        if gap.reason not in (WhyInconclusive.NOT_COMPARABLE, WhyInconclusive.MISSING_STRATA):
            continue
        refused += 1
        audit = audited(cells)
        assert not is_significant(adjusted_of(audit)), cells
        headline, found, _ = brief_of(audit)
        stated = f"{headline} {found} {' '.join(render(audit, 'markdown', full=True).split())}"
        for words in (
            "one is statistically significant (",
            "the difference is statistically significant:",
            "the difference remains:",
            "the reverse holds after",
        ):
            assert words not in stated, cells
    assert refused > tables / 6


def test_the_step_after_strata_of_one_side_is_about_these():
    """ "An average may hide what remains in some" was the step where hardly any is compared."""
    found = fg.why(rows_of(FEW_COMMON), **ASKED)
    assert found.gaps[0].reason is WhyInconclusive.NOT_COMPARABLE
    steps = " ".join(map(str, found.brief().steps))
    assert "why values of branch have people of one side alone" in steps
    assert "one by one" not in steps


@pytest.mark.parametrize("comparators", [1, 3, 60])
def test_no_headline_clears_a_gap_of_which_strata_have_insufficient_data(comparators):
    """With one comparator for most of a group it was cleared without a warning."""
    cells = [("Black", "A", 33, 50), ("White", "A", 190, 300), ("Black", "B", 87, 230)]
    audit = audited([*cells, ("White", "B", comparators - comparators // 4, comparators)])
    headline, _, _ = brief_of(audit)
    warned = [e for e in audit.diagnostics if e.code is DiagnosticCode.STRATA_INSUFFICIENT]
    assert bool(warned) is (comparators < 60)
    assert "no difference is shown" not in headline
