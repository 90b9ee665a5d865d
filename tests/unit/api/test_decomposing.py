"""Why is there a gap: its parts, what remains within strata, and what is refused."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import (
    DiagnosticCode,
    GapPartKind,
    GapVerdict,
    ScopeKind,
    StratumWeights,
    WhyInconclusive,
)
from fairgauge.errors import CubeError, DataError, SpecError
from fairgauge.render import render
from fairgauge.results.estimates import is_significant
from fairgauge.statements.sections import shown_adjusted_alone

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
    main = gap.adjusted
    assert main.value == pytest.approx(0.019497, abs=1e-6)
    assert main.odds_ratio == pytest.approx(np.exp(0.099870), abs=1e-5)
    assert [s.stratum["dept"] for s in gap.strata if s.outlying] == ["A"]


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
        # no gap is shown, and a difference within strata could not be seen
        ([("F", "A", 40, 100), ("F", "B", 1, 2), ("M", "A", 40, 100), ("M", "B", 30, 70)],
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
    assert ("strata of one side alone" in flat(text)) == alone


NO_OVERLAP = [("F", "A", 30, 100), ("F", "B", 30, 120), ("M", "C", 50, 100), ("M", "D", 40, 90)]


NO_GAP = [("F", "A", 150, 500), ("M", "B", 151, 500)]


@pytest.mark.parametrize("cells", [NO_OVERLAP, NO_GAP])
@pytest.mark.parametrize("options", [{}, {"metrics": "base_rate.ratio"}, {"task": "regression"}])
def test_without_overlap_of_strata_parts_are_undefined(options, cells, tmp_path):
    """No stratum has both sides: 0/0 is no 0, and the side is a function of the strata."""
    found = decomposed(of_strata(cells), **options)
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
    for _ in range(15):
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


def test_cancelling_strata_are_no_plain_pass_where_there_is_no_gap(tmp_path):
    """One stratum at +10 points, the other at -10: the rates of all are equal."""
    cells = [("F", "A", 500, 1_000), ("M", "A", 400, 1_000), ("F", "B", 400, 1_000),
             ("M", "B", 500, 1_000)]  # fmt: skip
    (gap,) = decomposed(of_strata(cells)).gaps
    assert gap.estimate.value == 0
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.VARIES)
    of_strata(cells).write_csv(tmp_path / "rows.csv")
    command = ["why", str(tmp_path / "rows.csv"), "--label=admitted", "--sensitive=sex",
               "--strata=dept", "--count=n", "--fail-on=remains"]  # fmt: skip
    assert CliRunner().invoke(main, command).exit_code == 3


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


def test_what_remains_within_the_margin_does_not_fail():
    cells = [("F", "A", 4_500, 10_000), ("M", "A", 5_000, 10_000), ("F", "B", 2_500, 10_000),
             ("M", "B", 3_000, 10_000)]  # fmt: skip
    (gap,) = decomposed(of_strata(cells)).gaps
    assert gap.verdict is GapVerdict.REMAINS
    (gap,) = decomposed(of_strata(cells), margins={"base_rate": 0.08}).gaps
    assert gap.verdict is GapVerdict.WITHIN_MARGIN
    (gap,) = decomposed(of_strata(cells), margins={"base_rate": 0.05}).gaps
    assert gap.verdict is GapVerdict.REMAINS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strata": None}, "strata: name one to six columns"),
        ({"strata": "sex"}, "is a sensitive feature.* name another column as strata"),
        ({"strata": "admitted"}, "is the label"),
        ({"metrics": "cdd_l"}, "no metric|unknown"),
        ({"metrics": "CDDL"}, "has no decomposition"),
        ({"metrics": "mean_score.ratio", "score": "admitted"}, "mean of a label or a prediction"),
        ({"margins": {"recall": 0.1}}, "no difference in it; the rates are 'base_rate'$"),
        ({"margins": {"base_rate": 5}}, "margins.base_rate: can never be exceeded"),
        (
            {"margins": {"base_rate": 0.1}, "metrics": "base_rate.ratio"},
            "margins: are of differences",
        ),
        ({"reference": "overall"}, "between different people"),
        ({"controls": "dept"}, "asked for twice"),
        ({"controls": "sex"}, "sensitive"),
    ],
)
def test_what_has_no_decomposition_is_refused(options, message):
    with pytest.raises(SpecError, match=message):
        decomposed(**{"strata": "dept", **options})


@pytest.mark.parametrize("how", ["strata", "controls"])
def test_counts_are_decomposed_by_the_cuts_that_they_hold(how):
    """By all of them, as the rows are; by some, others, or none, they cannot be."""
    rows = pl.DataFrame({
        "sex": ["F", "M", "M"] * 200, "age": [20, 35, 45, 60] * 150, "site": ["x", "y"] * 300,
        "admitted": [1, 0, 1, 1, 0] * 120,
    })  # fmt: skip
    asked = {"label": "admitted", "sensitive": "sex", "reference": {"sex": "M"}}
    cube = fg.count(rows, **asked, strata=["site", fg.cut("age", [30, 40, 50])])

    def of(data, given):
        strata = {} if how == "strata" else {"strata": "site"}
        return fg.why(data, **{**asked, **strata, how: given}).gaps

    held = fg.cut("age", [30, 40, 50])
    assert of(cube, held) == of(rows, held)
    for given in (fg.cut("age", [40]), fg.cut("age", [35]), "age"):
        with pytest.raises(CubeError, match=r"hold 'age' cut at \[30.0, 40.0, 50.0\]"):
            of(cube, given)


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
    quiet, full = render(found, "text", quiet=True), flat(render(found, "text"))
    assert [name for name in ("g0", "g1", "g2", "g3") if f"{name}: " in quiet] == ["g1"]
    assert "Sizes are rounded one by one, so parts may not add up to the last digit." in full
    both = decomposed(several_groups([-0.033, -0.1]), reference={"sex": "M"})
    assert {gap.verdict for gap in both.gaps} == {GapVerdict.REMAINS}  # Holm's second step


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
    page = render(both, "text", full=True)
    assert "missing label, where it is needed 40 rows" in " ".join(page.split())


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
    assert "14.2 pp lower (95% CI" in run("-q").stdout
    wrong = run("--margin", "0.05")
    assert (wrong.exit_code, wrong.stderr.count("RATE=MARGIN")) == (2, 1)
    assert run("--rule", "base_rate.difference <= 0.1").exit_code == 2


def test_sides_that_separate_the_outcomes_have_no_regression():
    cells = [("F", "A", 40, 40), ("F", "B", 30, 30), ("M", "A", 60, 100), ("M", "B", 20, 90)]
    (gap,) = decomposed(of_strata(cells)).gaps
    assert (gap.adjusted, gap.no_regression) == (None, "separated")


def copying(wrong=0):
    """Return rows whose department copies the decision but for so many."""
    cells = [("F", "yes", 300 - wrong, 300), ("F", "no", wrong, 600),
             ("M", "yes", 500 - wrong, 500), ("M", "no", wrong, 400)]  # fmt: skip
    return of_strata(cells).with_columns(site=pl.col("dept").str.len_chars() % 2)


@pytest.mark.parametrize("strata", ["dept", ["dept", "site"]])
@pytest.mark.parametrize(("wrong", "decided"), [(0, False), (2, False), (40, True)])
def test_strata_that_are_the_outcome_account_for_nothing(wrong, decided, strata):
    """A column that copies the decision "accounted for" any gap, however it was decided."""
    rows = copying(wrong)
    (gap,) = decomposed(rows, strata).gaps
    assert (gap.reason is not WhyInconclusive.STRATA_DECIDE) == decided
    text = flat(render(decomposed(rows, strata), "text"))
    if not decided:
        assert (gap.verdict, gap.adjusted) == (GapVerdict.INCONCLUSIVE, None)
        assert "is no difference to quote" in text


def test_a_control_that_is_the_outcome_adjusts_for_nothing():
    """The regression showed that "no statistically significant difference remains"."""
    found = decomposed(copying().with_columns(site=pl.col("n") % 2), "site", controls="dept")
    assert [gap.adjusted for gap in found.gaps] == [None]
    assert "by regression, no statistically" not in flat(render(found, "text"))


def applications(seed: int = 3, rows: int = 4_000) -> pl.DataFrame:
    """Return decisions of two races at several branches, of which A is approved less often."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["A", "B"], rows)
    approved = rng.random(rows) < np.where(race == "A", 0.7, 0.8)
    branch = rng.choice(["n", "s", "w"], rows)
    return pl.DataFrame({"race": race, "branch": branch, "ok": approved.astype(int)})


OF_RACE = {"prediction": "ok", "positive": 1, "sensitive": "race", "reference": {"race": "B"}}


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
    assert "hold for all gaps together (Holm, whichever group is the best)" in text


COMPARED = [("F", "x", 160, 200), ("F", "y", 300, 600), ("F", "z", 180, 1_200),
            ("M", "x", 1_200, 1_500), ("M", "y", 450, 900), ("M", "z", 90, 600)]  # fmt: skip
"""Cells with the same rates of both sides in every stratum; women are in the worse ones."""


@pytest.mark.parametrize(
    ("metric", "stratum", "alone", "verdict"),
    [("difference", "q", 1_000, "inconclusive"), ("ratio", "q", 1_000, "inconclusive"),
     ("difference", "q", 5, "accounted for"), ("ratio", "q", 5, "accounted for"),
     ("difference", "N/A", 1_000, "inconclusive"), ("difference", None, 1_000, "inconclusive")],
)  # fmt: skip
def test_rows_in_no_comparison_could_undo_a_pass(metric, stratum, alone, verdict):
    """A third of the women, all refused, in a stratum of their own: "accounted for"."""
    rows = of_strata([*COMPARED, ("F", stratum, 0, alone)])
    found = decomposed(rows, metrics=f"base_rate.{metric}")
    assert str(found.gaps[0].verdict) == verdict
    if stratum == "q":
        assert f"{alone:,} of the {2_000 + alone:,} people with sex F" in flat(str(found))


# ---- fg.why of means by regression, and with presets
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


@pytest.mark.parametrize("task", ["regression", None])
def test_clustered_rows_have_no_average_by_mantel_haenszel(task):
    """Its interval would regard the rows of a cluster in several strata as independent."""
    table = of_firms(np.random.default_rng(8)).with_columns(pay=(pl.col("pay") > 33).cast(int))
    asked = {"label": "pay", "task": task, "sensitive": "sex", "strata": "grade"}
    for cluster in ("firm", None):
        (gap,) = fg.why(table, cluster=cluster, **asked).gaps
        weights = {part.weights for part in gap.parts}
        assert (StratumWeights.MANTEL_HAENSZEL in weights) == (cluster is None)


ROWS_MEANS = 1_200


@pytest.fixture(scope="module")
def loans():
    random = np.random.default_rng(30)
    race, branch = random.choice(["B", "W"], ROWS_MEANS), random.choice(["N", "S"], ROWS_MEANS)
    return pl.DataFrame({
        "id": range(ROWS_MEANS), "race": race, "branch": branch,
        "approved": random.binomial(1, np.where(race == "B", 0.6, 0.8)),
        "spread": random.gamma(2, 0.3, ROWS_MEANS) + 0.1 * (race == "B"),
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
    sex, grade = (
        random.choice(["F", "M"], ROWS_MEANS),
        random.choice(["junior", "senior"], ROWS_MEANS),
    )
    salary = np.where(grade == "senior", 50_000, 35_000) * random.lognormal(0, 0.2, ROWS_MEANS)
    return pl.DataFrame({"sex": sex, "grade": grade, "salary": salary * (1 - 0.1 * (sex == "F"))})


ASKED_MEANS = {
    "label": "salary", "sensitive": "sex", "reference": {"sex": "M"}, "strata": "grade",
    "preset": "eu-pay-transparency",
}  # fmt: skip


def test_the_parts_of_a_ratio_of_means_are_ratios(pay):
    found = fg.why(pay, **ASKED_MEANS)
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
