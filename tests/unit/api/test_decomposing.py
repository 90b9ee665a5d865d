"""Why is there a gap: its parts, what remains within strata, and what is refused."""

import json
import subprocess
import sys
from dataclasses import replace
from html import unescape

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats
from tests.needs import EVERY_CASE
from tests.strata_variances import rate_variances

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import (
    DiagnosticCode,
    GapPartKind,
    GapVerdict,
    StratumWeights,
    WhyInconclusive,
)
from fairgauge.errors import CubeError, DataError, SpecError
from fairgauge.reasons import ReasonCode
from fairgauge.render import render
from fairgauge.render.document import document as decomposition_document
from fairgauge.results.scopes import POOLED
from fairgauge.statements.why import gap_statements, why_page

BERKELEY = {
    "A": ((512, 825), (89, 108)), "B": ((353, 560), (17, 25)), "C": ((120, 325), (202, 593)),
    "D": ((138, 417), (131, 375)), "E": ((53, 191), (94, 393)), "F": ((22, 373), (24, 341)),
}  # fmt: skip
"""Admitted and all applicants by department, men and women (Bickel, Hammel and O'Connell 1975)."""


def admissions():
    rows = []
    for dept, sexes in BERKELEY.items():
        for sex, (admitted, everyone) in zip(("Male", "Female"), sexes, strict=True):
            rows += [(sex, dept, 1, admitted), (sex, dept, 0, everyone - admitted)]
    return pl.DataFrame(rows, schema=["sex", "dept", "admitted", "n"], orient="row")


ROWS = admissions()
ASKED = {"label": "admitted", "sensitive": "sex", "count": "n"}


def decomposed(data=ROWS, strata="dept", **options):
    return fg.why(data, strata=strata, **{**ASKED, **options})


def within(gap, weights=StratumWeights.AVERAGE):
    return gap.part(GapPartKind.WITHIN, weights)


def flat(text):
    return " ".join(text.split())


def of_strata(cells):
    """Return rows from (group, stratum, favourable, all) cells."""
    rows = [(g, s, y, n) for g, s, x, every in cells for y, n in ((1, x), (0, every - x))]
    return pl.DataFrame(rows, schema=["sex", "dept", "admitted", "n"], orient="row")


def test_berkeley():
    """The values of `docs`, of statsmodels, and of the adjusted difference of an audit."""
    (gap,) = decomposed().gaps
    assert gap.estimate.group == "Female"
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.VARIES)
    assert gap.part(GapPartKind.COMPOSITION).value == pytest.approx(-0.177673911)
    assert within(gap).value == pytest.approx(0.036028483)
    assert within(gap, StratumWeights.GROUP).value == pytest.approx(0.001087790)
    assert within(gap, StratumWeights.REFERENCE).value == pytest.approx(0.070969176)
    audit = fg.audit(ROWS, **ASKED, strata="dept", metrics="base_rate.difference")
    pooled = next(e for e in audit.estimates if e.scope.kind == "pooled" and e.group == "Female")
    adjusted = within(gap, StratumWeights.MANTEL_HAENSZEL)
    assert adjusted.value == pytest.approx(pooled.value)
    assert (adjusted.interval.low, adjusted.interval.high) == pytest.approx(tuple(pooled.interval))
    assert [s.stratum["dept"] for s in gap.strata] == ["A", "E", "C", "F", "D", "B"]
    assert gap.largest_remaining == pytest.approx(-0.0303, abs=5e-4)
    main = gap.adjusted
    assert main.value == pytest.approx(0.019497, abs=1e-6)
    assert main.odds_ratio == pytest.approx(np.exp(0.099870), abs=1e-5)
    assert [s.stratum["dept"] for s in gap.strata if s.outlying] == ["A"]


def test_names_and_the_order_of_rows_change_names_alone():
    def numbers(found):
        (gap,) = found.gaps
        strata = [(s.difference, s.composition, s.within) for s in gap.strata]
        return [(p.value, p.interval) for p in gap.parts], gap.verdict, strata

    names = {"A": "Z & Y", "B": "others", "C": "(missing)", "D": "*", "E": ", ", "F": '"'}
    renamed = ROWS.with_columns(pl.col("dept").replace(names)).sample(
        fraction=1, shuffle=True, seed=1
    )
    assert numbers(decomposed(renamed)) == numbers(decomposed())
    once_more = decomposed(ROWS.with_columns(again=pl.col("dept")), strata=["dept", "again"])
    assert numbers(once_more)[1:] == numbers(decomposed())[1:]


def test_counts_give_what_rows_give_whatever_they_were_counted_for():
    rows = decomposed()
    as_strata = fg.count(ROWS, **ASKED, strata="dept")
    as_feature = fg.count(ROWS, **{**ASKED, "sensitive": ["sex", "dept"]})
    for cube in (as_strata, as_feature):
        assert fg.why(cube, strata="dept").gaps == rows.gaps
    assert fg.why(as_strata).gaps == rows.gaps
    first, second = (fg.count(part, **ASKED, strata="dept") for part in (ROWS[:11], ROWS[11:]))
    assert fg.why(first + second).gaps == rows.gaps


@pytest.mark.parametrize("metrics", ["base_rate.difference", "base_rate.ratio"])
def test_strata_too_few_for_a_test_are_listed_by_their_difference(metrics):
    """They were by what they contribute to composition, the smallest difference first."""
    cells = [("F", "A", 360, 400), ("M", "A", 92, 100), ("F", "B", 20, 100), ("M", "B", 120, 400),
             ("F", "C", 50, 100), ("M", "C", 55, 100)]  # fmt: skip
    (gap,) = fg.why(of_strata(cells), label="admitted", sensitive="sex", strata="dept", count="n",
                    metrics=metrics, reference={"sex": "M"}).gaps  # fmt: skip
    assert [each.stratum["dept"] for each in gap.strata] == ["A", "C", "B"]  # the gap is above 0


def test_what_is_saved_is_loaded(tmp_path):
    found = decomposed(
        metrics=["base_rate.difference", "base_rate.ratio"], margins={"base_rate": 0.05}
    )
    found.save(tmp_path / "why.json")
    assert fg.load(tmp_path / "why.json") == found
    for suffix in ("html", "md", "csv"):
        found.save(tmp_path / f"why.{suffix}")
    assert len((tmp_path / "why.csv").read_text().splitlines()) == 1 + 2 * 6
    json.loads((tmp_path / "why.json").read_text())


@pytest.mark.parametrize(
    ("cells", "verdict", "reason"),
    [
        ([("F", "A", 100, 500), ("F", "B", 300, 500), ("M", "A", 160, 500), ("M", "B", 380, 500)],
         "remains", None),
        ([("F", "A", 160, 800), ("F", "B", 120, 200), ("M", "A", 40, 200), ("M", "B", 480, 800)],
         "accounted for", None),
        ([("F", "A", 240, 800), ("F", "B", 150, 200), ("M", "A", 40, 200), ("M", "B", 480, 800)],
         "reverses", None),
        ([("F", "A", 100, 500), ("M", "A", 101, 500)], "no gap shown", None),
        ([("F", "A", 6, 30), ("F", "B", 12, 20), ("M", "A", 5, 20), ("M", "B", 40, 60)],
         "inconclusive", "imprecise"),
        ([("F", "A", 100, 500), ("F", "B", 100, 600), ("M", "A", 101, 500), ("M", "C", 480, 600)],
         "inconclusive", "not comparable"),
        ([("F", "A", 100, 900), ("F", "B", 50, 100), ("M", "A", 11, 100), ("M", "B", 600, 900)],
         "inconclusive", "depends on weights"),
        ([("F", "A", 0, 150), ("F", "B", 0, 57), ("M", "A", 70, 120), ("M", "B", 40, 73)],
         "remains", None),
        ([("F", "A", 1, 150), ("F", "B", 0, 57), ("M", "A", 70, 120), ("M", "B", 40, 73)],
         "remains", None),
        ([("F", "A", 150, 150), ("F", "B", 57, 57), ("M", "A", 70, 120), ("M", "B", 40, 73)],
         "remains", None),
        ([("F", "A", 0, 150), ("F", "B", 0, 150), ("M", "A", 2, 150), ("M", "B", 2, 150)],
         "inconclusive", "too few"),
    ],
)  # fmt: skip
def test_verdicts(cells, verdict, reason):
    (gap,) = decomposed(of_strata(cells)).gaps
    assert (gap.verdict, gap.reason) == (verdict, reason)
    text = render(decomposed(of_strata(cells)), "text", full=True)
    assert not any(claim in text for claim in ("explained", "due to", "justified by", "Why is"))
    assert (
        "“Accounted for” is arithmetic: it does not show whether the strata should count"
        in flat(text)
    )
    alone = gap.support.share_group < 1 or gap.support.share_reference < 1
    for words in ("strata of one side alone", "Strata of one side alone, composition and within"):
        assert (words in " ".join(text.split())) == alone  # the row, and that the rows add up


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([("F", "A", 150, 500), ("M", "B", 151, 500)], WhyInconclusive.NOT_COMPARABLE),
        ([("F", "A", 40, 100), ("F", "B", 1, 2), ("M", "A", 40, 100), ("M", "B", 30, 70)],
         WhyInconclusive.TOO_FEW),
    ],
)  # fmt: skip
def test_no_gap_is_called_none_where_a_difference_within_strata_could_not_be_seen(cells, reason):
    (gap,) = decomposed(of_strata(cells)).gaps
    low, high = gap.estimate.interval
    assert low < 0 < high
    assert (gap.verdict, gap.reason) == ("inconclusive", reason)


def test_a_rate_of_0_against_many_is_no_insufficient_data():
    """Of 3,000 women none, of 3,000 men half: more than where four women are selected."""
    rates = {"A": 0.48, "B": 0.5, "C": 0.52}
    cells = [("F", s, 0, 1_000) for s in rates]
    cells += [("M", s, round(1_000 * rate), 1_000) for s, rate in rates.items()]
    for metric in ("base_rate.difference", "base_rate.ratio"):
        (gap,) = decomposed(of_strata(cells), metrics=metric, reference={"sex": "M"}).gaps
        assert (gap.verdict, gap.reason) == ("remains", None)
    (gap,) = decomposed(of_strata(cells), margins={"base_rate": 0.05}).gaps
    assert gap.verdict == "remains"


NO_OVERLAP = [("F", "A", 30, 100), ("F", "B", 30, 120), ("M", "C", 50, 100), ("M", "D", 40, 90)]


@pytest.mark.parametrize("options", [{}, {"metrics": "base_rate.ratio"}, {"task": "regression"}])
def test_without_overlap_of_strata_parts_are_undefined(options, tmp_path):
    """No stratum has both sides: 0/0 is no 0, and the side is a function of the strata."""
    found = decomposed(of_strata(NO_OVERLAP), **options)
    (gap,) = found.gaps
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.NOT_COMPARABLE)
    undefined = (None, None, "undefined", WhyInconclusive.NOT_COMPARABLE)
    assert {(p.value, p.interval, p.status, p.reason) for p in gap.parts} == {undefined}
    assert gap.adjusted is None
    text = " ".join(render(found, "text", full=True).split())
    assert "No stratum has rows of both sides: the parts of the gap are undefined." in text
    assert "add up" not in text
    assert "multiply" not in text
    assert "Mantel" not in text
    found.save(tmp_path / "why.csv")
    assert "undefined,not comparable" in (tmp_path / "why.csv").read_text()
    found.save(tmp_path / "why.json")
    assert fg.load(tmp_path / "why.json") == found


@pytest.mark.each_value
@pytest.mark.parametrize("metrics", ["base_rate.difference", "base_rate.ratio"])
@pytest.mark.parametrize("rows", [2, 20, 300])
def test_a_part_has_a_value_or_a_reason(metrics, rows):
    """Whatever the counts, and so with rates of 0 and 1: undefined is what has no value."""
    rng = np.random.default_rng(rows)
    seen = 0
    for _ in range(40):
        n = rng.integers(0, rows + 1, (2, 3))
        x = rng.binomial(n, rng.choice([0.0, 0.3, 1.0], (2, 3)))
        cells = [(g, s, int(x[i, j]), int(n[i, j]))
                 for i, g in enumerate("FM") for j, s in enumerate("ABC")]  # fmt: skip
        try:
            found = decomposed(of_strata(cells), metrics=metrics)
        except DataError:  # no gap at all
            continue
        seen += len(found.gaps)
        for part in (part for gap in found.gaps for part in gap.parts):
            assert (part.value is None) == (part.status == "undefined")
            assert (part.reason is None) == (part.status == "ok")
            assert part.value is not None or part.interval is None
        render(found, "text", full=True)
    assert seen > 5


def test_no_regression_extrapolates_to_most_of_a_side():
    """Nine in ten rows of the group are in branches that the others do not have."""
    cells = [("F", "A", 100, 500), ("F", "B", 10, 50), ("M", "C", 101, 500), ("M", "B", 480, 900)]
    (gap,) = decomposed(of_strata(cells)).gaps
    assert gap.adjusted is None


def branches(differences, rows=2_000, *, large=None):
    """Return branches whose rates differ by so much, where the groups' shares make a gap."""
    cells = []
    for i, difference in enumerate(differences):
        rate, share = (0.3, 0.7) if i % 2 else (0.6, 0.3)
        if i == large:
            rate, share, rows = 0.4, 0.5, 2 * rows
        for sex, n, r in (("F", rows * share, rate + difference), ("M", rows * (1 - share), rate)):
            cells.append((sex, f"b{i:02}", round(n * r), round(n)))
        rows = rows / 2 if i == large else rows
    return of_strata(cells)


@pytest.mark.parametrize("metrics", ["base_rate.difference", "base_rate.ratio"])
def test_differences_that_cancel_are_not_accounted_for(metrics):
    cancelling = branches([-0.044] * 11 + [0.24], large=11)
    (gap,) = decomposed(cancelling, metrics=metrics).gaps
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.VARIES)
    (gap,) = decomposed(branches([0.0] * 12), metrics=metrics).gaps
    assert gap.verdict is GapVerdict.ACCOUNTED_FOR


def test_one_outlying_stratum_is_not_averaged_away():
    """The test of all strata together need not show it."""
    (gap,) = decomposed(branches([0.0] * 39 + [0.1])).gaps
    assert gap.heterogeneity.p_value > 0.05
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.VARIES)


def test_of_several_gaps_few_headlines_claim_one_where_there_is_none():
    """Each gap by itself, 22 of 100 headlines did, and 13 of 100 reports named a stratum."""
    claimed, named = 0, 0
    tables = 60 if EVERY_CASE else 20
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        drawn = {"race": list("ABCD"), "sex": ["F", "M"], "branch": range(12), "y": [0, 1]}
        table = {name: rng.choice(list(values), 2_000) for name, values in drawn.items()}
        found = fg.why(table, label="y", positive=1, sensitive=["sex", "race"], strata="branch",
                       metrics=["base_rate.difference"])  # fmt: skip
        claimed += not str(found.brief().headline).startswith("No difference")
        named += any(each.outlying for gap in found.gaps for each in gap.strata)
    most = stats.binom.ppf(0.9, tables, 0.05)
    assert claimed <= most
    assert named <= most


def test_differences_of_means_that_cancel_are_not_accounted_for():
    (gap,) = decomposed(branches([-0.044] * 11 + [0.24], large=11), task="regression").gaps
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.VARIES)


def test_cancelling_strata_are_no_plain_pass_where_there_is_no_gap(tmp_path):
    """One stratum at +10 points, the other at -10: the rates of all are equal."""
    cells = [("F", "A", 500, 1_000), ("M", "A", 400, 1_000), ("F", "B", 400, 1_000),
             ("M", "B", 500, 1_000)]  # fmt: skip
    (gap,) = decomposed(of_strata(cells)).gaps
    assert gap.estimate.value == 0
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.VARIES)
    of_strata(cells).write_csv(tmp_path / "rows.csv")
    command = [sys.executable, "-m", "fairgauge", "why", tmp_path / "rows.csv", "--label",
               "admitted", "--sensitive", "sex", "--strata", "dept", "--count", "n"]  # fmt: skip
    done = subprocess.run([*command, "--fail-on", "remains"], capture_output=True, text=True)
    assert done.returncode == 3, done.stderr


def test_a_difference_that_composition_offsets_is_stated():
    """Within each stratum women have lower rates; more of them are in the one of high rates."""
    cells = [("F", "A", 500, 1_000), ("M", "A", 300, 500), ("F", "B", 100, 500),
             ("M", "B", 300, 1_000)]  # fmt: skip
    (gap,) = decomposed(of_strata(cells)).gaps
    assert gap.estimate.value == 0
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.OFFSET)
    (gap,) = decomposed(of_strata(cells), margins={"base_rate": 0.2}).gaps
    assert gap.verdict is GapVerdict.NO_GAP


LENDING = [("F", "A", 84, 100), ("M", "A", 276, 300), ("F", "B", 22, 30), ("M", "B", 850, 1_000),
           ("F", "C", 6, 12), ("M", "C", 750, 1_200)]  # fmt: skip
"""Within, by Mantel and Haenszel, by regression and at one side's shares women have lower rates."""
OF_MEN = {"reference": {"sex": "M"}}


@pytest.mark.parametrize("options", [
    {}, {"margins": {"base_rate": 0.02}}, {"metrics": "base_rate.ratio"},
    {"strata": ["all", "dept"]}, {"strata": None, "controls": "dept"}, {"task": "regression"},
    {"metrics": ["base_rate.ratio", "base_rate.difference"]}, {"weight": "w", "count": None},
])  # fmt: skip
def test_no_gap_passes_where_one_average_within_strata_shows_a_difference(options):
    """It was "no gap" unless the weights of both sides showed one."""
    rows = of_strata(LENDING).with_columns(all=pl.lit("x"))
    if "weight" in options:
        rows = rows.select(pl.exclude("n").repeat_by("n").explode()).with_columns(w=pl.lit(2.0))
    found = decomposed(rows, **OF_MEN, **options)
    assert found.verdict is GapVerdict.INCONCLUSIVE
    assert {gap.reason for gap in found.gaps} == {WhyInconclusive.DEPENDS_ON_WEIGHTS}
    assert "signs" not in str(found)


def test_a_column_makes_no_gap_pass_as_a_stratum_that_fails_as_a_control():
    rows = of_strata(LENDING).with_columns(all=pl.lit("x"))
    control = decomposed(rows, "all", controls="dept", **OF_MEN)
    assert control.verdict is GapVerdict.REMAINS
    assert decomposed(rows, "dept", **OF_MEN).verdict is GapVerdict.INCONCLUSIVE


def test_a_gap_is_not_accounted_for_where_one_average_within_strata_shows_a_difference():
    """Here it is the difference that is quoted, and at the shares of either side none is shown."""
    cells = [("F", "A", 15, 20), ("M", "A", 446, 500), ("F", "B", 25, 40), ("M", "B", 332, 500),
             ("F", "C", 33, 140), ("M", "C", 91, 300)]  # fmt: skip
    (gap,) = decomposed(of_strata(cells), **OF_MEN).gaps
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.DEPENDS_ON_WEIGHTS)
    assert gap.is_shown
    (gap,) = decomposed(of_strata(cells), **OF_MEN, margins={"base_rate": 0.15}).gaps
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.DEPENDS_ON_WEIGHTS)
    (gap,) = decomposed(of_strata(cells), **OF_MEN, margins={"base_rate": 0.2}).gaps
    assert gap.verdict is GapVerdict.WITHIN_MARGIN


def test_differences_of_both_signs_are_named_where_there_are_such():
    cells = [("F", "A", 500, 1_000), ("M", "A", 505, 1_000), ("F", "B", 500, 1_000)]
    (same,) = decomposed(of_strata([*cells, ("M", "B", 501, 1_000)])).gaps
    (both,) = decomposed(of_strata([*cells, ("M", "B", 499, 1_000)])).gaps
    assert same.verdict is both.verdict is GapVerdict.NO_GAP


def test_what_would_have_been_found_is_stated():
    cells = [("F", "A", 500, 1_000), ("M", "A", 501, 1_000), ("F", "B", 500, 1_000),
             ("M", "B", 500, 1_000)]  # fmt: skip
    (gap,) = decomposed(of_strata(cells)).gaps
    assert gap.verdict is GapVerdict.NO_GAP
    assert gap.detectable == pytest.approx(2.80 * np.sqrt(0.25 / 2_000 * 2), abs=0.001)
    (gap,) = decomposed(of_strata(cells), metrics="base_rate.ratio").gaps
    assert gap.detectable == pytest.approx(0.915, abs=0.003)
    (_remains,) = decomposed(of_strata([("F", "A", 100, 500), ("M", "A", 300, 500)])).gaps


def test_where_differences_vary_no_stratum_is_named_that_is_not_outlying():
    (gap,) = decomposed(branches([-0.09, -0.1, 0.09, 0.1, 0.0, 0.0])).gaps
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.VARIES)
    assert not any(each.outlying for each in gap.strata)


def test_the_headline_names_the_outlying_branch_of_forty_and_no_other():
    """The tables begin with it, too, and those of few rows follow, however large theirs is."""
    few = of_strata([("F", "few", 0, 2), ("M", "few", 2, 2)])
    found = decomposed(pl.concat([branches([-0.08] * 39 + [-0.219], rows=4_000), few]))
    strata = [each.stratum["dept"] for each in found.gaps[0].strata]
    assert (strata[0], strata[-1]) == ("b39", "few")
    (gap,) = found.gaps
    differences = [each.difference for each in gap.strata[1:-1]]
    assert differences == sorted(differences)
    none = decomposed(branches([-0.08] * 40, rows=4_000))
    assert "the difference is" not in none.brief().headline.text


def test_what_the_others_of_an_outlying_stratum_have_is_named_as_the_average_that_it_is():
    """Stated as that of "all others together", it was neither of their rows nor of their means."""
    sizes, rng = [400, 4_000, 1_000] * 4, np.random.default_rng(1)
    cells = [("F", "b00", 40, 200), ("M", "b00", 160, 200)]
    for i, n in enumerate(sizes, 1):
        fewer = rng.uniform(-0.1, 0.0)
        cells += [("F", f"b{i:02}", round(n * (0.6 + fewer)), n), ("M", f"b{i:02}", 0.6 * n, n)]
    found = decomposed(of_strata([(g, b, int(x), n) for g, b, x, n in cells]))
    d, v = rate_variances(*(np.array([c[i] for c in cells if c[0] == g], float)
                            for g in "FM" for i in (2, 3)))  # fmt: skip
    d, v = d[1:], v[1:]
    w = 1 / v
    excess = w @ (d - w @ d / w.sum()) ** 2 - (len(d) - 1)
    w = 1 / (v + excess / (w.sum() - w @ w / w.sum()))
    (outlying,) = [each for each in found.gaps[0].strata if each.outlying]
    assert excess > 0
    assert outlying.others == pytest.approx(w @ d / w.sum(), rel=1e-6)


def test_the_first_page_draws_the_parts_and_the_furthest_strata():
    found = decomposed(branches([-0.08] * 39 + [-0.219], rows=4_000))
    parts, strata = decomposition_document(found).exhibits
    assert parts.caption == "The gap and its parts"
    assert [row.label for row in strata.rows if row.badge] == ["b39"]
    assert len(strata.rows) == 1 + 8  # the common difference, and the furthest
    assert strata.rows[0].emphasis


@pytest.mark.parametrize(
    ("others", "own"), [(-0.2, -0.01), (0.2, 0.02), (-0.08, -0.25), (-0.1, 0.2), (0.0, 0.25)]
)
def test_a_branch_is_outlying_on_either_side_of_the_others(others, own):
    found = decomposed(branches([others] * 29 + [own], rows=4_000), metrics="base_rate.difference")
    (place,) = (each.stratum for each in found.gaps[0].strata if each.outlying)
    assert place == {"dept": "b29"}


def test_the_headline_names_the_outlying_branch_of_another_group():
    rows = [branches([-0.01] * 39 + [-0.2], rows=4_000), branches([-0.05] * 40, rows=4_000)]
    other = rows[1].filter(sex="F").with_columns(sex=pl.lit("X"))
    found = decomposed(pl.concat([rows[0], other]), reference={"sex": "M"})
    (_, first), (_, second) = found.gravest()
    named = {gap.estimate.group for gap in (first, second) if any(s.outlying for s in gap.strata)}
    assert named == {"F"}


def test_what_remains_within_the_margin_does_not_fail():
    cells = [("F", "A", 4_500, 10_000), ("M", "A", 5_000, 10_000), ("F", "B", 2_500, 10_000),
             ("M", "B", 3_000, 10_000)]  # fmt: skip
    (gap,) = decomposed(of_strata(cells)).gaps
    assert gap.verdict is GapVerdict.REMAINS
    (gap,) = decomposed(of_strata(cells), margins={"base_rate": 0.08}).gaps
    assert gap.verdict is GapVerdict.WITHIN_MARGIN
    (gap,) = decomposed(of_strata(cells), margins={"base_rate": 0.05}).gaps
    assert gap.verdict is GapVerdict.REMAINS


REVERSED = [("F", "A", 240, 800), ("F", "B", 150, 200), ("M", "A", 40, 200), ("M", "B", 480, 800)]


def test_a_reversal_is_a_difference_that_remains_unless_it_is_within_the_margin(tmp_path):
    of_strata(REVERSED).write_csv(tmp_path / "rows.csv")
    command = ["why", str(tmp_path / "rows.csv"), "--label", "admitted", "--sensitive", "sex",
               "--strata", "dept", "--count", "n", "--fail-on", "remains", "--quiet"]  # fmt: skip
    assert [CliRunner().invoke(main, [*command, *more]).exit_code
            for more in ([], ["--margin", "base_rate=0.02"], ["--margin", "base_rate=0.3"])
            ] == [1, 1, 0]  # fmt: skip
    (gap,) = decomposed(of_strata(REVERSED), margins={"base_rate": 0.3}).gaps
    assert gap.verdict is GapVerdict.WITHIN_MARGIN
    undecided = [("F", "A", 6, 30), ("F", "B", 12, 20), ("M", "A", 5, 20), ("M", "B", 40, 60)]
    (other,) = decomposed(of_strata(undecided)).gaps
    (reversed_,) = decomposed(of_strata(REVERSED)).gaps
    both = replace(decomposed(of_strata(REVERSED)), gaps=(reversed_, other))
    assert both.verdict is GapVerdict.REVERSES  # graver than a gap that is not decided


def test_a_margin_must_be_kept_to():
    cells = [("F", "A", 160, 800), ("F", "B", 120, 200), ("M", "A", 40, 200), ("M", "B", 480, 800)]
    (gap,) = decomposed(of_strata(cells), margins={"base_rate": 0.02}).gaps
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.BEYOND_MARGIN)
    (gap,) = decomposed(of_strata(cells), margins={"base_rate": 0.15}).gaps
    assert gap.verdict is GapVerdict.ACCOUNTED_FOR


@pytest.mark.parametrize(
    ("options", "used"),
    [
        ({"weight": "w"}, "6,000 rows, 5,400 used"),
        ({"sensitive": ["race", "sex"]}, "6,000 rows, all used for at least one feature"),
        ({"sensitive": "sex"}, "6,000 rows, 5,400 used"),
        ({}, "6,000 rows, all used"),
        ({"weight": "w", "strata": "site"}, "6,000 rows, 4,860 used"),
        ({"person": "id"}, "3,000 people, all used"),
    ],
)
def test_the_rows_that_are_used_are_stated_as_by_an_audit(options, used):
    every = range(6_000)
    rows = pl.DataFrame({
        "race": ["B" if i // 2 % 2 else "W" for i in every], "id": [i // 2 for i in every],
        "sex": ["FM"[i % 3 > 0] if i % 10 < 9 else None for i in every],
        "dept": [str(i // 2 % 5) for i in every], "y": [int(i % 7 < 3) for i in every],
        "w": [1.5 if i % 10 else None for i in every],
        "site": ["s" if i // 10 % 10 else None for i in every],
    })  # fmt: skip
    asked = {"label": "y", "positive": 1, "sensitive": "race", "strata": "dept", **options}
    fg.why(rows, **asked)
    if asked["strata"] == "dept":
        _, of_audit = used.split(", ")
        assert of_audit in flat(render(fg.audit(rows, **asked), "text"))


def test_rows_without_a_stratum_are_excluded_and_counted():
    absent = pl.DataFrame(
        {"sex": ["Female"] * 2, "dept": [None] * 2, "admitted": [1, 0], "n": [152, 348]},
        schema_overrides={"dept": pl.String},
    )  # of the rate that women have
    found = decomposed(pl.concat([ROWS, absent], how="vertical_relaxed"))
    assert [replace(gap, overall=None) for gap in found.gaps] == list(decomposed().gaps)
    assert found.excluded == {"missing stratum": 500}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strata": None}, "strata: name one to six columns"),
        ({"strata": "sex"}, "is a sensitive feature.* name another column as strata"),
        ({"strata": "admitted"}, "is the label"),
        ({"metrics": "cdd_l"}, "no metric|unknown"),
        ({"metrics": "CDDL"}, "has no decomposition"),
        (
            {"metrics": "mean_score.ratio", "score": "admitted"},
            "name the score as the prediction",
        ),
        ({"margins": {"recall": 0.1}}, "no difference in it; the rates are 'base_rate'$"),
        ({"margins": {"base_rate": 5}}, "margins.base_rate: can never be .*5 of 100 is .* 0.05"),
        (
            {"margins": {"base_rate": 0.1}, "metrics": "base_rate.ratio"},
            "margins: are of differences",
        ),
        ({"reference": "overall"}, "between different people"),
    ],
)
def test_what_has_no_decomposition_is_refused(options, message):
    with pytest.raises(SpecError, match=message):
        decomposed(**{"strata": "dept", **options})


@pytest.mark.parametrize("how", ["strata", "controls"])
def test_counts_are_decomposed_by_the_cuts_that_they_hold(how):
    """By all or some of them, as the rows are; by others, or none, they cannot be."""
    rows = pl.DataFrame({
        "sex": ["F", "M", "M"] * 200, "age": [20, 35, 45, 60] * 150, "site": ["x", "y"] * 300,
        "admitted": [1, 0, 1, 1, 0] * 120,
    })  # fmt: skip
    asked = {"label": "admitted", "sensitive": "sex", "reference": {"sex": "M"}}
    cube = fg.count(rows, **asked, strata=["site", fg.cut("age", [30, 40, 50])])

    def of(data, given):
        strata = {} if how == "strata" else {"strata": "site"}
        return fg.why(data, **{**asked, **strata, how: given}).gaps

    for points in ([30, 40, 50], [40]):
        assert of(cube, fg.cut("age", points)) == of(rows, fg.cut("age", points))
    for given in (fg.cut("age", [35]), fg.cut("age", [40, 55]), "age"):
        with pytest.raises(CubeError, match=r"hold 'age' cut at \[30.0, 40.0, 50.0\]"):
            of(cube, given)


def test_protected_counts_are_refused():
    cube = fg.protect(fg.count(ROWS, **ASKED, strata="dept"), min_cell=5)
    with pytest.raises(CubeError, match="decompose the exact counts"):
        fg.why(cube)


def survey(rows=1_200):
    """Return rows of persons with weights; each person is a cluster."""
    rng = np.random.default_rng(4)
    sex, dept = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    weight = rng.choice([1.0, 2.0, 4.0], rows)
    admitted = rng.random(rows) < 0.3 + 0.15 * dept - 0.1 * sex
    return pl.DataFrame({
        "person": np.arange(rows), "sex": np.where(sex, "Female", "Male"), "dept": dept,
        "admitted": admitted.astype(int), "w": weight, "one": 3.0,
    })  # fmt: skip


def test_weights_move_values_and_equal_ones_change_nothing():
    asked = {"label": "admitted", "sensitive": "sex", "strata": "dept",
             "reference": {"sex": "Male"}}  # fmt: skip
    rows = survey()
    assert fg.why(rows, weight="one", **asked).gaps == fg.why(rows, **asked).gaps
    (gap,) = fg.why(rows, weight="w", **asked).gaps
    parts = [gap.part(kind).value for kind in GapPartKind]
    assert sum(parts) == pytest.approx(gap.estimate.value)
    rates = rows.group_by("sex", "dept").agg(
        rate=(pl.col("admitted") * pl.col("w")).sum() / pl.col("w").sum(), w=pl.col("w").sum()
    ).sort("sex", "dept")["rate", "w"].to_numpy()  # fmt: skip
    women, men = rates[:3], rates[3:]
    remains = (women[:, 1] / women[:, 1].sum() * (women[:, 0] - men[:, 0])).sum()
    assert within(gap, StratumWeights.GROUP).value == pytest.approx(remains)
    assert sum(each.n_group + each.n_reference for each in gap.strata) == rows.height
    plain = fg.why(rows, **asked).gaps[0].adjusted.interval
    assert gap.adjusted.interval.high - gap.adjusted.interval.low > plain.high - plain.low
    repeated = rows.select(pl.all().repeat_by(pl.col("w").cast(int)).explode())
    expected = fg.why(repeated, **asked).gaps[0]
    assert gap.adjusted.value == pytest.approx(expected.adjusted.value)
    assert [p.value for p in gap.parts] == pytest.approx([p.value for p in expected.parts])
    of_means = fg.why(rows, weight="w", task="regression", **asked).gaps[0]
    assert of_means.part(GapPartKind.WITHIN).value == pytest.approx(within(gap).value)
    assert of_means.part(GapPartKind.WITHIN).interval.high == pytest.approx(
        within(gap).interval.high, abs=0.005
    )


@pytest.mark.each_value
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("task", [None, "regression"])
def test_repeated_rows_of_a_person_are_one(weight, task):
    asked = {"label": "admitted", "sensitive": "sex", "strata": "dept", "weight": weight}
    asked |= {"task": task}
    (once,) = fg.why(survey(), cluster="person", **asked).gaps
    nine = pl.concat([survey()] * 9)
    (found,) = fg.why(nine, cluster="person", **asked).gaps
    (naive,) = fg.why(nine, **asked).gaps
    for kind, weights in ((GapPartKind.COMPOSITION, "average"), (GapPartKind.WITHIN, "group")):
        widths = [
            part.interval.high - part.interval.low
            for part in (gap.part(kind, StratumWeights(weights)) for gap in (once, found, naive))
        ]
        assert widths[1] == pytest.approx(widths[0], rel=0.03)
        assert widths[2] < 0.5 * widths[0]
    for one, other in zip(once.strata, found.strata, strict=True):
        assert other.interval.high == pytest.approx(one.interval.high, abs=0.01)
    assert found.heterogeneity.p_value == pytest.approx(once.heterogeneity.p_value, abs=0.05)
    low, expected = (gap.adjusted.interval.low for gap in (found, once))
    assert low == pytest.approx(expected, rel=0.02)
    cube = fg.count(survey(), cluster="person", **asked)
    assert fg.why(cube).gaps == (once,)


@pytest.mark.parametrize("metrics", ["base_rate.difference", "base_rate.ratio"])
def test_strata_that_are_clusters_are_not_tested(metrics):
    """One cluster a stratum shows nothing of how alike its rows are."""
    rows = survey().with_columns(office=pl.col("dept"))
    asked = {"label": "admitted", "sensitive": "sex", "cluster": "office", "metrics": metrics}
    (gap,) = fg.why(rows, strata="dept", **asked).gaps
    assert gap.verdict is GapVerdict.INCONCLUSIVE or gap.verdict is GapVerdict.NO_GAP
    assert all(each.p_value is None for each in gap.strata)
    render(fg.why(rows, strata="dept", **asked), "html")
    asked["metrics"] = asked["metrics"].replace("base_rate", "mean_label")
    (of_means,) = fg.why(rows, strata="dept", task="regression", **asked).gaps
    assert of_means.verdict is GapVerdict.INCONCLUSIVE
    assert all(each.interval is None for each in of_means.strata)
    render(fg.why(rows, strata="dept", task="regression", **asked), "html")


def lending(rows=12_000):
    """Return loans: approval depends on the debt-to-income ratio alone, in which groups differ."""
    rng = np.random.default_rng(6)
    black = rng.random(rows) < 0.4
    dti = np.round(rng.normal(36 + 5 * black, 8), 1)
    approved = rng.random(rows) < 1 / (1 + np.exp(0.1 * (dti - 40)))
    return pl.DataFrame({
        "race": np.where(black, "Black", "White"), "dti": dti,
        "branch": rng.choice(["N", "S"], rows), "approved": approved.astype(int),
        "repaid": rng.integers(0, 2, rows),
    })  # fmt: skip


LENT = {"prediction": "approved", "sensitive": "race", "reference": {"race": "White"}}


def test_numbers_are_cut_at_their_quantiles(tmp_path):
    rows = lending()
    found = fg.why(rows, strata=fg.cut("dti", "quantiles"), **LENT)
    (gap,) = found.gaps
    assert gap.verdict is GapVerdict.ACCOUNTED_FOR
    sizes = [each.n_group + each.n_reference for each in gap.strata]
    assert len(sizes) == 10
    assert max(sizes) < 1.1 * min(sizes)
    cuts = np.quantile(rows["dti"], np.arange(1, 10) / 10, method="inverted_cdf").tolist()
    assert found.spec["strata"][0]["cuts"] == cuts
    (by_hand,) = fg.why(rows, strata=fg.cut("dti", cuts), **LENT).gaps
    assert by_hand.parts == gap.parts
    shuffled = rows.sample(fraction=1, shuffle=True, seed=2)
    assert fg.why(shuffled, strata=fg.cut("dti", "quantiles"), **LENT).gaps == found.gaps
    rows.write_parquet(tmp_path / "rows.parquet")
    toml = tmp_path / "why.toml"
    toml.write_text(
        'prediction = "approved"\nsensitive = "race"\nreference = {race = "White"}\n'
        'strata = [{column = "dti", cuts = "quantiles"}]\n'
    )
    assert fg.why(tmp_path / "rows.parquet", config=toml).gaps == found.gaps
    found.save(tmp_path / "why.json")
    assert fg.load(tmp_path / "why.json") == found


def test_quantiles_are_crossed_with_other_columns():
    strata = ["branch", fg.cut("dti", "quantiles")]
    (gap,) = fg.why(lending(), strata=strata, **LENT).gaps
    assert gap.support.strata == 20
    chosen = fg.why(lending(), strata=strata, where="branch = N", **LENT)
    north = lending().filter(pl.col("branch") == "N")
    expected = fg.why(north, strata=strata, **LENT)
    assert chosen.spec["strata"] == expected.spec["strata"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fg.audit(lending(), strata=fg.cut("dti", "quantiles"), **LENT), "give cut points"),
        (lambda: fg.count(lending(), strata="branch", **{**LENT, "sensitive":
                          fg.cut("dti", "quantiles")}), "give cut points"),
        (lambda: fg.why(lending(), strata=fg.cut("branch", "quantiles"), **LENT), "hold numbers"),
        (lambda: fg.why(fg.count(lending(), strata="branch", **LENT),
                        strata=fg.cut("dti", "quantiles")), "give cut points"),
    ],
)  # fmt: skip
def test_quantiles_are_of_numbers_that_why_counts(call, message):
    with pytest.raises((SpecError, DataError), match=message):
        call()


def test_rates_of_performance_are_decomposed():
    """Of those who repaid, who was approved."""
    rows = lending()
    options = {**LENT, "label": "repaid", "strata": "branch"}
    (gap,) = fg.why(rows, metrics="true_positive_rate.difference", **options).gaps
    repaid = rows.filter(pl.col("repaid") == 1)
    (expected,) = fg.why(repaid, strata="branch", **LENT).gaps
    assert [part.value for part in gap.parts] == [part.value for part in expected.parts]
    assert gap.verdict is expected.verdict


def test_a_verdict_states_why_it_is_inconclusive():
    apart = [
        ("F", "A", 150, 500), ("M", "B", 251, 500), ("F", "C", 30, 90), ("M", "C", 30, 90),
    ]  # fmt: skip
    (head, *_) = why_page(decomposed(of_strata(apart))).statements
    assert (head.verdict, head.facts["reason"]) == ("inconclusive", "not comparable")


def test_what_cannot_be_compared_is_stated_on_the_first_page():
    cells = [
        ("F", "A", 100, 300), ("M", "A", 200, 300), ("F", "B", 60, 100), ("M", "C", 50, 200),
        ("X", "D", 100, 300), ("X", "A", 100, 300),
    ]  # fmt: skip
    found = decomposed(of_strata(cells), reference={"sex": "M"})
    gap = next(each for each in found.gaps if each.estimate.group == "F")
    assert (gap.support.strata_used, gap.support.strata) == (1, 3)  # D is of neither side
    (support,) = (s for s in gap_statements(found, 0, gap) if s.code == "support")
    assert (support.facts["used"], support.facts["of"]) == (1, 3)
    assert [(side.values[0][1], share) for side, share in support.facts["sides"]] == [
        ("F", pytest.approx(0.25)), ("M", pytest.approx(0.4)),
    ]  # fmt: skip
    whole = decomposed()
    assert not any(s.code == "support" for s in gap_statements(whole, 0, whole.gaps[0]))


def test_three_groups_and_a_named_reference():
    rng = np.random.default_rng(2)
    races = ["White", "Black", "Asian"]
    rows = pl.DataFrame({
        "race": rng.choice(races, 3_000), "branch": rng.choice(list("abcd"), 3_000),
        "approved": rng.integers(0, 2, 3_000),
    })  # fmt: skip
    found = fg.why(
        rows, prediction="approved", sensitive="race", strata="branch", reference={"race": "White"}
    )
    assert [gap.estimate.group for gap in found.gaps] == ["Asian", "Black"]
    assert {gap.estimate.metric for gap in found.gaps} == {"selection_rate.difference"}
    assert found.verdict in (GapVerdict.NO_GAP, GapVerdict.REMAINS)


def test_means_are_decomposed_as_rates_are():
    """Of 0 and 1 the parts are those of the rate."""
    (of_rates,) = decomposed().gaps
    (gap,) = decomposed(task="regression").gaps
    assert gap.estimate.metric == "mean_label.difference"
    assert [p.value for p in gap.parts] == pytest.approx([p.value for p in of_rates.parts])
    assert [p.interval.high for p in gap.parts] == pytest.approx(
        [p.interval.high for p in of_rates.parts], abs=0.005
    )
    assert gap.verdict is of_rates.verdict
    assert gap.heterogeneity.p_value == pytest.approx(of_rates.heterogeneity.p_value, abs=0.005)
    assert gap.adjusted.odds_ratio is None
    ratio = decomposed(task="regression", metrics="mean_label.ratio").gaps[0]
    assert ratio.part(GapPartKind.WITHIN).value == pytest.approx(1.078695, abs=1e-6)


def several_groups(differences, n=1_000):
    """Return groups that differ by so much from group M, in two strata of equal shares."""
    cells = [
        (name, dept, round(n * (rate + d)), n)
        for name, d in (("M", 0.0), *((f"g{i}", d) for i, d in enumerate(differences)))
        for dept, rate in (("A", 0.3), ("B", 0.6))
    ]
    return of_strata(cells)


def test_verdicts_hold_for_all_gaps_together():
    """A gap that is barely there by itself (p = 0.03) is not decided among four; a clear one is."""
    alone = decomposed(several_groups([-0.033]), reference={"sex": "M"})
    assert alone.verdict is GapVerdict.REMAINS
    asked = {"reference": {"sex": "M"}, "metrics": ["base_rate.difference", "base_rate.ratio"]}
    found = decomposed(several_groups([-0.033, -0.1, 0.0, 0.0]), **asked)
    verdicts = {(g.estimate.group, g.estimate.definition.by): (g.verdict, g.reason)
                for g in found.gaps}  # fmt: skip
    for by in ("difference", "ratio"):
        assert verdicts["g0", by] == ("inconclusive", WhyInconclusive.SEVERAL_GAPS)
        assert verdicts["g1", by] == ("remains", None)
        assert verdicts["g2", by] == ("no gap shown", None)
    (_first, *_) = found.gaps
    both = decomposed(several_groups([-0.033, -0.1]), reference={"sex": "M"})
    assert {gap.verdict for gap in both.gaps} == {GapVerdict.REMAINS}  # Holm's second step


def test_false_verdicts_are_rare_over_all_groups():
    rng = np.random.default_rng(7)
    wrong, tables = 0, 60 if EVERY_CASE else 20
    for _ in range(tables):
        cells = [(name, dept, rng.binomial(400, 0.4), 400)
                 for name in ("M", *(f"g{i}" for i in range(6))) for dept in "AB"]  # fmt: skip
        found = decomposed(of_strata(cells), reference={"sex": "M"})
        wrong += found.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES)
    # 5% of 60 tables is 3, and of 20 is 1; by themselves 15% would have one
    assert wrong <= (8 if EVERY_CASE else 2)


def test_rows_that_are_used_and_excluded_add_up():
    cells = [(sex, dept, 20, 40) for sex in ("F", "M", "X") for dept in "AB"]
    rows = pl.concat([
        of_strata(cells),
        pl.DataFrame([("F", None, 1, 7), (None, "A", 1, 5)], schema=of_strata(cells).schema,
                     orient="row"),
    ])  # fmt: skip
    asked = {"exclude_groups": ["X"], "reference": {"sex": "M"}}
    found = decomposed(rows, **asked)
    expected = {"missing stratum": 7, "missing sex": 5, "group of sex that is excluded": 80}
    assert found.excluded == expected
    assert (found.data.rows, found.used) == (252, 160)
    assert found.data.rows - sum(expected.values()) == found.used
    one_by_one = rows.select(pl.all().repeat_by("n").explode()).drop("n")
    again = decomposed(one_by_one, count=None, **asked)
    assert (again.used, again.excluded) == (found.used, found.excluded)
    audit = fg.audit(rows, strata="dept", **ASKED, **asked)
    assert audit.data.used == rows.filter(pl.col("sex").is_in(["F", "M"]))["n"].sum()


def test_rows_without_an_outcome_are_excluded_from_the_gaps_that_need_it():
    """A gap in a selection rate was said to be of the rows with a label, and is of all."""
    rows = pl.DataFrame({"sex": ["F", "M", "M", "F", "F"] * 40, "dept": ["A", "B"] * 100})
    at = pl.int_range(pl.len())
    rows = rows.with_columns(p=at % 3 % 2, y=pl.when(at % 5 > 0).then(at % 2))
    asked = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "sex", "strata": "dept"}
    for metric, used in {"selection_rate": 200, "base_rate": 160, "accuracy": 160}.items():
        found = fg.why(rows, **asked, metrics=f"{metric}.difference")
        assert found.used == used
        assert found.excluded == ({} if used == 200 else {"missing label": 40})
    both = fg.why(rows, **asked, metrics=["selection_rate.difference", "base_rate.difference"])
    assert (both.used, both.excluded) == (160, {"missing label": 40})
    page = render(both, "text")
    assert "40 rows (missing label, where it is needed)" in " ".join(page.split())


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ROWS.write_csv("rows.csv")
    command = [
        "why", "rows.csv", "--label", "admitted", "--sensitive", "sex", "--strata", "dept",
        "--count", "n",
    ]  # fmt: skip

    def run(*more):
        return CliRunner().invoke(main, [*command, *more])

    done = run("-o", "why.html", "-o", "why.json")
    assert done.exit_code == 0, done.stderr
    assert "composition of dept" in done.stdout
    assert fg.load(tmp_path / "why.json").gaps == decomposed().gaps
    assert "<svg" in (tmp_path / "why.html").read_text()
    assert run("--fail-on", "remains").exit_code == 3
    quiet = run("-q").stdout
    assert "Female" in quiet
    assert "14.2 pp lower (95% CI" in quiet
    wrong = run("--margin", "0.05")
    assert wrong.exit_code == 2
    assert wrong.stderr.count("RATE=MARGIN") == 1
    assert "margins.:" not in wrong.stderr
    listed = run("--help").stdout
    assert "candidate may be worse" not in listed
    assert "within strata" in listed.split("--margin RATE=MARGIN")[1][:200]
    assert "--rule " not in listed
    assert run("--rule", "base_rate.difference <= 0.1").exit_code == 2
    assert run("--strata", "departement").exit_code == 2


def forty_branches(t05):
    """Return equal rates in 40 branches of 300 women and 500 men but one, which has its own."""
    return of_strata(
        [
            (sex, f"T{i:02}", round(n * rate), n)
            for i in range(40)
            for sex, n, rate in (("F", 300, 0.5 + (t05 if i == 5 else 0)), ("M", 500, 0.5))
        ]
    )


@pytest.mark.parametrize("branch", [-0.24, -0.49])
def test_a_named_stratum_stands_in_every_headline_and_in_what_is_next(branch):
    """With and without a gap over all strata; its difference and adjusted p stand below."""
    found = decomposed(forty_branches(branch), reference={"sex": "M"})
    (place,) = (s for s in found.gaps[0].strata if s.outlying)
    title = unescape(render(found, "html").partition("</h1>")[0])
    for text in (title, str(found.brief().headline)):
        assert "dept T05" in " ".join(text.split())
    steps = " ".join(map(str, found.brief().steps))
    assert "read cases of dept T05 first" in steps
    assert "one by one" not in steps
    assert place.stratum == {"dept": "T05"}


def test_of_many_strata_those_of_most_interest_are_open():
    """The page folds the others; the whole text has them, each with all of its columns."""
    rows = forty_branches(-0.24).with_columns(level=pl.lit("high"))
    found = decomposed(rows, strata=["dept", "level"])
    page = render(found, "html").partition('<section id="gap-0"')[2]
    strata, _, folded = page.partition("<summary>28 more strata</summary>")
    strata = strata.partition("<caption>Strata</caption>")[2]
    assert (strata.count("T"), folded.partition("</table>")[0].count(", high</bdi>")) == (12, 28)
    text = render(found, "text", full=True)
    assert all(text.count(f"\nT{i:02}, high  ") == 1 for i in range(40))
    assert "more strata in" not in text


def test_forty_branches_without_an_outlying_one_name_none():
    found = decomposed(forty_branches(0.0), reference={"sex": "M"})
    assert found.gaps[0].verdict is GapVerdict.NO_GAP
    for options in ({"quiet": True}, {"full": True}):
        assert not {"OUTLYING", "unlike all"} & set(render(found, "text", **options).split())
    assert "OUTLYING" not in render(found, "text")


def test_an_audit_with_strata_states_composition_and_where_a_gap_varies():
    audit = fg.audit(ROWS, strata="dept", **ASKED)
    text = " ".join(render(audit, "text").split())
    assert (
        "Female: of the base rate difference of −14.2 pp, −17.8 pp (95% CI −20.2 to −15.1) is "
        "composition of dept, which does not show whether dept should count. Within dept the "
        "difference varies statistically significantly "
        "(p = 0.002); unlike the others: dept A (+20.3 pp). More: fairgauge why."
    ) in text
    shown = render(audit, "text", full=True)
    strata = shown.partition("Compared with the reference by dept")[2].split("\n\n")[0]
    differences = [line for line in strata.splitlines() if "base rate difference" in line]
    assert [line.split()[0] for line in differences] == list("ABCDEF")
    assert differences[0].split()[-4:] == ["+20.3", "+11.5", "to", "+27.3"]
    assert "p = " not in strata


@pytest.mark.parametrize("positive", [0, 1])
def test_the_composition_is_stated_whichever_of_two_groups_is_worse_off(positive):
    audit = fg.audit(ROWS, strata="dept", positive=positive, **ASKED)
    (note,) = (each for each in audit.diagnostics if each.code == "composition")
    sign = "−" if positive else "+"
    assert f"difference of {sign}14.2 pp, {sign}17.8 pp" in note.message


ONE_SIDED = {
    "most": [("F", "n", 90, 300), ("M", "s", 210, 300), ("F", "e", 75, 150), ("M", "e", 75, 150)],
    "some": [("F", "n", 36, 120), ("M", "s", 84, 120), ("F", "e", 250, 500), ("M", "e", 250, 500)],
}  # fmt: skip
"""All of the gap lies in strata of one side alone: with two thirds of people, and a fifth."""


@pytest.mark.parametrize("cells", ONE_SIDED.values(), ids=ONE_SIDED)
def test_an_audit_states_the_part_of_strata_of_one_side_alone(cells):
    """It stated that 0.0 pp of −26.7 pp is composition, and nothing of the other part."""
    rows = of_strata(cells)
    audit, (gap,) = fg.audit(rows, strata="dept", **ASKED), decomposed(rows).gaps
    (note,) = (each for each in audit.diagnostics if each.code is DiagnosticCode.COMPOSITION)
    assert note["gap"] == gap.estimate.value
    for kind, name in (
        (GapPartKind.NOT_COMPARABLE, "alone"),
        (GapPartKind.COMPOSITION, "composition"),
        (GapPartKind.WITHIN, "within"),
    ):
        assert note[name] == gap.part(kind).value
    assert note["alone"] + note["composition"] + note["within"] == pytest.approx(note["gap"])
    share = f"{1 - gap.support.share_group:.1%}"
    of = f"of strata of one side alone, with {share} of F and {share} of others, which are not"
    assert of in note.message


def test_an_audit_concludes_nothing_where_most_is_in_strata_of_one_side_alone():
    audit = fg.audit(of_strata(ONE_SIDED["most"]), strata="dept", **ASKED)
    for full in (False, True):
        text = flat(render(audit, "text", full=full))
        assert "no difference is shown" not in text
        assert "more than half of one side is left out, so that nothing is concluded" in text
    assert DiagnosticCode.DISAPPEARS not in {each.code for each in audit.diagnostics}


def test_an_adjusted_difference_states_of_whom_it_is():
    audit = fg.audit(of_strata(ONE_SIDED["some"]), strata="dept", **ASKED)
    text = flat(render(audit, "text"))
    sides = "80.6% of people with sex F and 80.6% of people with sex M"
    among = f"dept (among {sides}, in strata that both are in) no difference is shown on average"
    assert f"but after adjusting for {among}" in text
    assert f"After adjusting for {among}." in text


def test_strata_that_both_sides_have_need_no_such_warning():
    audit = fg.audit(ROWS, strata="dept", **ASKED)
    assert "one side alone" not in render(audit, "text", full=True)
    assert "(among" not in render(audit, "text", full=True)


def test_a_stratum_that_stands_out_alone_contradicts_no_test_of_all():
    """ "Does not vary statistically significantly … unlike the others: dept 0" was both at once."""
    cells = [(sex, str(i), x if i or sex == "M" else 40, 200)
             for i in range(40) for sex, x in (("F", 80), ("M", 100))]  # fmt: skip
    rows = of_strata(cells)
    note = " ".join(render(fg.audit(rows, strata="dept", **ASKED), "text", full=True).split())
    assert "Over all values of dept together, variation of the difference is not" in note
    assert "; unlike the others by itself: dept 0 (" in note
    assert "does not vary" not in note
    found = decomposed(rows)
    assert not found.gaps[0].varies


def test_an_audit_without_a_finding_names_what_it_does_not_divide():
    pointer = "composition of the strata accounts for was not examined: fairgauge why."
    equal = of_strata([(sex, dept, 50, 100) for sex in "FM" for dept in "AB"])
    audit = fg.audit(equal, strata="dept", **ASKED)
    assert pointer in " ".join(render(audit, "text").split())
    assert pointer not in " ".join(render(fg.audit(ROWS, **ASKED), "text", full=True).split())
    people = {"sensitive": "sex", "population": {"sex": {"F": 0.4, "M": 0.6}}, "strata": "dept"}
    text = render(fg.audit(equal, metrics="representation.ratio", **people), "text", full=True)
    assert pointer not in " ".join(text.split())
    assert "also adjusted" not in text
    protected = fg.audit(fg.protect(fg.count(ROWS, strata="dept", **ASKED), min_cell=5))
    text = " ".join(render(protected, "text", full=True).split())
    assert pointer not in text
    assert "is composition of" not in text


def test_sides_that_separate_the_outcomes_have_no_odds_ratio():
    """The difference is kept."""
    cells = [("F", "A", 40, 40), ("F", "B", 30, 30), ("M", "A", 60, 100), ("M", "B", 20, 90)]
    (gap,) = decomposed(of_strata(cells)).gaps
    main = gap.adjusted
    assert (main.odds_ratio, main.odds_ratio_interval) == (None, None)
    assert main.value > 0.3


def test_parts_of_a_difference_of_rates_stay_within_what_one_can_be():
    cells = [("F", "A", 0, 2), ("F", "B", 1, 1), ("F", "C", 0, 1),
             ("M", "A", 10, 10), ("M", "B", 3, 9), ("M", "C", 4, 5)]  # fmt: skip
    (gap,) = decomposed(of_strata(cells)).gaps
    for part in gap.parts:
        assert part.interval.low >= -1
        assert part.interval.high <= 1


@pytest.mark.parametrize(("wrong", "warned"), [(0, True), (2, True), (40, False)])
def test_strata_that_are_the_outcome_by_another_name_are_warned_of(wrong, warned):
    cells = [("F", "yes", 300 - wrong, 300), ("F", "no", wrong, 200),
             ("M", "yes", 250 - wrong, 250), ("M", "no", wrong, 300)]  # fmt: skip
    found = decomposed(of_strata(cells))
    codes = [each.code for each in found.diagnostics]
    assert (DiagnosticCode.STRATUM_IS_OUTCOME in codes) == warned
    assert (
        "have the outcome that most rows with their 'dept' have"
        in render(found, "text").replace("\n", " ")
    ) == warned


@pytest.mark.parametrize("strata", ["dept", ["dept", "site"]])
@pytest.mark.parametrize(("wrong", "decided"), [(0, False), (2, False), (40, True)])
def test_strata_that_are_the_outcome_account_for_nothing(wrong, decided, strata):
    """A column that copies the decision "accounted for" any gap, however it was decided."""
    cells = [("F", "yes", 300 - wrong, 300), ("F", "no", wrong, 600),
             ("M", "yes", 500 - wrong, 500), ("M", "no", wrong, 400)]  # fmt: skip
    rows = of_strata(cells).with_columns(site=pl.col("dept").str.len_chars() % 2)
    (gap,) = decomposed(rows, strata).gaps
    assert (gap.reason is not WhyInconclusive.STRATA_DECIDE) == decided
    text = flat(render(decomposed(rows, strata), "text"))
    if not decided:
        assert (gap.verdict, gap.adjusted) == (GapVerdict.INCONCLUSIVE, None)
        assert "is no difference to quote" in text


def test_a_control_that_is_the_outcome_adjusts_for_nothing():
    """The regression showed that "no statistically significant difference remains"."""
    cells = [("F", "yes", 300, 300), ("F", "no", 0, 600),
             ("M", "yes", 500, 500), ("M", "no", 0, 400)]  # fmt: skip
    rows = of_strata(cells).with_columns(site=pl.col("n") % 2)
    found = decomposed(rows, "site", controls="dept")
    assert [gap.adjusted for gap in found.gaps] == [None]
    assert "by regression, no statistically" not in flat(render(found, "text"))


@pytest.mark.parametrize("role", ["strata", "controls"])
@pytest.mark.parametrize("wrong", [0.0, 0.03, 0.06])
def test_a_copy_of_the_outcome_with_mistakes_is_warned_of(wrong, role):
    """It took a gap of 9 points for composition, and nothing was said of it."""
    cells, sizes = [], {"F": (1_000, 400), "M": (1_000, 600)}
    for sex, (rows, admitted) in sizes.items():
        right, missed = round(admitted * (1 - wrong)), round((rows - admitted) * wrong)
        cells += [(sex, "yes", right, right + missed),
                  (sex, "no", admitted - right, rows - right - missed)]  # fmt: skip
    table = of_strata(cells)
    beside = {"strata": "dept"}
    if role == "controls":
        table = table.with_columns(other=pl.lit("x"))
        beside = {"strata": "other", "controls": "dept"}
    found = fg.why(table, **{**ASKED, "strata": None, **beside})
    warned = [each for each in found.diagnostics if each.code.startswith("stratum")]
    assert [each.code for each in warned] == ["stratum_is_outcome"] * (wrong < 0.05)
    if wrong == 0.03:
        assert (warned[0].level, warned[0]["share"]) == ("warning", 0.97)
        assert warned[0].message.startswith("at least 97% of the rows with each outcome have")
        assert warned[0].message.endswith(f"remove it from the {role}")


def test_the_mistakes_of_a_copy_of_the_outcome_reverse_no_gap():
    """Some admitted women are recorded as refused, and refused men as admitted."""
    table = of_strata([
        ("F", "yes", 4_000, 4_000), ("F", "no", 120, 4_120),
        ("M", "yes", 5_880, 6_000), ("M", "no", 0, 4_000),
    ])  # fmt: skip
    (gap,) = decomposed(table).gaps
    assert (gap.verdict, gap.reason) == (GapVerdict.INCONCLUSIVE, WhyInconclusive.STRATA_DECIDE)
    report = fg.audit(table, **{**ASKED, "strata": "dept"})
    assert [each.code for each in report.diagnostics if each.level == "warning"] == [
        "stratum_is_outcome"
    ]
    (finding,) = report.findings
    assert finding.adjusted is None
    for text in (render(report, "text"), render(decomposed(table), "text")):
        assert "reverse holds" not in flat(text)
        assert "REVERSES" not in text


def test_strata_in_each_of_which_nearly_all_have_one_outcome_are_no_copy():
    """98 of 100 are refused, whatever the department: to predict it for all takes none."""
    found = decomposed(of_strata([(sex, dept, 2, 100) for sex in "FM" for dept in "ABC"]))
    assert not [each for each in found.diagnostics if each.code.startswith("stratum")]


@pytest.mark.parametrize("numbers", [True, False])
def test_a_label_of_many_numbers_has_a_mean_to_compare(numbers):
    pay = pl.Series([i / 7 for i in range(2_400)])
    rows = pl.DataFrame({
        "pay": pay if numbers else pay.cast(str) + " EUR", "sex": ["F", "M", "M"] * 800,
        "grade": ["a", "b", "b", "a"] * 600,
    })  # fmt: skip
    asked = {"label": "pay", "sensitive": "sex", "strata": "grade"}
    for verb in (fg.why, fg.audit):
        with pytest.raises(DataError) as caught:
            verb(rows, **asked)
        assert ("compare its mean (task='regression', --task regression)" in str(caught.value)) == (
            numbers
        )
    if numbers:
        assert fg.why(rows, task="regression", **asked).gaps
        coded = pl.concat([pl.Series("pay", ["NA"]), pay.cast(str).rename("pay")[1:]])
        with pytest.raises(DataError, match="--task regression"):
            fg.audit(rows.with_columns(pay=coded), **asked)


@pytest.mark.parametrize("metric", ["base_rate.difference", "base_rate.ratio"])
@pytest.mark.parametrize("outcomes", [[1], [0, 1, 1]])
def test_outcomes_that_are_all_alike_are_said_to_be(outcomes, metric):
    rows = pl.DataFrame({
        "y": [outcomes[i % len(outcomes)] for i in range(3_000)], "g": ["a", "b"] * 1_500,
        "dept": ["N", "N", "S", "S"] * 750,
    })  # fmt: skip
    found = fg.why(rows, label="y", sensitive="g", strata="dept", metrics=metric)
    text, alike = flat(render(found, "text")), len(outcomes) == 1
    assert not (alike and "Look at the strata one by one" in text)
    for kind in ("html", "markdown"):
        assert render(found, kind)
    assert bool(found.brief().steps) != alike


def _means(low, high):
    """Return rows of two sides whose means are such in each of two departments, a share apart."""
    rng = np.random.default_rng(4)
    sex = rng.integers(0, 2, 4_000)
    dept = np.where(rng.random(4_000) < np.where(sex == 1, 0.15, 0.8), 0, 1)
    pay = np.where(dept == 0, np.where(sex == 1, *low), np.where(sex == 1, *high))
    pay = pay + rng.normal(size=4_000)
    return pl.DataFrame({"sex": np.where(sex, "F", "M"), "dept": dept.astype(str), "pay": pay})


def _of_means(rows, metric):
    return fg.why(rows, label="pay", task="regression", sensitive="sex", strata="dept",
                  reference={"sex": "M"}, metrics=metric)  # fmt: skip


def test_a_ratio_of_means_some_of_which_are_negative_is_never_accounted_for():
    """Its parts are undefined, though both means of all rows are above 0."""
    found = _of_means(_means((-9.0, 1.0), (6.0, 3.0)), "mean_label.ratio")
    (gap,) = found.gaps
    assert (gap.verdict, gap.reason) == (GapVerdict.INCONCLUSIVE, WhyInconclusive.UNDEFINED)
    assert "()" not in render(found, "text", full=True)


def test_a_ratio_of_0_states_why_it_has_no_interval_with_clusters():
    """It had "a ratio of numbers that are not above 0 has no parts", and parts without clusters."""
    rows = pl.DataFrame(
        {"g": "A" if u % 3 == 0 else "B", "s": "xz"[i % 2], "u": u, "y": int(u % 3 and u % 5 == i)}
        for u in range(120)
        for i in range(8)
    )
    asked = {"label": "y", "sensitive": "g", "reference": {"g": "B"}, "strata": "s"}
    asked |= {"positive": 1, "metrics": "base_rate.ratio"}
    alone, clustered = fg.why(rows, **asked), fg.why(rows, **asked, cluster="u")
    assert alone.verdict == GapVerdict.REMAINS
    flat(render(clustered, "text"))
    asked["metrics"] = "base_rate.difference"
    assert fg.why(rows, **asked, cluster="u").verdict == GapVerdict.REMAINS


def test_negative_means_have_a_difference_and_no_ratio():
    rows = _means((-5.0, -3.0), (-5.4, -3.4))
    (gap,) = _of_means(rows, "mean_label.difference").gaps
    assert (gap.verdict, gap.reason) == (GapVerdict.REMAINS, None)
    with pytest.raises(DataError, match=r"numbers that are not above 0.*ask for the difference"):
        _of_means(rows, "mean_label.ratio")


def applications(seed: int = 3, rows: int = 4_000) -> pl.DataFrame:
    """Return decisions of two races at several branches, of which A is approved less often."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["A", "B"], rows)
    approved = rng.random(rows) < np.where(race == "A", 0.7, 0.8)
    branch = rng.choice(["n", "s", "w"], rows)
    return pl.DataFrame({"race": race, "branch": branch, "ok": approved.astype(int)})


OF_RACE = {"prediction": "ok", "positive": 1, "sensitive": "race", "reference": {"race": "B"}}


@pytest.mark.parametrize(
    ("column", "reason", "warned"),
    [
        ("ok", WhyInconclusive.MISSING_OUTCOMES, DiagnosticCode.MISSING_OUTCOMES),
        ("race", WhyInconclusive.MISSING_GROUPS, DiagnosticCode.UNEQUALLY_MISSING),
    ],
)
def test_rows_that_would_show_a_gap_do_not_pass_by_their_absence(column, reason, warned):
    """Denials of one group whose decision, or group, is not recorded: no gap was shown, exit 0."""
    rows = applications()
    refused = rows.select((pl.col("race") == "A") & (pl.col("ok") == 0)).to_series()
    lacking = refused & (refused.cum_sum() <= 200)
    found = fg.why(
        rows.with_columns(pl.when(~lacking).then(column).alias(column)), strata="branch", **OF_RACE
    )
    assert {(each.verdict, each.reason) for each in found.gaps} == {
        (GapVerdict.INCONCLUSIVE, reason)
    }
    assert warned in {each.code for each in found.diagnostics}
    assert "complete the " in " ".join(map(str, found.brief().steps))
    known = pl.Series(np.random.default_rng(1).random(len(rows)) > 0.05)
    by_chance = rows.with_columns(pl.when(known).then(column).alias(column))
    other = fg.why(by_chance, strata="branch", **OF_RACE)
    assert {each.verdict for each in other.gaps} == {GapVerdict.REMAINS}
    groupless = DiagnosticCode.MISSING_GROUPS in {each.code for each in other.diagnostics}
    assert groupless == (column == "race")


@pytest.mark.parametrize(
    ("column", "reason"),
    [("ok", WhyInconclusive.MISSING_OUTCOMES), ("race", WhyInconclusive.MISSING_GROUPS)],
)
@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.ratio"])
def test_no_difference_remains_that_missing_rows_could_turn(column, reason, metric):
    """Without most denials of A its rate was the higher one, and "read cases" of the others."""
    rows = applications(rows=6_000).with_columns(
        purpose=pl.Series(np.random.default_rng(4).choice(["buy", "rent"], 6_000))
    )
    refused = (pl.col("race") == "A") & (pl.col("ok") == 0)
    nth = refused.cum_sum()

    def decomposed(lacking):
        changed = rows.with_columns(pl.when(~lacking).then(column).alias(column))
        asked = OF_RACE | {"metrics": metric, "controls": "purpose"}
        return fg.why(changed, strata="branch", **asked)

    found = decomposed(refused & (nth % 10 < 7))
    (gap,) = found.gaps
    assert gap.is_shown
    assert (gap.estimate.value or 0) > gap.estimate.definition.neutral  # in truth A has the lower
    assert (gap.verdict, gap.reason) == (GapVerdict.INCONCLUSIVE, reason)
    assert (gap.adjusted, gap.no_regression) == (None, "missing rows")
    page = flat(render(found, "text"))
    assert "rows without an outcome, a group, a weight or a count could change what it" in page
    (kept,) = decomposed(refused & (nth % 10 == 0)).gaps  # 3% of A: too few to turn 10 points
    assert (kept.verdict, kept.adjusted.is_shown) == (GapVerdict.REMAINS, True)


@pytest.mark.parametrize(
    ("lower", "lacking", "decided"),
    [
        (0.0, "accepted A", False), (0.0, "refused A", False),  # in truth there is no difference
        (0.0, "refused B", False), (0.06, "any A", False),
        (0.12, "any A", True), (0.06, "any", True), (0.06, "", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.ratio"])
def test_a_difference_remains_only_if_it_would_whatever_one_side_lacks(
    lower, lacking, decided, metric
):
    """Refused women withdrew, and "reverses within job" was shown where rates depend on the job."""
    rng = np.random.default_rng(1)
    rows = 8_000
    race, job = rng.choice(["A", "B"], rows), rng.choice(["x", "y", "z"], rows)
    share = np.select([job == "x", job == "y"], [0.3, 0.4], 0.6) - lower * (race == "A")
    ok = rng.random(rows) < share
    lost = {"accepted A": ok & (race == "A"), "refused A": ~ok & (race == "A"), "": False,
            "refused B": ~ok & (race == "B"), "any A": race == "A", "any": True}  # fmt: skip
    lost = pl.Series(lost[lacking] & (rng.random(rows) < (0.1 if "any" in lacking else 0.15)))
    data = pl.DataFrame({"race": race, "job": job, "ok": 1 * ok})
    data = data.with_columns(ok=pl.when(~lost).then("ok"))
    (gap,) = fg.why(data, strata="job", **OF_RACE, metrics=metric).gaps
    assert gap.is_shown
    verdict = GapVerdict.REMAINS if decided else GapVerdict.INCONCLUSIVE
    assert gap.verdict is verdict
    assert (gap.reason is WhyInconclusive.MISSING_OUTCOMES) != decided


def test_no_regression_shows_what_missing_outcomes_could_undo():
    """With the control it was "a difference remains", which the refused ones of A made."""
    rng = np.random.default_rng(5)
    race, job, size = (rng.choice(of, 8_000) for of in (["A", "B"], ["x", "y"], ["s", "l"]))
    ok = rng.random(8_000) < np.where(size == "s", 0.3, 0.5)
    lost = pl.Series(~ok & (race == "A") & (rng.random(8_000) < 0.15))
    data = pl.DataFrame({"race": race, "job": job, "size": size, "ok": 1 * ok})
    asked = {"strata": "job", "controls": "size", **OF_RACE}
    (gap,) = fg.why(data.with_columns(ok=pl.when(~lost).then("ok")), **asked).gaps
    assert (gap.adjusted, gap.no_regression) == (None, "missing rows")


def test_a_regression_that_shows_no_difference_is_none_where_outcomes_are_missing_unevenly():
    """The difference remained by branch, and "no difference remains" with the control."""
    rng = np.random.default_rng(6)
    race, branch = rng.choice(["A", "B"], 8_000), rng.choice(["n", "s"], 8_000)
    grade = rng.random(8_000) < np.where(race == "A", 0.3, 0.7)
    ok = rng.random(8_000) < np.where(grade, 0.8, 0.4)
    rows = pl.DataFrame({"race": race, "branch": branch, "grade": grade.astype(str), "ok": 1 * ok})
    lacking = (pl.col("race") == "A") & (pl.int_range(8_000) % 20 == 0)
    asked = {"strata": "branch", "controls": "grade", **OF_RACE}
    (gap,) = fg.why(rows, **asked).gaps
    assert (gap.verdict, gap.adjusted.is_shown) == (GapVerdict.REMAINS, False)
    (gap,) = fg.why(rows.with_columns(ok=pl.when(~lacking).then("ok")), **asked).gaps
    assert (gap.verdict, gap.no_regression) == (GapVerdict.REMAINS, "missing rows")


@pytest.mark.parametrize(("lacking", "decided"), [(0.02, True), (0.4, False)])
def test_a_difference_of_means_remains_unless_the_missing_could_turn_it(lacking, decided):
    """Without the highest numbers of A its mean was the lower one."""
    rng = np.random.default_rng(8)
    race, branch = rng.choice(["A", "B"], 6_000), rng.choice(["n", "s"], 6_000)
    spread = rng.normal(np.where(race == "A", 1.5, 2.0 if decided else 1.4), 0.5)
    high = np.quantile(spread[race == "A"], 1 - lacking)
    known = np.where((race == "A") & (spread > high), np.nan, spread)
    rows = pl.DataFrame({"race": race, "branch": branch, "spread": known}).fill_nan(None)
    asked = {"label": "spread", "task": "regression", "sensitive": "race"}
    (gap,) = fg.why(rows, strata="branch", reference={"race": "B"}, **asked).gaps
    assert (gap.estimate.value or 0) < 0
    assert gap.verdict is (GapVerdict.REMAINS if decided else GapVerdict.INCONCLUSIVE)


def test_rows_without_a_group_between_the_others_leave_a_difference_that_remains():
    """Of many mortgage applications no race is recorded, and more of them are denied."""
    rng = np.random.default_rng(9)
    race = rng.choice(["A", "B", ""], 20_000, p=[0.1, 0.75, 0.15])
    ok = rng.random(20_000) < np.select([race == "A", race == "B"], [0.7, 0.85], 0.78)
    rows = pl.DataFrame({
        "race": race, "branch": rng.choice(["n", "s"], 20_000), "ok": 1 * ok,
    }).with_columns(race=pl.when(pl.col("race") != "").then("race"))  # fmt: skip
    (gap,) = fg.why(rows, strata="branch", **OF_RACE).gaps
    assert gap.verdict is GapVerdict.REMAINS


def loan_counts(*cells: tuple[str, str, int, int]) -> pl.DataFrame:
    """Return counts of approved and denied loans by kind and race, of which "" is not known."""
    rows = [(*at, ok, n) for *at, yes, no in cells for ok, n in ((1, yes), (0, no))]
    table = pl.DataFrame(rows, schema=["loan", "race", "ok", "n"], orient="row")
    return table.with_columns(race=pl.when(pl.col("race") != "").then("race"))


ALIKE = [
    ("FHA", "A", 1060, 820), ("FHA", "B", 1160, 900),
    ("Conventional", "A", 1110, 290), ("Conventional", "B", 4300, 1140),
]  # fmt: skip
BY_LOAN = {**OF_RACE, "count": "n", "strata": "loan"}


@pytest.mark.parametrize(
    ("unknown", "passes"),
    [
        ([("FHA", "", 60, 240), ("Conventional", "", 850, 90)], False),
        ([("FHA", "", 170, 130), ("Conventional", "", 742, 198)], True),
    ],
)
def test_rows_without_a_group_are_compared_with_the_others_within_strata(unknown, passes):
    """They were denied more often in one stratum, less often in the other: "accounted for"."""
    table = loan_counts(*ALIKE, *unknown)
    found = fg.why(table, **BY_LOAN)
    (gap,) = found.gaps
    verdict = GapVerdict.ACCOUNTED_FOR if passes else GapVerdict.INCONCLUSIVE
    assert gap.verdict is verdict
    assert (gap.reason is WhyInconclusive.MISSING_GROUPS) != passes
    assert ("complete the groups" in " ".join(map(str, found.brief().steps))) != passes
    report = fg.audit(table, **BY_LOAN)
    codes = {each.reason and each.reason.code for each in report.estimates if each.scope == POOLED}
    assert codes == {None if passes else ReasonCode.GROUPS_MISSING}
    text = flat(render(report, "text"))
    assert ("overall or within strata, and could change what is shown" in text) != passes
    assert ("no difference is shown" in text) == passes
    branches = pl.DataFrame({"branch": list("abcdefghij")})
    by_branch = table.join(branches, how="cross").with_columns(n=pl.col("n") // 10)
    asked = BY_LOAN | {"strata": "branch", "controls": "loan"}
    (gap,) = fg.why(by_branch, **asked).gaps
    beside = GapVerdict.ACCOUNTED_FOR if passes else GapVerdict.INCONCLUSIVE
    assert gap.regression_verdict is beside


@pytest.mark.parametrize(
    ("unknown", "decided"),
    [
        ([("FHA", "", 680, 1320)], False),  # fewer than of either side: no mixture of both
        ([("FHA", "", 600, 500), ("Conventional", "", 790, 210)], True),
        ([], True),
    ],
)
def test_no_difference_reverses_that_rows_without_a_group_could_undo_within_strata(
    unknown, decided
):
    """All of one side left the sign; the approved ones of one, the others of the other do not."""
    known = [("FHA", "A", 1120, 880), ("FHA", "B", 520, 480),
             ("Conventional", "A", 850, 150), ("Conventional", "B", 4650, 1350)]  # fmt: skip
    table = loan_counts(*known, *unknown)
    (gap,) = fg.why(table, **BY_LOAN).gaps
    assert gap.verdict is (GapVerdict.REVERSES if decided else GapVerdict.INCONCLUSIVE)
    assert (gap.reason is WhyInconclusive.MISSING_GROUPS) != decided
    report = fg.audit(table, **BY_LOAN)
    codes = {each.reason and each.reason.code for each in report.estimates if each.scope == POOLED}
    assert codes == {None if decided else ReasonCode.GROUPS_MISSING}
    assert ("reverse" in str(report.brief().headline)) == decided


@pytest.mark.parametrize(("approved", "passes"), [(1022, False), (1060, True)])
def test_a_gap_is_not_accounted_for_where_a_stratum_shows_a_difference(approved, passes):
    """The verdict was "accounted for; statistically significant in FHA", and exit 0."""
    cells = [("FHA", "A", approved, 1380 - approved), ("FHA", "B", 1555, 445)]
    cells += [(loan, *of) for loan in ("VA", "Conventional")
              for of in (("A", 1803, 197), ("B", 9000, 1000))]  # fmt: skip
    found = fg.why(loan_counts(*cells), **BY_LOAN)
    (gap,) = found.gaps
    assert gap.heterogeneity.p_value > 0.05
    assert gap.verdict is (GapVerdict.ACCOUNTED_FOR if passes else GapVerdict.INCONCLUSIVE)
    assert (gap.reason is WhyInconclusive.IN_A_STRATUM) != passes
    page = flat(render(found, "text"))
    assert ("read cases of loan FHA" in page) != passes
    assert ("ask whether loan should count" in page) == passes


@pytest.mark.parametrize(
    ("column", "nothing"), [("weight", None), ("count", None), ("weight", 0)]
)  # fmt: skip
@pytest.mark.parametrize("margins", [{}, {"margins": {"selection_rate": 0.2}}])
def test_rows_that_are_not_counted_do_not_pass_by_their_absence(column, nothing, margins):
    """Denials of one group without a weight: no gap was shown, exit 0, without a warning."""
    rows = applications()
    refused = rows.select((pl.col("race") == "A") & (pl.col("ok") == 0)).to_series()
    asked = {"strata": "branch", column: "of", **OF_RACE, **margins}

    def decomposed(lacking):
        return fg.why(rows.with_columns(of=pl.when(~lacking).then(1).otherwise(nothing)), **asked)

    found = decomposed(refused & (refused.cum_sum() <= 200))
    assert {(each.verdict, each.reason) for each in found.gaps} == {
        (GapVerdict.INCONCLUSIVE, WhyInconclusive.NOT_COUNTED)
    }
    assert DiagnosticCode.UNCOUNTED_ROWS in {each.code for each in found.diagnostics}
    page = flat(render(found, "text"))
    assert "complete the weights, counts or values of conditions that are missing" in page
    few = decomposed(refused & (refused.cum_sum() <= 5))
    assert not {each.verdict for each in few.gaps} & {GapVerdict.INCONCLUSIVE}
    assert DiagnosticCode.UNCOUNTED_ROWS not in {each.code for each in few.diagnostics}


def test_applications_that_were_not_decided_are_warned_of():
    """Withdrawn applications (HMDA's code 4) counted as refused without a word."""
    codes = np.random.default_rng(2).choice([1, 3, 4], 2_000, p=[0.6, 0.2, 0.2])
    rows = applications(rows=2_000).with_columns(action_taken=pl.Series(codes))
    found = fg.why(rows, strata="branch", **OF_RACE | {"prediction": "action_taken"})
    (warned,) = [e for e in found.diagnostics if e.code is DiagnosticCode.UNDECIDED_OUTCOMES]
    assert "--where 'action_taken != 4'" in warned.message


@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.ratio"])
def test_strata_of_one_side_alone_are_no_composition(metric):
    """A gap whose composition was 0 was accounted for by it."""
    cells = pl.DataFrame({
        "sex": ["M", "M", "F", "F", "F"],
        "branch": ["n", "s", "n", "s", "west"],
        "n": [1_000, 1_000, 600, 600, 800],
        "accepted": [700, 700, 420, 420, 320],
    })  # fmt: skip
    rows = pl.concat([
        cells.select("sex", "branch", pl.lit(1).alias("d"), pl.col("accepted").alias("n")),
        cells.select("sex", "branch", pl.lit(0).alias("d"), pl.col("n") - pl.col("accepted")),
    ])  # fmt: skip
    asked = {
        "prediction": "d", "positive": 1, "sensitive": "sex", "count": "n", "metrics": metric,
    }  # fmt: skip
    found = fg.why(rows, strata="branch", **asked)
    (gap,) = found.gaps
    neutral = gap.estimate.definition.neutral
    assert gap.part(GapPartKind.COMPOSITION).value == pytest.approx(neutral)
    assert (gap.verdict, gap.reason) == (GapVerdict.INCONCLUSIVE, WhyInconclusive.ONE_SIDED)
    assert "with none of the other side" in " ".join(str(found).split())
    assert "accounted for by" not in str(found).casefold()


def test_decisions_by_a_score_are_called_by_its_threshold():
    rng = np.random.default_rng(0)
    rows = {"s": rng.random(400), "y": [0, 1] * 200, "sex": ["F", "M", "M", "F"] * 100}
    rows = pl.DataFrame({**rows, "dept": ["a", "a", "b"] * 133 + ["b"]})
    asked = {"label": "y", "score": "s", "sensitive": "sex", "strata": "dept", "threshold": 0.75}
    text = flat(render(fg.why(rows, **asked), "text"))
    assert "prediction" not in text
    text = flat(render(fg.why(rows, **asked, profile="clarify"), "text"))  # 0.75 is below it there


def test_rows_without_a_stratum_are_counted_before_those_without_a_group():
    rows = of_strata([(sex, dept, 50, 100) for sex in "FM" for dept in "AB"])
    lacking = pl.DataFrame(
        {"sex": [None, None, "F"], "dept": ["A", None, None], "admitted": [1] * 3, "n": [5, 6, 7]},
        schema=rows.schema,
    )
    text = flat(render(decomposed(pl.concat([rows, lacking])), "text"))
    of_each = "13 cases (missing stratum); 5 cases (missing sex, of those with a stratum)"
    assert f"Excluded: {of_each}." in text
    text = flat(render(decomposed(pl.concat([rows, lacking[:1]])), "text"))
    assert "Excluded: 5 cases (missing sex)." in text


def test_excluded_rows_that_no_count_is_of_are_called_rows():
    """Rows that stand for 15 cases were 2 cases, and a row without a count was a case."""
    rows = of_strata([(sex, dept, 50, 100) for sex in "FM" for dept in "AB"])
    rows = rows.with_columns(job=pl.lit("x"))
    lacking = pl.DataFrame(
        {"sex": ["F"] * 3, "dept": ["A", "B", None], "admitted": [1] * 3, "n": [7, 8, 9]}
    ).with_columns(job=pl.when(pl.col("n") > 8).then(pl.lit("x")))
    text = flat(render(decomposed(pl.concat([rows, lacking]), where="job = x"), "text"))
    assert "Excluded: 15 cases (missing job (where)); 9 cases (missing stratum)." in text
    lacking = lacking.with_columns(n=pl.lit(None, dtype=pl.Int64), job=pl.lit("x"))
    text = flat(render(decomposed(pl.concat([rows, lacking])), "text"))
    assert "Excluded: 3 rows (missing count)." in text


@pytest.mark.parametrize("where", ["job = x", "sex = F or M", None])
def test_each_number_of_excluded_rows_is_of_the_rows_that_are_left_by_those_before(where):
    """Rows of unknown race, 50 of them without a branch, were 200 "of those with a stratum"."""
    rng = np.random.default_rng(0)
    values = {"sex": ["F", "M", None], "dept": ["A", "B", None], "job": ["x", "y", None]}
    drawn = {name: [of[i] for i in rng.integers(0, 3, 600)] for name, of in values.items()}
    rows = pl.DataFrame(drawn).with_columns(
        admitted=pl.Series(rng.integers(0, 2, 600)),
        w=pl.when(pl.int_range(600) % 50 > 0).then(1.5),
    )
    lacks = {name: pl.col(name).is_null() for name in rows.columns}
    first, reason, others = {
        "job = x": (lacks["job"], "missing job (where)", pl.col("job") != "x"),
        "sex = F or M": (lacks["sex"], "missing sex (where)", pl.lit(False)),
        None: (lacks["w"], "missing weight", pl.lit(False)),
    }[where]
    asked = {"label": "admitted", "positive": 1, "sensitive": "sex", "strata": "dept"}
    found = fg.why(rows, **asked, where=where, weight=None if where else "w")
    left = rows.filter(~first & ~others)
    numbered = [
        (reason, rows.filter(first).height),
        ("missing stratum", left.filter(lacks["dept"]).height),
        ("missing sex, of those with a stratum", left.filter(lacks["sex"] & ~lacks["dept"]).height),
    ]
    listed = "; ".join(f"{n} rows ({reason})" for reason, n in numbered if n)
    assert f"Excluded: {listed}." in flat(render(found, "text"))


def of_clusters(clusters, low=("B01", "B02"), branches=12, n=60, **options):
    """Return the decomposition of branches with so many clusters each, two of another rate."""
    rows = [
        {"branch": f"B{b:02}", "race": race, "cluster": f"{b} {i % clusters}",
         "y": int(i % 10 < (4 if race == "b" and f"B{b:02}" in low else 8))}
        for b in range(1, 1 + branches) for race in "bw" for i in range(n)
    ]  # fmt: skip
    return fg.why(
        pl.DataFrame(rows), prediction="y", positive=1, sensitive="race",
        reference={"race": "w"}, cluster="cluster", **{"strata": "branch", **options},
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"margins": {"selection_rate": 0.5}}])
def test_nothing_passes_where_no_stratum_has_clusters_to_test_whether_the_difference_varies(
    options,
):
    """Each branch was one cluster: "no gap is shown", with two of twelve at -40 points."""
    found = of_clusters(1, **options)
    (gap,) = found.gaps
    assert gap.heterogeneity is None
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.NOT_TESTED)
    assert (gap.support.strata_untested, gap.support.strata_used) == (12, 12)
    text = " ".join(render(found, "text").split())
    assert "Not tested (fewer than two clusters on a side): 12 of 12 strata." in text


def test_strata_of_several_clusters_are_tested():
    (gap,) = of_clusters(20, low=()).gaps
    assert gap.heterogeneity is not None
    assert (gap.verdict, gap.support.strata_untested) == ("no gap shown", 0)


def _of_races(selected, n=700):
    """Return applicants for two jobs: 2,000 White people and others, so many of each selected."""
    cells = [("White", "A", 480, 1_200), ("White", "B", 160, 800)]
    for race, (in_a, in_b, at_a) in selected.items():
        cells += [(race, "A", in_a, at_a), (race, "B", in_b, n - at_a)]
    return of_strata(cells)


@pytest.mark.parametrize("metric", ["base_rate.difference", "base_rate.ratio"])
def test_groups_without_a_gap_make_no_gap_to_the_best_group_pass(metric):
    """All parts have the interval of one gap alone, and only claims allow for the choice."""
    alike, lower = (168, 55, 420), {"Black": (127, 64, 335)}
    asked = {"reference": "best", "metrics": [metric]}
    (alone,) = decomposed(_of_races(lower), **asked).gaps
    several = _of_races(lower | {"Asian": alike, "Hispanic": alike, "Other": alike})
    found = decomposed(several, **asked)
    named = decomposed(several, **asked | {"reference": {"sex": "White"}})
    assert alone.verdict is GapVerdict.INCONCLUSIVE
    for gap, same in zip(found.gaps, named.gaps, strict=True):
        assert (gap.estimate.interval, gap.parts) == (same.estimate.interval, same.parts)
        assert (gap.verdict, gap.reason) == (same.verdict, same.reason)
        assert gap.p_adjusted >= same.p_adjusted
    black = next(gap for gap in found.gaps if gap.estimate.group == "Black")
    assert black.estimate.interval == alone.estimate.interval
    assert (black.verdict, black.reason) == (alone.verdict, alone.reason)
    text = flat(render(found, "text"))
    assert "hold for all 4 gaps together (Holm, whichever group is the best);" in text


def test_a_gap_to_the_best_group_is_claimed_for_all_pairs_of_groups():
    """A gap of p = 0.012 is decided among three gaps, and not among the six pairs of groups."""
    data = several_groups([-0.038, 0.0, 0.0])
    named = decomposed(data, reference={"sex": "M"}).gaps[0]
    best = decomposed(data, reference="best").gaps[0]
    assert named.estimate.p_value == best.estimate.p_value == pytest.approx(0.012, abs=0.004)
    assert named.verdict is GapVerdict.REMAINS
    assert (best.verdict, best.reason) == ("inconclusive", WhyInconclusive.SEVERAL_GAPS)
    assert best.p_adjusted == pytest.approx(2 * named.p_adjusted)
    clear = decomposed(several_groups([-0.06, 0.0, 0.0]), reference="best")
    assert clear.gaps[0].verdict is GapVerdict.REMAINS


@pytest.mark.parametrize("reference", ["best", "others"])
def test_groups_with_insufficient_data_are_in_no_family_of_the_headline_either(reference):
    """Twenty races of one row made 210 pairs: "No difference … is shown" above REMAINS."""
    cells = [("F", "A", 66), ("F", "B", 76), ("M", "A", 90), ("M", "B", 100)]
    rows = of_strata([
        (sex, dept, y, 1) for sex, dept, x in cells for y in [1] * x + [0] * (250 - x)
    ]).filter(pl.col("n") > 0)  # fmt: skip
    race = [f"small{i // 50}" if i % 50 == 0 else "w" for i in range(len(rows))]
    rows = rows.with_columns(race=pl.Series(race))
    found = decomposed(rows, sensitive=["sex", "race"], reference=reference)
    (women,) = (gap for gap in found.gaps if gap.estimate.group == "F")
    assert women.verdict is GapVerdict.REMAINS
    assert women.p_adjusted < 0.05
    assert "less often than" in found.brief().headline.text
    small = [gap for gap in found.gaps if (gap.estimate.group or "").startswith("small")]
    assert all(gap.p_adjusted is None or gap.p_adjusted > 0.05 for gap in small)


def test_a_regression_that_shows_a_difference_by_itself_does_not_pass_among_several():
    data = several_groups([-0.038, 0.0, 0.0]).with_columns(site=pl.lit("S"))
    found = decomposed(data, reference="best", controls="site")
    gap = found.gaps[0]
    assert 0 not in gap.adjusted.interval
    assert gap.regression_verdict is GapVerdict.INCONCLUSIVE


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_rows_without_a_cluster_are_excluded_from_intervals_alone(share):
    rng = np.random.default_rng(7)
    n = 1_200
    person = pl.Series([f"p{i // 2}" for i in range(n)])
    data = pl.DataFrame({
        "person": pl.select(pl.when(pl.Series(rng.random(n) >= share)).then(person)).to_series(),
        "sex": rng.choice(["F", "M"], n), "dept": rng.choice(["A", "B"], n),
        "admitted": rng.integers(0, 2, n),
    })  # fmt: skip
    found = fg.why(data, label="admitted", sensitive="sex", strata="dept", cluster="person")
    without = data["person"].null_count()
    assert found.used == n
    assert found.gaps[0].support.share_group == 1
    assert found.excluded == {"missing cluster": without}
    for full in (True, False):
        text = flat(render(found, "text", full=full))
        assert f"{without} rows (missing cluster, excluded from confidence intervals alone)" in text
    warned = "values include them, confidence intervals do not" in text
    assert warned == (share > 0.05)
