"""What a report shows first, which groups and intervals its numbers are of, and what it marks."""

from __future__ import annotations

import dataclasses
import datetime as dt
import html
import re
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.selected_groups import selected

import fairgauge as fg
import sample_reports
from fairgauge.enums import AfterAdjusting, DiagnosticCode, IntervalMethod, Status
from fairgauge.render import render
from fairgauge.render._document_tree import Block, Items, Section, Table
from fairgauge.render.document import document as report_document
from fairgauge.results.disparities import after_adjusting
from fairgauge.results.scopes import Interval
from fairgauge.results.sections import adjustments, sections_of

NEWCOMBE = (IntervalMethod.NEWCOMBE,)


def audit(groups, **options):
    return fg.audit(selected(groups), **options)


def blocks(section):
    for each in section.blocks:
        if isinstance(each, Section):
            yield from blocks(each)
        else:
            yield each


def every_block(document):
    return [block for section in document.sections for block in blocks(section)]


def test_groups_are_ranked_by_the_point_estimate_never_by_the_interval():
    """The narrower interval of the large group does not lift it above a larger difference."""
    report = audit({"a": (4_500, 10_000), "b": (8, 40), "c": (5_600, 10_000)})
    first = report.findings[0]
    assert first.estimate.group == "b"
    spans = [e.high - e.low for e in (first.estimate, report[first.estimate.metric, "g", "a"])]
    assert spans[0] > spans[1]


def test_what_is_not_significant_is_no_finding():
    report = audit({"a": (50, 100), "b": (54, 100)})
    assert report.findings == ()
    text = " ".join(render(report, "text").split())
    assert "No statistically significant difference in selection rate" in text
    assert "This does not show" in text


def test_sparse_groups_are_no_finding_and_are_named_apart():
    report = audit({"a": (50, 100), "b": (500, 900), "tiny": (0, 6)})
    assert "tiny" not in {each.estimate.group for each in report.findings}
    assert "tiny, n = 6" in " ".join(render(report, "text").split())


def estimate_pair(overall, adjusted):
    """Return an estimate of all rows and its counterpart with given values and intervals."""
    section = sections_of(sample_reports.berkeley())[0]
    pair = next(p for p in adjustments(section) if p[0].metric == "base_rate.difference")
    return tuple(
        dataclasses.replace(
            each, value=value, interval=Interval(low, high, 0.95, NEWCOMBE), p_value=None,
            p_adjusted=0.5, status=Status.OK,
            simultaneous=Interval(low, high, 0.95, NEWCOMBE),
        )
        for each, (value, low, high) in zip(pair, (overall, adjusted), strict=True)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("overall", "adjusted", "words", "reversed_"),
    [
        ((-0.2, -0.3, -0.1), (0.1, 0.05, 0.15), "reverses (Simpson's paradox)", True),
        ((-0.2, -0.3, -0.1), (0.1, -0.05, 0.25), "no difference is shown on average", False),
        ((-0.2, -0.3, -0.1), (-0.1, -0.25, 0.05), "is no longer statistically significant", False),
        ((-0.2, -0.3, -0.1), (0.1, -0.3, 0.5), "is no longer statistically significant", False),
        ((-0.1, -0.19, -0.01), (-0.092, -0.19, 0.01), "changes the difference little", False),
        ((-0.2, -0.3, -0.1), (-0.1, -0.15, -0.05), "remains", False),
        ((-0.2, -0.5, 0.1), (0.1, -0.05, 0.25), "not statistically significant", False),
    ],
)
def test_a_reversal_is_announced_only_where_both_directions_are_significant(
    overall, adjusted, words, reversed_
):
    pair = estimate_pair(overall, adjusted)
    assert (after_adjusting(*pair) is AfterAdjusting.REVERSES) is reversed_


def test_renderers_never_change_a_verdict():
    report = sample_reports.several()
    rules = next(each for each in report_document(report, full=True).sections if each.id == "rules")
    (table,) = (block for block in blocks(rules) if isinstance(block, Table))
    shown = sorted((row[0].text, row[2].text) for row in table.rows)
    assert shown == sorted(
        (f"{v.group} ({v.feature})", str(v.outcome).replace("_", " ")) for v in report.verdicts
    )


def test_rules_are_in_words_and_the_gravest_verdict_decides():
    text = render(sample_reports.several(), "text")
    assert "0.8" in text
    report = audit({"a": (100, 1_000), "b": (500, 1_000), "c": (3, 8)},
                   rules=[fg.rule("selection_rate.ratio", at_least=0.8)])  # fmt: skip
    text = " ".join(render(report, "text").split())
    assert "FAIL: 1 of 1 rule" in text
    assert "selection rate ratio >= 0.8 FAIL for a (0.20, 95% CI 0.16 to 0.24)" in text


def test_the_cover_shows_what_the_document_table_states():
    rows = pl.DataFrame({"y": [1, 0, 1, 0], "g": ["a", "a", "b", "b"]})
    report = fg.audit(rows, label="y", sensitive="g",
                      document={"title": "Loans 2025", "author": "A. Auditor"})  # fmt: skip
    document = report_document(report)
    assert document.title == "Loans 2025"
    assert document.cover == (("author", "A. Auditor"),)
    for format_ in ("markdown", "html"):
        assert "A. Auditor" in render(report, format_)
    assert "A. Auditor" in render(report, "text", full=True)
    assert "Not shown (--full): cover" in render(report, "text")


def test_a_metric_without_a_value_has_its_reason():
    items = [
        text
        for block in every_block(report_document(sample_reports.several(), full=True))
        if isinstance(block, Items)
        for text in block.items
    ]
    assert any(
        "for Other: no value, because the group has no predicted positives" in t for t in items
    )


def test_a_question_mark_is_explained_by_what_was_asked():
    cells = {"a": (300, 600), "b": (250, 500), "small": (20, 80), "tiny": (3, 9)}
    asked = {"min_n": 100, "metrics": ["selection_rate.difference"]}
    few = audit(cells, **asked)
    text = " ".join(render(few, "text").split())
    assert "? below the minimum of 100: small, n = 80 and tiny, n = 9" in text
    enough = audit({name: of for name, of in cells.items() if name != "tiny"}, **asked)
    for format_ in ("text", "html"):
        shown = " ".join(render(enough, format_).split())
        assert "? below the minimum of 100" in shown
        assert "insufficient data" not in shown
    cells = {"a": (48, 800), "rare": (3, 84), "tiny": (0, 17)}
    rare = render(audit(cells, metrics=["selection_rate.difference"]), "text")
    assert "tiny, n = 17; insufficient data on the rarer outcome: rare" in " ".join(rare.split())
    rule = audit(cells, min_n=100, rules=[fg.rule("selection_rate.ratio", at_least=0.8,
                                                  groups=["small"])])  # fmt: skip
    assert "NOT EVALUATED for small (" in " ".join(render(rule, "text").split())


def _of_a_small_group(insufficient, groups=("f", "m", "x"), limit=0.8):
    rows = [(g, y) for g, yes, n in (("f", 30, 100), ("m", 40, 100), ("x", 2, 5)) if g in groups
            for y in [1] * yes + [0] * (n - yes)]  # fmt: skip
    rule = {"metric": "selection_rate.ratio", "at_least": limit, "insufficient": insufficient}
    return fg.audit(
        pl.DataFrame(rows, schema=["sex", "hired"], orient="row"),
        prediction="hired", positive=1, sensitive="sex", rules=[rule],
    )  # fmt: skip


@pytest.mark.parametrize("extension", ["md", "html", "txt", "xlsx", "xml", "json", "csv"])
@pytest.mark.parametrize("insufficient", ["ignore", "fail", "pass", "report"])
def test_whatever_a_rule_makes_of_a_small_group_is_written(insufficient, extension, tmp_path):
    """A group that a rule ignores stopped every report that people read (KeyError)."""
    path = tmp_path / f"report.{extension}"
    _of_a_small_group(insufficient).save(path)
    assert path.stat().st_size > 0


def test_a_rule_that_ignores_every_group_decides_nothing():
    report = _of_a_small_group("ignore", groups=("m", "x"))
    assert report.exit_code == 3
    first, *lines = (each.strip() for each in str(report.brief()).splitlines()[:9])
    assert "INCONCLUSIVE: the rule was ignored as not evaluated" in render(report, "text")
    said = "No difference between groups could be tested The rule is ignored as not evaluated."
    assert said in " ".join([first, *lines])
    assert "IGNORED (" in render(report, "text", quiet=True)
    assert 'skipped message="ignored: ' in render(report, "junit")


BINARY = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
GRADES = {"label": "grade", "prediction": "given", "sensitive": "sex"}


def graded():
    """Return 800 people: men are selected more often, and always get the best grade."""
    rng = np.random.default_rng(0)
    sex, score = rng.choice(["F", "M"], 800), rng.random(800).round(3)
    rows = pd.DataFrame(
        {
            "sex": sex,
            "race": rng.choice(["A", "B", "C"], 800),
            "dept": rng.choice(["x", "y"], 800),
            "n": rng.integers(1, 4, 800),
            "score": score,
            "label": (rng.random(800) < score).astype(int),
            "prediction": (score > 0.6 - 0.3 * (sex == "M")).astype(int),
            "grade": rng.choice(["low", "mid", "high"], 800),
            "given": np.where(sex == "M", "high", rng.choice(["low", "mid", "high"], 800)),
        }
    )
    rows["sex"] = rows["sex"].where(rows.index >= 10, None)
    rows["race"] = rows["race"].where(rows.index >= 20, None)
    return rows


PEOPLE = graded()


def markdown(**asked):
    return render(fg.audit(PEOPLE, **asked), "markdown").replace("\N{NO-BREAK SPACE}", " ")


def words_of(**asked):
    """Return the words of the HTML report."""
    found = render(fg.audit(PEOPLE, **asked), "html")
    text = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", found, flags=re.DOTALL)
    return " ".join(html.unescape(text).replace("\N{NO-BREAK SPACE}", " ").split())


def test_a_rule_on_classes_names_the_class_that_decides():
    rules = ["true_positive_rate.difference >= -0.1", "accuracy.largest_gap <= 0.1"]
    text = markdown(**GRADES, task="multiclass", rules=rules)
    assert re.search(r"FAIL for F \([^)]*; class high\)", text)
    assert re.search(r"FAIL for F and M \([^)]*; class high\)", text)
    assert "No class differs more than class high." in text


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (fg.rule("selection_rate.ratio", at_least=0.8, decide="point"),
         "is outside the limits (decided by the value alone)"),
        (fg.rule("selection_rate.ratio", at_least=0.5, decide="significant"),
         "inside the limits, significant or not"),
        (fg.rule("accuracy", at_least=0.1), "inside the limits"),
    ],
)  # fmt: skip
def test_what_decides_a_rule_is_stated(rule, words):
    assert words in words_of(**BINARY, rules=[rule])


HIRED = {
    "White": (400, 1100), "Black": (100, 400), "Hispanic": (62, 260), "Asian": (142, 360),
    "Native": (4, 13),
}  # fmt: skip


def audited(groups: dict[str, tuple[int, int]], **options: object) -> fg.Report:
    rows = [
        {"race": name, "hired": outcome, "n": n}
        for name, (hired, every) in groups.items()
        for outcome, n in ((1, hired), (0, every - hired))
    ]
    import polars as pl

    asked = {"preset": "ugesp"} | options
    return fg.audit(
        pl.DataFrame(rows), prediction="hired", positive=1, sensitive="race", count="n", **asked
    )


def shown(report: fg.Report, **options: object) -> str:
    return " ".join(render(report, "text", width=100, **options).split())


def note(report: fg.Report, code: DiagnosticCode) -> object:
    [found] = [each for each in report.diagnostics if each.code is code]
    return found


def test_tables_to_publish_have_the_intervals_of_the_first_page() -> None:
    """One interval of a ratio in all of a report, and what it holds for beside it."""
    report = audited(HIRED, preset="nyc-ll144")
    text = shown(report, full=True)
    finding = report.findings[0]
    low, high = finding.estimate.simultaneous
    assert f"({low:.3f} to {high:.3f})" in text[text.index("To file") :]
    assert f"{low:.2f} and {high:.2f} times as often" in text


def test_every_fail_states_whether_it_remains() -> None:
    report = audited(HIRED, reference={"race": "White"}, rules=["selection_rate.ratio >= 0.98"])
    fails = [each for each in report.verdicts if each.outcome == "fail"]
    assert [each.remains for each in fails].count(None) == 0
    for each in fails:
        words = "remains" if each.remains else "does not remain"
        assert f"it {words} when all comparisons are judged together" in each.says
    assert "robability" not in shown(report)


def test_a_test_of_all_groups_that_depends_on_a_sparse_one_states_it() -> None:
    """0 of 25 alone made the groups differ, and was insufficient for any conclusion."""
    groups = {"White": (5038, 5938), "Black": (1494, 1779), "Asian": (399, 472), "Two": (0, 25)}
    asked = {"reference": {"race": "White"}, "metrics": ["selection_rate.difference"]}
    asked |= {"preset": None}
    report = audited(groups, **asked)
    text = shown(report)
    assert "one test of all groups, those with insufficient data for a comparison included," in text
    assert (
        "It does not show which groups differ. Without Two, with fewer than 5 expected of the "
        "rarer outcome, it would not be statistically significant." in text
    )
    assert "for any conclusion" not in text
    found = note(report, DiagnosticCode.HOMOGENEITY)
    three = note(audited({name: groups[name] for name in ("White", "Black", "Asian")}, **asked),
                 DiagnosticCode.HOMOGENEITY)  # fmt: skip
    assert (found["sparse"], found["p_without"]) == (("Two",), three["p"])
    assert three.get("sparse") is None


def test_a_report_names_what_the_preset_calls_for_and_nobody_stated() -> None:
    missing = "This report does not state the"
    bare = shown(audited(HIRED, preset="nyc-ll144"), full=True)
    assert (
        f"{missing} source of the data, date of the audit and date the tool was first used, "
        "which the preset asks for."
    ) in bare
    dates = {"audit_date": "2026-11-20", "first_used": dt.date(2026, 1, 1)}
    half = audited(HIRED, preset="nyc-ll144", document=dates)
    assert f"{missing} source of the data, which" in shown(half, full=True)
    page = shown(half, full=True)
    assert "date of the audit 2026-11-20" in page
    assert "date the tool was first used 2026-01-01" in page
    whole = audited(HIRED, preset="nyc-ll144", document=dates | {"source": "the tracker"})
    assert missing not in shown(whole, full=True)
    assert missing not in shown(audited(HIRED), full=True)


CELLS = {
    ("Female", "White"): (300, 600), ("Male", "White"): (330, 600),
    ("Female", "Black"): (150, 420), ("Male", "Black"): (160, 400),
    ("Female", "Asian"): (180, 350), ("Male", "Asian"): (190, 340),
    ("Female", "Native"): (9, 20), ("Male", "Native"): (12, 33),
    (None, "White"): (20, 60), ("Male", None): (22, 40),
}  # fmt: skip


def applicants():
    return pl.DataFrame(
        [
            {"sex": sex, "race": race, "hired": int(i < selected), "score": i / n}
            for (sex, race), (selected, n) in CELLS.items()
            for i in range(n)
        ]
    )


def shown_wide(of):
    return " ".join(render(of, "text", width=100).split())


def test_in_new_york_the_most_selected_category_of_a_small_audit_is_the_reference():
    """Of 15 people, 5% of the applicants, it was passed over: only shares below 2% may be."""
    cells = {"White": (45, 150), "Black": (22, 90), "Hispanic": (13, 45), "Asian": (14, 15)}
    asked = {"preset": "nyc-ll144"}
    few = fg.audit(selected(cells), **asked, rules="selection_rate.ratio >= 0.2")
    ratios = {each.group: each.value for each in few.estimates}
    assert ratios == pytest.approx(
        {name: selected / n * 15 / 14 for name, (selected, n) in cells.items() if name != "Asian"}
    )
    assert few.exit_code == 3
    assert str(few.brief().headline) == "No difference between groups could be tested"
    small = fg.audit(selected(cells), **{**asked, "preset": "ugesp"})
    assert {each.reference.group for each in small.estimates if each.reference} == {"White"}
    assert "difference between groups with sufficient data" in str(small.brief().headline)
    two = {name: cells[name] for name in ("White", "Asian")}
    none = fg.audit(selected(two), **{**asked, "preset": "ugesp"})
    assert str(none.brief().headline) == "No difference between groups could be tested"


def test_an_undecided_rule_names_the_rows_without_a_group():
    """Of 0.91 with a confidence interval above 0.8 it is not obvious why nothing is decided."""
    of = fg.audit(
        applicants().vstack(
            applicants().head(400).with_columns(pl.lit(None, pl.String).alias("sex"))
        ),
        prediction="hired",
        positive=1,
        sensitive="sex",
        reference="best",
        rules=["selection_rate.ratio >= 0.8"],
        metrics=["selection_rate.ratio"],
    )
    undecided = "INCONCLUSIVE for Female (0.91, 95% CI 0.84 to 0.98; the 460 rows without a group"
    assert f"{undecided} could change that)" in shown_wide(of)


def of_counts(groups, **options):
    report = fg.audit(selected(groups), metrics=["selection_rate.difference"], **options)
    return " ".join(render(report, "text").split())


def test_the_interval_of_the_worst_class_is_called_simultaneous():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 2000)
    group = rng.choice(["F", "M"], 2000)
    wrong = rng.random(2000) < np.where(group == "F", 0.4, 0.2)
    frame = pl.DataFrame(
        {"y": label, "p": np.where(wrong, (label + 1) % 3, label), "g": group}
    ).with_columns(pl.col("y", "p").cast(pl.String))
    text = " ".join(
        render(fg.audit(frame, label="y", prediction="p", sensitive="g"), "text", full=True).split()
    )
    finding = text.partition("1. F (")[2].partition("%).")[0]
    assert "simultaneous 95% CI" in finding


def test_all_groups_without_a_conclusion_are_counted():
    text = of_counts({"large": (500, 1000), **{f"g{i:02}": (5, 10) for i in range(30)}})
    listed = text.partition("? insufficient data:")[2].partition(";")[0]
    assert listed.count("n = 10") == 8
    assert listed.endswith("and 22 more")


def test_it_is_the_small_group_that_has_insufficient_data():
    """The other one is compared with it, and has no conclusion for that reason alone."""
    assert "? insufficient data: F, n = 10;" in of_counts({"F": (5, 10), "M": (25, 50)})
    groups = {"F": (5, 10), "M": (25, 50), "X": (20, 40)}
    stated = of_counts(groups, reference={"g": "F"})
    assert "comparisons of people with g M or X with people with g F, who are too few." in stated


COUNTS = {
    "F": {"tp": 60, "fp": 30, "fn": 40, "tn": 270},
    "M": {"tp": 190, "fp": 60, "fn": 60, "tn": 190},
    "X": {"tp": 3, "fp": 2, "fn": 2, "tn": 4},
}
REPORTS = {
    "vendors": lambda: fg.audit(fg.confusion("sex", COUNTS), metrics=["clarify", "vertex"]),
    "native": lambda: fg.audit(fg.confusion("sex", COUNTS), metrics=["standard", "AD"]),
    "both": lambda: fg.audit(fg.confusion("sex", COUNTS), metrics=["DI", "accuracy.difference"]),
    "berkeley": sample_reports.berkeley,
    "several": sample_reports.several,
}


def tables(blocks: Iterable[Block | Section]) -> Iterator[Table]:
    for each in blocks:
        if isinstance(each, Table):
            yield each
        elif isinstance(each, Section):
            yield from tables(each.blocks)


@pytest.mark.parametrize("name", REPORTS)
def test_every_table_of_the_whole_record_explains_its_marks(name: str) -> None:
    every = list(tables(report_document(REPORTS[name](), full=True).sections))
    marked = {"*": 0, "?": 0}
    for table in every:
        texts = [t for row in (*table.rows, *table.totals) for c in row for t in (c.text, c.below)]
        notes = " ".join(table.notes)
        for mark, words in (("*", "* statistically significant"), ("?", "? ")):
            if any(text[-1:] == mark and text[-2:-1].isdigit() for text in texts):
                marked[mark] += 1
                assert words in notes, (table.caption, mark)
    assert marked["*"]
