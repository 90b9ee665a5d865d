"""What a report shows first, which groups and intervals its numbers are of, and what it marks."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl
import pytest
from tests.every_result import LOANS, calls, loans, result
from tests.selected_groups import selected

import fairgauge as fg
import sample_reports
from fairgauge.enums import AfterAdjusting, DiagnosticCode, IntervalMethod, Status
from fairgauge.integrations.github_action import workflow_commands
from fairgauge.render import render
from fairgauge.render._document_tree import Block, Section, Table
from fairgauge.render.document import document as report_document
from fairgauge.render.documents.report_notes import described_methods, method_name
from fairgauge.render.grammar import english
from fairgauge.results.estimates import after_adjusting
from fairgauge.results.scopes import Interval
from fairgauge.statements.sections import adjustments, sections_of

DIFFERENCE = "selection_rate.difference"


def audit(groups, **options):
    return fg.audit(selected(groups), **options)


def shown(report, **options):
    return " ".join(render(report, "text", width=100, **options).split())


def test_groups_are_ranked_by_the_point_estimate_and_sparse_ones_are_not():
    """The narrower interval of the large group does not lift it above a larger difference."""
    report = audit({"a": (4_500, 10_000), "b": (8, 40), "c": (5_600, 10_000), "tiny": (0, 6)})
    first = report.findings[0]
    assert first.estimate.group == "b"
    spans = [e.high - e.low for e in (first.estimate, report[first.estimate.metric, "g", "a"])]
    assert spans[0] > spans[1]
    assert "tiny" not in {each.estimate.group for each in report.findings}
    assert "tiny, n = 6" in shown(report)


@pytest.mark.parametrize(
    ("overall", "adjusted", "is_reversal"),
    [
        ((-0.2, -0.3, -0.1), (0.1, 0.05, 0.15), True),
        ((-0.2, -0.3, -0.1), (0.1, -0.05, 0.25), False),
        ((-0.2, -0.3, -0.1), (-0.1, -0.15, -0.05), False),
        ((-0.2, -0.5, 0.1), (0.1, 0.05, 0.15), False),
    ],
)
def test_a_reversal_is_announced_only_where_both_directions_are_significant(
    overall, adjusted, is_reversal
):
    section = sections_of(sample_reports.berkeley())[0]
    pair = next(p for p in adjustments(section) if p[0].metric == "base_rate.difference")
    ends = [Interval(*of, 0.95, (IntervalMethod.NEWCOMBE,)) for _, *of in (overall, adjusted)]
    both = [
        replace(each, value=of[0], interval=end, simultaneous=end, p_value=None, p_adjusted=0.5,
                status=Status.OK)
        for each, of, end in zip(pair, (overall, adjusted), ends, strict=True)
    ]  # fmt: skip
    assert (after_adjusting(*both) is AfterAdjusting.REVERSES) is is_reversal


def test_the_cover_shows_what_the_document_table_states():
    document = {"title": "Loans 2025", "author": "A. Auditor"}
    report = audit({"a": (1, 2), "b": (1, 2)}, document=document)
    assert report_document(report).title == "Loans 2025"
    for text in (render(report, "markdown"), render(report, "html"), shown(report, full=True)):
        assert "A. Auditor" in text
    assert "Only with --full: cover" in shown(report)


def test_a_question_mark_is_explained_by_what_was_asked():
    cells = {"a": (300, 600), "b": (250, 500), "small": (20, 80), "tiny": (3, 9)}
    asked = {"min_n": 100, "metrics": [DIFFERENCE]}
    few = shown(audit(cells, **asked))
    assert "? below the minimum of 100: small, n = 80 and tiny, n = 9" in few
    enough = audit({name: of for name, of in cells.items() if name != "tiny"}, **asked)
    for format_ in ("text", "html"):
        text = " ".join(render(enough, format_).split())
        assert "? below the minimum of 100" in text
        assert "insufficient data" not in text
    rare = shown(audit({"a": (48, 800), "rare": (3, 84), "tiny": (0, 17)}, metrics=[DIFFERENCE]))
    assert "tiny, n = 17; insufficient data on the rarer outcome: rare" in rare


def of_a_small_group(insufficient, *groups):
    cells = {"f": (30, 100), "m": (40, 100), "x": (2, 5)}
    rule = fg.rule("selection_rate.ratio", at_least=0.8, insufficient=insufficient)
    return audit({name: of for name, of in cells.items() if name in groups}, rules=[rule])


@pytest.mark.parametrize("extension", ["md", "html", "txt", "xlsx", "xml", "json", "csv"])
@pytest.mark.parametrize("insufficient", ["ignore", "fail", "pass", "report"])
def test_whatever_a_rule_makes_of_a_small_group_is_written(insufficient, extension, tmp_path):
    """A group that a rule ignores stopped every report that people read (KeyError)."""
    path = tmp_path / f"report.{extension}"
    of_a_small_group(insufficient, "f", "m", "x").save(path)
    assert path.stat().st_size > 0


def test_a_rule_that_ignores_every_group_decides_nothing():
    report = of_a_small_group("ignore", "m", "x")
    assert report.exit_code == 3
    assert "INCONCLUSIVE: the rule was ignored as not evaluated" in shown(report)
    said = "No difference between groups could be tested The rule is ignored as not evaluated."
    assert said in " ".join(str(report.brief()).split())
    assert "IGNORED (" in shown(report, quiet=True)
    assert 'skipped message="ignored: ' in render(report, "junit")


def test_a_rule_on_classes_names_the_class_that_decides():
    report = fg.audit(calls(), label="asked", prediction="routed", sensitive="accent",
                      rules=["true_positive_rate.difference >= -0.01"])  # fmt: skip
    assert "; class billing)" in shown(report).partition("FAIL for other (")[2]


@pytest.mark.parametrize(
    ("decide", "least", "words"),
    [
        ("point", 0.8, "is outside the limits (decided by the value alone)"),
        ("significant", 0.5, "inside the limits, significant or not"),
        ("interval", 0.1, "inside the limits"),
    ],
)
def test_what_decides_a_rule_is_stated(decide, least, words):
    rule = fg.rule("selection_rate.ratio", at_least=least, decide=decide)
    assert words in render(audit({"a": (60, 100), "b": (40, 100)}, rules=[rule]), "html")


def test_an_undecided_rule_names_the_rows_without_a_group():
    """Of 0.91 with a confidence interval above 0.8 it is not obvious why nothing is decided."""
    cells = {"F": (639, 1_390), "M": (692, 1_373), None: (200, 460)}
    rows = [(g, y, n) for g, (k, of) in cells.items() for y, n in ((1, k), (0, of - k))]
    report = fg.audit(
        pl.DataFrame(rows, ["sex", "hired", "n"], orient="row"), prediction="hired", positive=1,
        sensitive="sex", count="n", reference="best", rules=["selection_rate.ratio >= 0.8"],
    )  # fmt: skip
    undecided = shown(report).partition("INCONCLUSIVE for F (0.91, 95% CI 0.8")[2]
    assert "; the 460 cases without a known sex could change that)" in undecided


HIRED = {
    "White": (400, 1100), "Black": (100, 400), "Hispanic": (62, 260), "Asian": (142, 360),
    "Native": (4, 13),
}  # fmt: skip


def test_a_test_of_all_groups_that_depends_on_a_sparse_one_states_it():
    """0 of 25 alone made the groups differ, and was insufficient for any conclusion."""
    groups = {"White": (5038, 5938), "Black": (1494, 1779), "Asian": (399, 472), "Two": (0, 25)}
    whole, three = (
        audit(of, reference={"g": "White"}, metrics=[DIFFERENCE])
        for of in (groups, {name: of for name, of in groups.items() if name != "Two"})
    )
    text = shown(whole)
    assert "one test of all groups, those with insufficient data for a comparison included," in text
    assert (
        "It does not show which groups differ. Without Two, with fewer than 5 expected of the "
        "rarer outcome, it would not be statistically significant." in text
    )
    assert "for any conclusion" not in text
    one, other = (
        next(each for each in of.diagnostics if each.code is DiagnosticCode.HOMOGENEITY)
        for of in (whole, three)
    )
    assert (one["sparse"], one["p_without"]) == (("Two",), other["p"])
    assert other.get("sparse") is None


def test_a_report_names_what_the_preset_calls_for_and_nobody_stated():
    def page(preset="nyc-ll144", **stated):
        return shown(audit(HIRED, preset=preset, document=stated), full=True)

    missing = "This report does not state the"
    assert (
        f"{missing} source of the data, date of the audit and date the tool was first used, "
        "which the preset asks for."
    ) in page()
    dates = {"audit_date": "2026-11-20", "first_used": dt.date(2026, 1, 1)}
    half = page(**dates)
    assert f"{missing} source of the data, which" in half
    assert "date of the audit 2026-11-20" in half
    assert "date the tool was first used 2026-01-01" in half
    assert missing not in page(**dates, source="the tracker")
    assert missing not in page("ugesp")


def test_in_new_york_the_most_selected_category_of_a_small_audit_is_the_reference():
    """Of 15 people, 5% of the applicants, it was passed over: only shares below 2% may be."""
    cells = {"White": (45, 150), "Black": (22, 90), "Hispanic": (13, 45), "Asian": (14, 15)}
    few = audit(cells, preset="nyc-ll144", rules="selection_rate.ratio >= 0.2")
    ratios = {each.group: each.value for each in few.estimates}
    assert ratios == pytest.approx(
        {name: k / n * 15 / 14 for name, (k, n) in cells.items() if name != "Asian"}
    )
    assert few.exit_code == 3
    small = audit(cells, preset="ugesp")
    assert {each.reference.group for each in small.estimates if each.reference} == {"White"}
    assert "difference between groups with sufficient data" in str(small.brief().headline)
    two = audit({name: cells[name] for name in ("White", "Asian")}, preset="ugesp")
    for none in (few, two):
        assert str(none.brief().headline) == "No difference between groups could be tested"


def test_all_groups_without_a_conclusion_are_counted():
    report = audit({"large": (500, 1000), **{f"g{i:02}": (5, 10) for i in range(30)}})
    listed = shown(report).partition("? insufficient data:")[2].partition(";")[0]
    assert listed.count("n = 10") == 8
    assert listed.endswith("and 22 more")


def test_it_is_the_small_group_that_has_insufficient_data():
    """The other one is compared with it, and has no conclusion for that reason alone."""
    groups = {"F": (5, 10), "M": (25, 50), "X": (20, 40)}
    stated = shown(audit(groups, metrics=[DIFFERENCE], reference={"g": "F"}))
    assert "comparisons of people with g M or X with people with g F, who are too few." in stated
    del groups["X"]
    stated = shown(audit(groups, metrics=[DIFFERENCE]))
    assert "? insufficient data: F, n = 10;" in stated


COUNTS = {"F": {"tp": 60, "fp": 30, "fn": 40, "tn": 270},
          "M": {"tp": 190, "fp": 60, "fn": 60, "tn": 190},
          "X": {"tp": 3, "fp": 2, "fn": 2, "tn": 4}}  # fmt: skip
METRICS = {"vendors": ["clarify", "vertex"], "native": ["standard", "AD"],
           "both": ["DI", "accuracy.difference"]}  # fmt: skip


def tables(blocks: Iterable[Block | Section]) -> Iterator[Table]:
    for each in blocks:
        if isinstance(each, Table):
            yield each
        elif isinstance(each, Section):
            yield from tables(each.blocks)


@pytest.mark.parametrize("name", [*METRICS, "berkeley", "several"])
def test_every_table_of_the_whole_record_explains_its_marks(name: str) -> None:
    counts = fg.confusion("sex", COUNTS)
    stock = {"berkeley": sample_reports.berkeley, "several": sample_reports.several}
    report = stock[name]() if name in stock else fg.audit(counts, metrics=METRICS[name])
    every = list(tables(report_document(report, full=True).sections))
    marked = {"*": 0, "?": 0}
    for table in every:
        texts = [t for row in (*table.rows, *table.totals) for c in row for t in (c.text, c.below)]
        notes = " ".join(table.notes)
        for mark, words in (("*", "* statistically significant"), ("?", "? ")):
            if any(text[-1:] == mark and text[-2:-1].isdigit() for text in texts):
                marked[mark] += 1
                assert words in notes, (table.caption, mark)
    assert marked["*"]


STOCK = ["loans", "spreads", "three classes", "strata", "scores", "estimated groups with answers"]


def test_every_method_is_described_by_a_sentence():
    for method in IntervalMethod:
        text = english().table["method"][method]
        assert text[0].isupper(), method
        assert text.endswith("."), method
        assert len(text) < 200, method


@pytest.mark.parametrize("name", [*STOCK, "bayes"])
def test_every_method_of_a_report_is_described_once(name):
    report = fg.audit(loans(), **LOANS, method=name) if name == "bayes" else result(name)
    used = {m for e in report.estimates if e.interval for m in e.interval.methods}
    assert used
    described = [each["name"] for each in described_methods(report)]
    assert len(described) == len(set(described))
    assert set(map(method_name, used)) <= set(described)


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        ("true_positive_rate.largest_gap <= 0.1", ["A", "C"]),
        ("true_positive_rate.largest_gap <= 0.3", ["A", "C"]),
        ("true_positive_rate.smallest_ratio >= 0.8", ["C", "A"]),
        ("true_positive_rate.minimum >= 0.5", ["C"]),
        ("true_positive_rate.maximum <= 0.5", ["A"]),
    ],
)
def test_every_place_names_the_same_groups_of_a_rule(rule, groups):
    """A failed largest gap named the best-off group alone, as if the rule failed for it."""
    table = {name: (10 * rate, 1_000) for name, rate in (("A", 60), ("B", 59), ("C", 30))}
    report = fg.audit(selected(table, "grp"), rules=rule)
    named = " and ".join(groups)
    between = " and ".join(f"people with grp {each}" for each in groups)
    of = f"{'between' if len(groups) == 2 else 'for'} {between}"
    (verdict,) = report.verdicts
    does = "fails" if verdict.outcome == "fail" else "is inconclusive"
    assert f"” {does} {of}." in str(report.brief())
    assert f"{verdict.outcome.upper()} ({named} (grp)):" in render(report, "text", quiet=True)
    assert f': {named}" time=' in render(report, "junit")
    assert f"{str(verdict.outcome).upper()} for {named} (" in " ".join(render(report).split())
    with pytest.raises(fg.RulesNotMet, match=f"grp: {named}: "):
        report.check()
    assert all(f"grp: {named}: " in each for each in workflow_commands(report))
    markdown = render(report, "markdown")
    assert f"| {named} | {verdict.outcome}, " in markdown  # the grid of the first page
    assert "()" not in markdown
    html = render(report, "html")
    assert "each group and" not in html
    assert f">{named}</th>" in html


@pytest.mark.parametrize("strata", [["region"], ["region", "grade"]])
def test_rows_without_a_stratum_are_missing_from_numbers_within_strata_alone(strata):
    """They were "excluded", beside tables with all rows."""
    lacking = (
        loans()
        .with_row_index()
        .with_columns(region=pl.when(pl.col("index") % 10 > 0).then("region"), grade=1)
    )
    report = fg.audit(
        lacking, label="repaid", prediction="approved", positive="yes", sensitive="sex",
        strata=strata,
    )  # fmt: skip
    rows, reason = lacking["region"].null_count(), "missing stratum"
    if len(strata) > 1:
        reason = "missing region (stratum)"
    assert report.data.excluded == {reason: rows}
    assert report.data.used == len(lacking)
    for kind in ("text", "markdown"):
        text = " ".join(render(report, kind).split())
        assert "all used" in text
        for other in ("Excluded:", "lacks several of these", "for at least one feature"):
            assert other not in text
    assert f"{reason}, excluded from numbers within strata, or adjusted" in render(report, "html")
