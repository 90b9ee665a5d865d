"""What a report shows first: the group that fares worst, reversals, sparse groups, rules."""

import dataclasses

import polars as pl
import pytest
from tests.selected_groups import selected

import fairgauge as fg
import sample_reports
from fairgauge.enums import AfterAdjusting, IntervalMethod, Status
from fairgauge.render import render
from fairgauge.render._document_tree import Items, Section, Table
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
