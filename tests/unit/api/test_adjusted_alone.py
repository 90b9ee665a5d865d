"""A difference adjusted for strata that is not shown over all rows: what an audit states of it."""

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, ScopeKind
from fairgauge.render import render
from fairgauge.results.estimates import is_significant
from fairgauge.statements.sections import shown_adjusted_alone

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


def test_an_adjusted_difference_alone_states_of_whom_it_is():
    audit = audited(MOST_COMMON, rules=["|selection_rate.difference| <= 0.2"])
    sides = "60.0% of Black people and 100.0% of White people"
    among = f"branch (among {sides}, in strata that both are in)"
    headline, found, steps = brief_of(audit)
    assert headline == (
        "Black people have decision = approved less often than White people, adjusted for "
        f"{among}, but over all rows no difference is shown"
    )
    assert f"but adjusted for {among} one is statistically significant (between 8 and 22 " in found
    assert "60.0% vs 75.0%" not in f"{found} {adjusted_of(audit).says}"
    assert "see how the difference divides over branch" in steps


@pytest.mark.parametrize("comparators", [1, 3, 60])
def test_no_headline_clears_a_gap_of_which_strata_have_insufficient_data(comparators):
    """With one comparator for most of a group it was cleared without a warning."""
    cells = [("Black", "A", 33, 50), ("White", "A", 190, 300), ("Black", "B", 87, 230)]
    audit = audited([*cells, ("White", "B", comparators - comparators // 4, comparators)])
    headline, _, _ = brief_of(audit)
    warned = [e for e in audit.diagnostics if e.code is DiagnosticCode.STRATA_INSUFFICIENT]
    assert bool(warned) is (comparators < 60)
    assert "no difference is shown" not in headline
