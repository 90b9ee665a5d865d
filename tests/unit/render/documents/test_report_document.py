"""What a report shows first: the group that fares worst, reversals, sparse groups, rules."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import polars as pl
import pytest
from tests.every_result import result
from tests.selected_groups import selected

import fairgauge as fg
import sample_reports
from fairgauge.catalogue.lookup import BUILT_IN, find_metric
from fairgauge.enums import AfterAdjusting, DiagnosticCode, IntervalMethod, Status
from fairgauge.render import render
from fairgauge.render._document_tree import Chart, Items, Paragraph, Section, Table
from fairgauge.render.document import document as report_document
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.finding_sentences import adjusted_sentence, describe_finding
from fairgauge.render.words.metric_words import equivalents, metric_words
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


def test_the_group_that_fares_worst_is_named_not_the_largest_or_the_surest():
    report = audit({"large": (9_000, 20_000), "better": (180, 200), "worst": (40, 400)})
    first = report.findings[0]
    assert (first.rate, first.group) == ("selection_rate", "worst")


def test_groups_are_ranked_by_the_point_estimate_never_by_the_interval():
    """The narrower interval of the large group does not lift it above a larger difference."""
    report = audit({"a": (4_500, 10_000), "b": (8, 40), "c": (5_600, 10_000)})
    first = report.findings[0]
    assert first.group == "b"
    spans = [e.high - e.low for e in (first.estimate, report[first.metric, "g", "a"])]
    assert spans[0] > spans[1]


def test_of_a_rate_that_should_be_low_the_highest_is_worst():
    cells = {
        "a": {"fp": 10, "tn": 190, "tp": 50, "fn": 50},
        "b": {"fp": 90, "tn": 110, "tp": 50, "fn": 50},
    }
    found = fg.audit(fg.confusion("g", cells)).findings
    by_rate = {each.rate: each.group for each in found}
    assert by_rate["false_positive_rate"] == "b"


def test_what_is_not_significant_is_no_finding():
    report = audit({"a": (50, 100), "b": (54, 100)})
    assert report.findings == ()
    text = " ".join(render(report, "text").split())
    assert "No statistically significant difference in selection rate" in text
    assert "This does not show" in text


def test_sparse_groups_are_no_finding_and_are_named_apart():
    report = audit({"a": (50, 100), "b": (500, 900), "tiny": (0, 6)})
    assert "tiny" not in {each.group for each in report.findings}
    assert "tiny, n = 6" in " ".join(render(report, "text").split())


def test_a_p_value_that_is_not_adjusted_is_not_listed_under_adjusted_ones(tmp_path):
    """Of a group below ``min_share`` the p-value of its comparison alone was."""
    groups = {"a": (400, 2000), "b": (500, 1500), "c": (20, 40)}
    report = audit(groups, metrics=["selection_rate.difference"], min_share=0.02)
    assert {e.group: (e.p_value is None, e.p_adjusted is None) for e in report.estimates} == {
        "a": (False, False), "b": (False, False), "c": (False, True),
    }  # fmt: skip
    report.save(tmp_path / "report.txt")
    lines = (tmp_path / "report.txt").read_text().replace("\u00a0", " ").splitlines()
    assert any(re.match(r"  c  .*\)  below the minimum", line) for line in lines)
    assert any(line.startswith("  b  ") and "adjusted p < 0.001" in line for line in lines)
    html = render(report, "html").replace("\u00a0", " ")
    assert "<td>&lt; 0.001<td>1,500 / 2,040<td>ok" in html
    assert "40 / 3,500<td>below the minimum" in html


def test_at_most_five_findings_and_one_of_each_feature_and_rate():
    rng = np.random.default_rng(0)
    n = 4_000
    rows = {"y": rng.integers(0, 2, n), "p": rng.integers(0, 2, n)}
    for i in range(6):
        rows[f"f{i}"] = np.where(rng.random(n) < 0.2 + 0.6 * rows["p"], "x", "z")
    report = fg.audit(pl.DataFrame(rows), label="y", prediction="p",
                      sensitive=[f"f{i}" for i in range(6)])  # fmt: skip
    found = report.findings
    assert len(found) > 5
    assert len({(each.feature, each.rate) for each in found}) == len(found)
    sections = report_document(report, full=True).sections
    section = next(each for each in sections if each.id == "findings")
    (stated,) = (block.items for block in section.blocks if isinstance(block, Items))
    assert len(stated) == 5


def test_a_finding_reads_as_english():
    (first, *_) = audit({"Women": (362, 1_000), "Men": (532, 1_000)}).findings
    assert describe_finding(first) == (
        "Women (g) is selected less often than others: 36.2% vs 53.2% "
        "(−17.0 pp, simultaneous 95% CI −22.1 to −11.7; ratio 0.68, CI 0.60 to 0.77)."
    )


def test_a_vendors_difference_is_told_in_our_direction_with_its_own_sign_in_the_table():
    report = audit({"Women": (362, 1_000), "Men": (532, 1_000)}, metrics="clarify")
    first = next(f for f in report.findings if f.rate == "selection_rate")
    assert first.estimate.value == pytest.approx(0.17)
    assert "53.2% (−17.0 pp, simultaneous 95% CI −22.7" in (describe_finding(first))
    assert "−0.170*" in render(report, "text")


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
    sentence = adjusted_sentence(*pair)
    assert words in sentence
    assert ("Simpson" in sentence) is reversed_


def test_the_group_furthest_outside_the_limit_is_named_first():
    """Not the first of the alphabet: its neighbour may be at half its rate."""
    groups = {"a": (18, 40), "b": (14, 40), "c": (16, 40), "d": (900, 2000)}
    report = audit(groups, rules=["selection_rate.ratio >= 0.8"], reference={"g": "d"})
    text = render(report, "text")
    assert "INCONCLUSIVE for b (0.78" in text
    assert [each.group for rule in report.by_rule for each in rule.verdicts][:2] == ["b", "c"]


@pytest.mark.parametrize(
    ("adjusted", "becomes"),
    [
        ((0.97, 0.93, 1.02), AfterAdjusting.DISAPPEARS),
        ((0.90, 0.78, 1.04), AfterAdjusting.NOT_SIGNIFICANT),
        ((0.805, 0.64, 1.01), AfterAdjusting.CHANGES_LITTLE),
        ((1.20, 1.10, 1.30), AfterAdjusting.REVERSES),
    ],
)
def test_ratios_are_compared_by_their_logarithms(adjusted, becomes):
    one, other = (
        dataclasses.replace(
            estimate_pair((-0.2, -0.3, -0.1), (0.1, 0.0, 0.2))[0],
            definition=find_metric("base_rate.ratio"),
            value=value,
            interval=Interval(low, high, 0.95, NEWCOMBE),
            simultaneous=Interval(low, high, 0.95, NEWCOMBE),
        )
        for value, low, high in ((0.8, 0.64, 0.99), adjusted)
    )
    assert after_adjusting(one, other) is becomes


@pytest.mark.parametrize("ratio", [0.0, float("inf")])
def test_a_ratio_without_a_finite_logarithm_does_not_change_little(ratio):
    """None of 60 against 12 of 60 is a ratio of 0: 0.9 after adjusting is another number."""
    one, other = (
        dataclasses.replace(
            estimate_pair((-0.2, -0.3, -0.1), (0.1, 0.0, 0.2))[0],
            definition=find_metric("base_rate.ratio"),
            value=value,
            interval=Interval(low, high, 0.95, NEWCOMBE),
            simultaneous=Interval(low, high, 0.95, NEWCOMBE),
        )
        for value, low, high in ((ratio, ratio, ratio), (0.9, 0.0, float("inf")))
    )
    assert after_adjusting(one, other) is AfterAdjusting.NOT_SIGNIFICANT


def test_strata_that_are_noise_do_not_make_a_difference_disappear():
    """The difference barely moves, and loses its significance by the precision that is lost."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        data = {"g": ["a"] * 200 + ["b"] * 200, "y": [1] * 79 + [0] * 121 + [1] * 99 + [0] * 101}
        data["s"] = rng.integers(0, 40, 400)
        report = fg.audit(pl.DataFrame(data), label="y", positive=1, sensitive="g", strata="s")
        assert "no difference is shown" not in render(report, "text", full=True)
        assert all(d.code is not DiagnosticCode.DISAPPEARS for d in report.diagnostics)


def test_berkeleys_difference_disappears():
    text = " ".join(render(sample_reports.berkeley(), "text", full=True).split())
    assert "Female (Gender) has a lower base rate than others: 30.4% vs 44.5% (−14.2 pp" in text
    assert "no difference is shown on average: +1.8 pp" in text
    assert "Simpson" not in text


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
    assert "selection rate ratio >= 0.8 FAIL for a (0.20, CI 0.16 to 0.24)" in text


def test_a_group_table_ends_with_all_rows():
    table = next(
        b for b in every_block(report_document(sample_reports.several())) if isinstance(b, Table)
    )
    (total,) = table.totals
    assert [cell.text for cell in total[:3]] == ["overall", "1,005", "42.8"]


def test_names_of_metrics_in_words_and_their_equivalents():
    row = BUILT_IN.row
    assert metric_words(row("DI")) == "disparate impact (Clarify DI)"
    assert metric_words(row("false_positive_rate.difference")) == "false positive rate difference"
    assert metric_words(row("something.else")) == "something.else"
    assert equivalents(row("false_positive_rate.difference")) == ""
    assert "Clarify DI" in equivalents(row("selection_rate.ratio"))


def test_the_favourable_outcome_is_stated_or_assumed():
    rows = pl.DataFrame({"y": [1, 0, 1, 0], "g": ["a", "a", "b", "b"]})
    stated = fg.audit(rows, label="y", sensitive="g", positive=1)
    assumed = fg.audit(rows, label="y", sensitive="g")
    assert "Positive is 1, the favourable outcome (stated)." in question.lead(stated)[0]
    assert "Positive is 1 or true, the favourable outcome (assumed)." in question.lead(assumed)[0]


@pytest.mark.parametrize(
    ("favourable", "meaning"), [("negative", ", the unfavourable outcome"), ("neither", "")]
)
def test_what_words_call_unfavourable_is_never_called_favourable(favourable, meaning):
    rows = pl.DataFrame({"y": [1, 0, 1, 0], "g": ["a", "a", "b", "b"]})
    asked = {"label": "y", "sensitive": "g", "positive": 1, "favourable": favourable}
    report = fg.audit(rows, **asked)
    assert f"Positive is 1{meaning} (stated)." in question.lead(report)[0]
    assert "is 1, the favourable" not in render(report, "html")
    assert "<dt>favourable outcome" not in render(report, "html").casefold()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("others", "all other groups"),
        ("best", "the group with the most favourable rate"),
    ],
)
def test_references_in_words(given, words):
    assert question.reference_words(given) == words


def test_positive_values_in_words():
    assert question.positive_words({"above": 50_000.0}) == "above 50000"
    assert question.positive_words([1.0, "yes", True]) == "1, yes or true"
    assert question.positive_words(list(range(20))).endswith("7 and 12 more")


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


def test_excluded_rows_are_counted_in_the_singular_too():
    rows = pl.DataFrame({"y": [1, 0, None, 1], "p": [1, 1, 0, 0], "g": ["a", "b", "a", None]})
    text = render(fg.audit(rows, label="y", prediction="p", sensitive="g"), "text")
    assert "1 row (missing label, where it is needed)" in text


def test_a_metric_without_a_value_has_its_reason():
    items = [
        text
        for block in every_block(report_document(sample_reports.several(), full=True))
        if isinstance(block, Items)
        for text in block.items
    ]
    assert any(
        "undefined for Other, because the group has no predicted positives" in t for t in items
    )


def test_two_groups_have_no_pairs_and_three_have():
    def titles(report):
        document = report_document(report, full=True)
        details = next(s for s in document.sections if s.id == "details")
        return [b.title for s in details.blocks for b in s.blocks if isinstance(b, Section)]

    assert "Every pair of groups" not in titles(sample_reports.small())
    three = {"a": (50, 100), "b": (60, 100), "c": (80, 100)}
    assert "Every pair of groups" in titles(audit(three))
    assert "Every pair of groups" not in titles(audit(three | {"c": (4, 5)}))


def test_a_report_without_intervals_describes_no_methods():
    table = pl.DataFrame({"p": [1, 0], "g": ["a", "a"]})
    found = fg.audit(table, prediction="p", sensitive="g", metrics="DPPL")
    for each in every_block(report_document(found, full=True)):
        assert not isinstance(each, Paragraph) or "nan" not in each.text


def test_the_error_rates_of_a_group_are_one_finding():
    cells = {
        "a": {"tp": 50, "fn": 50, "fp": 10, "tn": 90},
        "b": {"tp": 90, "fn": 10, "fp": 40, "tn": 60},
    }
    found = fg.audit(fg.confusion("g", cells)).findings
    (odds,) = (each for each in found if each.rate == "true_positive_rate")
    assert odds.group == odds.beside.group == "a"
    assert "false_positive_rate" not in {each.rate for each in found}
    text = " ".join(render(fg.audit(fg.confusion("g", cells)), "text", full=True).split())
    assert "50.0% vs 90.0%" in text
    assert "and a lower false positive rate: 10.0% vs 40.0%" in text


def test_groups_whose_names_need_their_feature_have_it():
    cells = {"yes": {"tp": 50, "fn": 250}, "no": {"tp": 250, "fn": 50}}
    report = fg.audit(fg.confusion("smoker", cells), rules=["selection_rate.ratio >= 0.8"])
    assert "FAIL for smoker = yes" in render(report, "text")
    assert "1. smoker = yes is selected less often" in render(report, "text", full=True)


def test_the_comparisons_that_p_values_are_adjusted_for_are_counted():
    report = audit({"a": (50, 100), "b": (60, 100), "c": (80, 100)}, metrics="DPPL")
    page = render(report, "html")
    assert "are adjusted for 5 comparisons and tests." in page  # 3, 1 of homogeneity, 1 of pairs
    two = render(audit({"a": (50, 100), "b": (80, 100)}, metrics="DPPL"), "html")
    assert "are adjusted for" not in two  # both tests are one


def test_a_column_that_one_table_has_no_room_for_is_in_none():
    rng = np.random.default_rng(1)
    n = 600
    rows = {"y": rng.integers(0, 2, n), "p": rng.integers(0, 2, n)}
    rows["short"] = rng.choice(["a", "b"], n)
    rows["long"] = rng.choice(
        ["a name of thirty characters, A", "a name of thirty characters, B"], n
    )
    report = fg.audit(pl.DataFrame(rows), label="y", prediction="p", sensitive=["short", "long"])
    lines = render(report, "text", width=80).splitlines()
    heads = [line.split()[2:] for line in lines if line.startswith(("short ", "long "))]
    assert len(heads) == 2
    assert heads[0] == heads[1]
    assert any(line.strip().startswith("Not shown (--full):") for line in lines)


def test_a_mean_over_classes_that_is_the_same_in_every_group_is_not_shown():
    rng = np.random.default_rng(2)
    rows = {name: rng.choice(list("abc"), 600) for name in ("y", "p", "g")}
    report = fg.audit(
        pl.DataFrame(rows), label="y", prediction="p", sensitive="g", task="multiclass"
    )
    macro = next(s for s in sections_of(report) if s.class_scope.average == "macro")
    assert "true_positive_rate" in macro.rates
    assert "selection_rate" not in macro.rates


def classes():
    """Return an audit of three classes, in which the classes of the largest differences differ."""
    rng = np.random.default_rng(3)
    label = rng.choice(list("abc"), 900)
    group = rng.choice(["x", "y", "z"], 900)
    guess = np.where(rng.random(900) < 0.7, label, np.where(group == "x", "a", "b"))
    return fg.audit(
        pl.DataFrame({"y": label, "p": guess, "g": group}),
        label="y", prediction="p", sensitive="g", task="multiclass",
    )  # fmt: skip


def test_several_classes_have_one_table_on_one_screen_which_ends_with_all_rows():
    report = classes()
    document = report_document(report)
    (table,) = (b for b in every_block(document) if isinstance(b, Table))
    heads = [column.heading for column in table.columns]
    assert {"TPR", "FPR", "PPV", "acc."} <= set(heads)
    (total,) = table.totals
    (accuracy,) = (t.rates["accuracy"] for t in report.totals if t.class_scope.kind == "none")
    assert total[heads.index("acc.")].text == f"{100 * accuracy.value:.1f}"
    text = " ".join(render(report, "text").split())
    assert "TPR, FPR and PPV are macro averages over classes" in text


def test_charts_of_the_worst_class_name_it_for_every_group():
    report = classes()
    worst = next(s for s in sections_of(report) if s.class_scope.kind == "worst")
    assert len({each.class_ for each in worst.estimates}) > 1
    charts = [b for b in every_block(report_document(report, full=True)) if isinstance(b, Chart)]
    (chart,) = (c for c in charts if any("(class" in row.label for row in c.rows)
                and c.caption == "Selection rate difference")  # fmt: skip
    assert all("(class " in row.label for row in chart.rows)


def test_an_average_that_is_the_same_in_every_group_has_no_chart():
    report = classes()
    micro = next(s for s in sections_of(report) if s.class_scope.average == "micro")
    assert "true_positive_rate.difference" in micro.metrics
    assert "selection_rate.difference" not in micro.metrics
    assert "base_rate.ratio" not in micro.metrics


def test_numbers_have_no_confusion_matrix():
    rows = pl.DataFrame({"y": [1.0, 2.5, 3.0, 4.5] * 9, "p": [1.5, 2.0, 3.5, 4.0] * 9,
                         "g": ["a", "b", "b"] * 12})  # fmt: skip
    report = fg.audit(rows, label="y", prediction="p", sensitive="g", task="regression")
    assert all(group.counts is None for group in (*report.groups, *report.totals))
    assert "Confusion matrices" not in render(report, "html")


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
    rule = audit(cells, min_n=100, rules=[fg.rule("selection_rate.ratio", at_least=0.8,
                                                  groups=["small"])])  # fmt: skip
    assert "NOT EVALUATED (below the minimum of 100) for small" in " ".join(
        render(rule, "text").split()
    )


def test_what_rows_lack_a_cluster_is_stated():
    rows = pl.DataFrame({
        "y": [i % 2 for i in range(400)], "g": ["ab"[i % 3 == 0] for i in range(400)],
        "c": [None if i % 50 == 0 else str(i % 40) for i in range(400)],
    })  # fmt: skip
    text = " ".join(render(fg.audit(rows, label="y", sensitive="g", cluster="c"), "text").split())
    assert "400 rows, all used" in text
    assert "8 rows (missing cluster, excluded from confidence intervals alone)" in text


@pytest.mark.parametrize("counted", ["pass", "fail"])
def test_what_insufficient_data_counts_as_stands_beside_the_verdict(counted):
    """9 people, of whom 1 is selected, pass a rule on 80 % only because the rule asks so."""
    cells = {"A": (480, 520), "B": (500, 500), "C": (1, 8), "D": (0, 3)}
    table = fg.confusion("g", {g: {"tp": tp, "fn": fn} for g, (tp, fn) in cells.items()})
    words = f"2 comparisons that the data cannot decide count as {counted.upper()}, as the rule"
    for insufficient in (counted, "report"):
        report = fg.audit(
            table, reference={"g": "B"}, metrics=["selection_rate.ratio"],
            rules=[fg.rule("selection_rate.ratio", at_least=0.8, insufficient=insufficient)],
        )  # fmt: skip
        assert (words in " ".join(str(report).split())) == (insufficient == counted)


@pytest.mark.parametrize("name", ["loans", "strata", "why", "three classes"])
def test_formats_without_drawings_state_nothing_of_marks(name: str) -> None:
    """Markdown had the captions "Green: allowed. Dot and line ..." below tables of words."""
    drawn = ("Green", "Dot and line", "Filled:", "open:", "its bar", "the line")
    assert any(each in render(result(name), "html") for each in drawn)
    for kind in ("markdown", "text"):
        assert not [each for each in drawn if each in render(result(name), kind)]


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


def test_a_group_that_a_rule_ignores_is_called_ignored():
    report = _of_a_small_group("ignore")
    assert "1 is ignored as not evaluated" in str(report.brief())
    assert re.search(r"x \(sex\) .* ignored", render(report, "text", full=True))


def test_a_pass_names_the_groups_that_its_rule_ignores():
    """ "Every comparison passes", and "PASS for 2 groups", of three."""
    report = _of_a_small_group("ignore", limit=0.2)
    text = " ".join(render(report, "text").split())
    assert "every comparison that is evaluated passes. Of 3 comparisons 2 pass and 1 is" in text
    assert "selection rate ratio >= 0.2 PASS for 2 groups; ignored: x" in text


def test_a_rule_that_ignores_every_group_decides_nothing():
    report = _of_a_small_group("ignore", groups=("m", "x"))
    assert report.exit_code == 3
    first, *lines = (each.strip() for each in str(report.brief()).splitlines()[:9])
    assert "INCONCLUSIVE: the rule was ignored as not evaluated" in render(report, "text")
    said = "No difference between groups could be tested The rule is ignored as not evaluated."
    assert said in " ".join([first, *lines])
    assert "IGNORED (" in render(report, "text", quiet=True)
    assert 'skipped message="ignored: ' in render(report, "junit")


def test_a_quiet_line_names_the_group_that_fails_the_rule():
    """It named women, of whom the rule is inconclusive, beside FAIL."""
    line = render(_of_a_small_group("fail"), "text", quiet=True).splitlines()[1]
    assert "FAIL (x (sex)): n = 5 in the group, below 20" in line
