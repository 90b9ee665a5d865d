"""fg.why of means by regression, and with presets."""

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, GapPartKind, ScopeKind, StratumWeights
from fairgauge.render import render
from fairgauge.results.estimates import is_significant
from fairgauge.statements.sections import shown_adjusted_alone


def test_means_are_adjusted_by_linear_regression(tmp_path):
    rng = np.random.default_rng(3)
    n = 600
    grade, sex = rng.integers(0, 3, n), rng.choice(["F", "M"], n)
    pay = 30 + 8 * grade - 1.5 * (sex == "F") + rng.normal(0, 3, n)
    table = pl.DataFrame({"grade": grade, "sex": sex, "pay": pay})
    found = fg.why(table, label="pay", task="regression", sensitive="sex", strata="grade",
                   reference={"sex": "M"})  # fmt: skip
    (gap,) = found.gaps
    main = gap.adjusted
    design = np.column_stack([np.ones(n), sex == "F", grade == 1, grade == 2]).astype(float)
    assert main.value == pytest.approx(np.linalg.lstsq(design, pay)[0][1])
    assert main.interval.low < -1.5 < main.interval.high
    found.save(tmp_path / "why.json")
    assert fg.load(tmp_path / "why.json") == found


def of_firms(rng, firms=40, rows=25):
    """Return pay of people in firms that pay unlike, each of one sex; women earn 1 less."""
    firm, sex = np.repeat(np.arange(firms), rows), np.repeat(rng.choice(["F", "M"], firms), rows)
    grade = rng.integers(0, 3, firms * rows)
    pay = 30 + 3 * grade - (sex == "F") + rng.normal(0, 1.5, firms)[firm]
    pay = pay + rng.normal(0, 3, firms * rows)
    return pl.DataFrame({"firm": firm, "sex": sex, "grade": grade, "pay": pay})


def test_means_of_clustered_rows_are_covered():
    rng = np.random.default_rng(6)
    asked = {"label": "pay", "task": "regression", "sensitive": "sex", "strata": "grade",
             "reference": {"sex": "M"}}  # fmt: skip
    covered, naive, adjusted = 0, 0, 0
    tables = 80 if EVERY_CASE else 32
    for _ in range(tables):
        table = of_firms(rng)
        for cluster in ("firm", None):
            (gap,) = fg.why(table, cluster=cluster, **asked).gaps
            end = gap.part(GapPartKind.WITHIN).interval
            covered += cluster is not None and end.low <= -1 <= end.high
            adjusted += cluster is not None and -1 in gap.adjusted.interval
            naive += cluster is None and end.low <= -1 <= end.high
    assert covered >= 0.875 * tables
    assert adjusted >= 0.875 * tables
    assert naive < 0.75 * tables


@pytest.mark.parametrize("task", ["regression", None])
def test_clustered_rows_have_no_average_by_mantel_haenszel(task):
    """Its interval would regard the rows of a cluster in several strata as independent."""
    table = of_firms(np.random.default_rng(8)).with_columns(pay=(pl.col("pay") > 33).cast(int))
    asked = {"label": "pay", "task": task, "sensitive": "sex", "strata": "grade"}
    for cluster in ("firm", None):
        (gap,) = fg.why(table, cluster=cluster, **asked).gaps
        weights = {part.weights for part in gap.parts}
        assert (StratumWeights.MANTEL_HAENSZEL in weights) == (cluster is None)


ROWS = 1_200


@pytest.fixture(scope="module")
def loans():
    random = np.random.default_rng(30)
    race, branch = random.choice(["B", "W"], ROWS), random.choice(["N", "S"], ROWS)
    return pl.DataFrame({
        "id": range(ROWS), "race": race, "branch": branch,
        "approved": random.binomial(1, np.where(race == "B", 0.6, 0.8)),
        "spread": random.gamma(2, 0.3, ROWS) + 0.1 * (race == "B"),
    })  # fmt: skip


@pytest.mark.parametrize(("asked", "metrics"), [
    ({"prediction": "approved", "positive": 1},
     ["selection_rate.difference", "selection_rate.ratio"]),
    ({"label": "spread", "task": "regression"}, ["mean_label.difference"]),
])  # fmt: skip
def test_lending_decomposes_decisions_by_both_and_prices_as_means(loans, asked, metrics):
    found = fg.why(loans, preset="us-lending", sensitive="race", reference={"race": "W"},
                   strata="branch", **asked)  # fmt: skip
    assert [gap.estimate.metric for gap in found.gaps] == metrics
    assert (found.gaps[0].adjusted.odds_ratio is not None) == ("prediction" in asked)


@pytest.fixture(scope="module")
def pay():
    random = np.random.default_rng(31)
    sex, grade = random.choice(["F", "M"], ROWS), random.choice(["junior", "senior"], ROWS)
    salary = np.where(grade == "senior", 50_000, 35_000) * random.lognormal(0, 0.2, ROWS)
    return pl.DataFrame({"sex": sex, "grade": grade, "salary": salary * (1 - 0.1 * (sex == "F"))})


ASKED = {
    "label": "salary", "sensitive": "sex", "reference": {"sex": "M"}, "strata": "grade",
    "preset": "eu-pay-transparency",
}  # fmt: skip


def test_pay_transparency_shows_the_ratio_of_every_category_with_its_interval(pay):
    report = fg.audit(pay, **ASKED)
    for grade in ("junior", "senior"):
        mine = pay.filter(grade=grade)
        ours, theirs = (mine.filter(sex=sex)["salary"].mean() for sex in "FM")
        (each,) = (
            e
            for e in report.estimates
            if (e.metric, e.group, e.stratum) == ("mean_label.ratio", "F", grade)
        )
        assert each.value == pytest.approx(ours / theirs)
        assert each.interval.low < each.value < each.interval.high
    assert not any("treated as" in each.message for each in report.diagnostics)


def test_the_parts_of_a_ratio_of_means_are_ratios(pay):
    found = fg.why(pay, **ASKED)
    ratio, difference = found.gaps
    assert (ratio.estimate.metric, difference.scale) == ("mean_label.ratio", "difference")
    assert all(0.5 < part.value < 1.5 for part in ratio.parts)
    assert {str(part.weights) for part in difference.parts} > {"mantel_haenszel"}


ASKED_ADJUSTED = {
    "prediction": "decision", "positive": "approved", "count": "n", "sensitive": "race",
    "reference": {"race": "White"}, "strata": "branch",
}  # fmt: skip
# ---- A difference adjusted for strata that is not shown over all rows: what an audit states of it
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
        rows_of(cells), **{"metrics": ["selection_rate.difference"], **ASKED_ADJUSTED, **options}
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
