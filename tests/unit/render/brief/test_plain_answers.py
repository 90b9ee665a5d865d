"""What a reader without statistics asks of the first page, and whether it has the answer."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.every_result import RULES, of_loans, result

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.render import render
from fairgauge.render._document_tree import Chart
from fairgauge.render.document import document as report_document
from fairgauge.results.verdicts import before_counting

_FAILING = {
    "loans": of_loans,
    "defendants": lambda: result("defendants"),
    "close limits": lambda: of_loans(rules=["selection_rate.ratio >= 0.95"]),
    "judged together": lambda: of_loans(multiplicity="familywise"),
}  # fmt: skip
_ALONE = "judged alone, Black women (worse off)"


@pytest.mark.parametrize("name", _FAILING)
def test_each_fail_states_whether_it_remains_and_the_verdict_counts_them(name: str) -> None:
    """The box of the verdict lists no fail as certain that another sentence takes back."""
    report = _FAILING[name]()
    fails = [each for each in report.verdicts if before_counting(each) is Outcome.FAIL]
    judged = [each.remains for each in fails if each.remains is not None]
    head, *others, counts = map(str, report.brief().verdict)
    together = "when all comparisons are judged together"
    assert (together in head) is (bool(judged) and True not in judged)
    remaining = judged.count(True)
    if len(report.verdicts) == 1:
        return
    assert f" {len(fails)} fail" in counts
    stated = "also" if remaining == len(fails) else f"{remaining:,}"
    assert (f"({stated} when all are judged together)" in counts) is bool(judged)
    assert any("judged alone" in each for each in others) is (False in judged)


def test_a_fail_that_does_not_remain_is_stated_so_where_it_is_listed() -> None:
    assert _ALONE in str(of_loans().brief().verdict[1])


def test_of_several_rules_a_fail_that_does_not_remain_names_its_rule() -> None:
    """The same group fails another rule in a way that does remain."""
    report = of_loans(rules=["selection_rate.ratio >= 0.8", "selection_rate.ratio >= 0.9"])
    alone = {each.group: each.rule for each in report.verdicts if each.remains is False}
    assert len(alone) == 1
    remaining = {each.group for each in report.verdicts if each.remains}
    assert set(alone) <= remaining
    first, second = map(str, report.brief().verdict[1:3])
    assert _ALONE in first
    assert _ALONE not in second


def test_a_pass_states_which_difference_no_rule_asks_about() -> None:
    """Beside "passes" a gap of eight units stands only with the words that no rule limits it."""
    brief = result("errors").brief()
    assert "The rule does not ask about every difference below." in map(str, brief.verdict)
    texts = list(map(str, brief.found))
    assert "too low" in texts[0]
    assert "No rule is about the first difference." in texts
    assert "No rule is about" not in str(of_loans().brief())  # its rules are about both


def test_inconclusive_and_not_evaluated_state_what_differs_and_what_to_do() -> None:
    brief = result("inconclusive").brief()
    inconclusive, unevaluated = (
        next(text for text in map(str, brief.certainty) if text.startswith(begins))
        for begins in ("“Inconclusive”: ", "Not evaluated, ")
    )
    assert "both a pass and a fail" in inconclusive
    assert "would probably decide" in str(brief.steps[0])
    assert "insufficient data" in unevaluated
    page = render(result("inconclusive"), "html")
    outcomes = re.findall(r'class="v (\w+)"', page)
    assert {"inconclusive", "not_evaluated"} <= set(outcomes)
    assert "Not evaluated: the data do not suffice, or there is no CI." in page


@pytest.mark.parametrize("name", ["loans", "defendants", "errors", "inconclusive", "strata"])
def test_what_a_confidence_interval_is_stands_on_the_page_once(name: str) -> None:
    brief = of_loans().brief() if name == "loans" else result(name).brief()
    explained = [text for text in map(str, brief.certainty) if "CI (confidence interval)" in text]
    assert len(explained) == 1, brief.certainty


def test_within_strata_every_number_has_an_owner_and_a_next_step() -> None:
    brief = result("strata").brief()
    text = " ".join(map(str, brief.found))
    assert "In Dept A (82 of 100 women, 62 of 100 men) the reverse" in text
    assert any("adjusted for Dept: between" in str(each) for each in brief.certainty)
    assert any("fairgauge why" in str(each) for each in brief.steps)


def test_strata_a_monitor_and_models_are_drawn_on_the_first_page() -> None:
    """Each has one picture among the answers, and the page has it no second time."""
    for name, drawn in (
        ("strata", "Within Dept: how many of 100 were admitted"),
        ("alarm", "How many times as often people with sex F had prediction = 1 as all other"),
        ("models", "How far apart groups are, in percentage points"),
    ):
        page = render(result(name), "html")
        answers = page.partition('id="summary"')[2].partition("<nav")[0]
        assert answers.count(f"caption>{drawn}") == page.count(f"caption>{drawn}") == 1
        assert "<svg" in answers.partition(drawn)[2]
        assert "<script" not in answers


def test_strata_that_are_not_drawn_are_stated_and_those_that_differ_are_named() -> None:
    """Of many strata the largest are drawn, and the worst may be none of them."""
    lines = []
    for i in range(20):
        of_black = 5 if i == 19 else 40
        lines += [
            {"branch": f"B{i:02d}", "race": race, "approved": int(k < approved)}
            for race, n, approved in (("Black", 80 - i, of_black), ("White", 200, 140))
            for k in range(n)
        ]
    report = fg.audit(pl.DataFrame(lines), prediction="approved", positive=1, sensitive="race",
                      strata="branch")  # fmt: skip
    (chart,) = [each for each in report_document(report).exhibits if isinstance(each, Chart)]
    assert [row.label for row in chart.rows] == [f"B{i:02d}" for i in range(14)]
    where = "the others are under All numbers of the HTML report"
    alone = "statistically significant by itself (adjusted for all 20 strata, Bonferroni)"
    stated = (
        f"The 14 largest of 20 strata with rows of both sides; {where}.",
        f"Not drawn, and {alone}: B19.",
    )
    assert chart.notes[1:] == stated
    for format_ in ("html", "markdown"):
        assert all(each in render(report, format_) for each in stated)
    few = next(e for e in report_document(result("strata")).exhibits if isinstance(e, Chart))
    assert not any("largest of" in each for each in few.notes)


def test_the_alarm_is_marked_where_it_was_raised() -> None:
    answers = render(result("alarm"), "html").partition('id="summary"')[2].partition("<nav")[0]
    assert answers.count('class="alarm-at"') == 1
    assert "The red line is the alarm" in answers
    assert 'class="alarm-at"' not in render(result("no alarm"), "html")


def test_drawn_shares_of_strata_are_those_of_the_table() -> None:
    """Of women in A 89 of 108 were admitted, of men 512 of 825."""
    grid = next(
        each for each in report_document(result("strata")).exhibits if isinstance(each, Chart)
    )
    a = next(row for row in grid.rows if row.label == "A")
    assert (a.text, a.below) == ("82 v 62 of 100", "108 v 825")
    assert a.mark.value == pytest.approx(89 / 108)
    assert a.before is not None
    assert a.before.value == pytest.approx(512 / 825)
    assert [row.label for row in grid.rows] == sorted(row.label for row in grid.rows)


def test_models_without_a_margin_state_how_often_both_are_right_and_every_figure() -> None:
    brief = result("models").brief()
    found = " ".join(map(str, brief.found))
    of_both = (
        r"Of 100 (?:wo)?men[^.]* under “approved” and \d+ under “new”; of 100 (?:such )?(?:wo)?men"
    )
    assert len(re.findall(of_both, found)) == 2
    assert "differences between groups became statistically significantly smaller" in found


def _selected(few: int) -> str:
    """Return the headline of an audit of four groups, of which the last has ``few`` rows."""
    counts = {
        group: {"tp": size // of, "fp": 0, "fn": 0, "tn": size - size // of}
        for group, size, of in (("A", 400, 8), ("B", 400, 2), ("C", 400, 2), ("D", few, 2))
    }
    return str(fg.audit(fg.confusion("g", counts)).brief().headline)


def test_the_number_of_gaps_compared_is_of_those_with_sufficient_data() -> None:
    """A reader who sees more rows in the table than the headline counts learns why."""
    assert _selected(few=400).endswith(": the largest difference in 4 comparisons of this rate")
    assert _selected(few=12).endswith(
        ": the largest difference in 3 comparisons of this rate between groups with sufficient data"
    )


MATRICES = {
    "A": [[300, 60, 40], [200, 500, 40], [60, 40, 400]],
    "B": [[600, 60, 40], [60, 600, 60], [40, 60, 500]],
    "C": [[500, 60, 40], [80, 500, 40], [60, 130, 500]],
}


def _of_classes(groups: str, **more: object) -> str:
    """Return the headline of an audit of confusion matrices of three classes."""
    rows = [
        (g, label, decision, MATRICES[g][i][j])
        for g in groups
        for i, label in enumerate("xyz")
        for j, decision in enumerate("xyz")
    ]
    table = pl.DataFrame(rows, schema=["g", "t", "p", "n"], orient="row")
    asked = {"label": "t", "prediction": "p", "count": "n", "sensitive": "g"}
    return str(fg.audit(table, **(asked | more)).brief().headline)


def test_the_number_of_gaps_compared_is_of_all_classes_and_cuts() -> None:
    """Two of three groups were counted, those whose largest difference was in the same class."""
    ppv = {"metrics": ["positive_predictive_value.difference"]}
    largest = ": the largest difference in {} comparisons of this rate over {}"
    assert _of_classes("ABC", **ppv).endswith(largest.format(9, "3 classes"))
    assert _of_classes("AB", **ppv).endswith(largest.format(3, "3 classes"))
    ordered = {"positive": fg.ordered(*"xyz")}
    assert _of_classes("ABC", **ppv, **ordered).endswith(largest.format(6, "2 cuts"))
    assert _of_classes("ABC", min_n=1_700, **ppv).endswith(
        ": one of 6 comparisons of this rate over 3 classes between groups of at least 1,700 cases"
    )
    accuracy = _of_classes("ABC", metrics=["accuracy"])  # of all classes at once
    assert accuracy.endswith(": the largest difference in 3 comparisons of this rate")


def test_the_gap_that_is_the_largest_is_of_the_rate_that_is_stated() -> None:
    """B differs most in the true positive rate; of the rate that is stated A does."""
    counts = {
        "A": {"tp": 33, "fn": 43, "fp": 125, "tn": 253},
        "B": {"tp": 132, "fn": 240, "fp": 108, "tn": 87},
        "C": {"tp": 241, "fn": 265, "fp": 42, "tn": 36},
    }
    metrics = ["true_positive_rate.difference", "false_positive_rate.difference"]
    data = fg.confusion("g", counts)
    report = fg.audit(data, metrics=metrics, favourable="negative")
    assert str(report.brief().headline) == (
        "People with g B and label other than 1 had prediction = 1 more often than other such "
        "people: one of 3 comparisons of this rate"
    )


def test_the_number_of_gaps_compared_is_of_all_thresholds() -> None:
    scores = pl.DataFrame({"g": ["a"] * 400 + ["b"] * 400, "s": [*np.arange(800) % 400 / 400]})
    scores = scores.with_columns(pl.when(g="a").then(pl.col("s") * 0.7).otherwise("s").alias("s"))
    report = fg.audit(scores, score="s", sensitive="g", threshold=[0.3, 0.5, 0.6],
                      metrics=["selection_rate.difference"])  # fmt: skip
    asked = ": the largest difference in 3 comparisons of this rate over 3 thresholds"
    assert str(report.brief().headline).endswith(asked)


def test_the_words_of_a_users_rate_are_not_altered() -> None:
    """A text of theirs that holds "rows" or " of " is printed as it is."""
    own = fg.rate(
        "mine",
        of=fg.TP,
        among=fg.TP + fg.FP + fg.FN + fg.TN,
        says="the share of throws that rows of seats have",
    )
    report = fg.audit(
        fg.confusion("g", {"a": {"tp": 90, "fp": 10, "fn": 20, "tn": 80},
                           "b": {"tp": 30, "fp": 10, "fn": 20, "tn": 140}}),
        metrics=[own],
    )  # fmt: skip
    assert "The share of throws that rows of seats have." in render(report, "html")


def test_a_rule_with_alternatives_is_stated_in_its_own_words() -> None:
    report = of_loans(rules=["selection_rate.ratio >= 0.8 or |selection_rate.difference| <= 0.01"])
    assert "“Selection rate ratio >= 0.8 or |sel" in str(report.brief().verdict[1])


def test_both_rules_of_the_demonstration_are_in_words() -> None:
    verdict = " ".join(map(str, of_loans(rules=RULES).brief().verdict))
    assert "“were approved at least 0.8 times as often as others”" in verdict


def test_a_fail_of_one_class_names_the_class_and_the_side() -> None:
    """Who is outside a limit is never listed without the side on which they are."""
    wrong = {"a": ["low", "low", "high", "mid"], "b": ["low", "mid", "low", "mid"]}
    rows = pl.DataFrame({
        "g": ["a"] * 400 + ["b"] * 400,
        "y": ["low", "mid", "high", "mid"] * 200,
        "p": wrong["a"] * 100 + wrong["b"] * 100,
    })  # fmt: skip
    report = fg.audit(rows, label="y", prediction="p", sensitive="g",
                      rules=["-0.05 <= accuracy.difference <= 0.05"])  # fmt: skip
    clauses = str(report.brief().verdict[1]).split("” fails ")[1].rstrip(".").split("; ")
    sided = r"(worse|better) off|\((they|theirs) .*(more|less|higher|lower)"
    assert any("(class high)" in each for each in clauses)
    assert all(re.search(sided, each) for each in clauses), clauses


def test_all_comparisons_without_enough_data_are_counted_once() -> None:
    """A limit on a group's own rate is a comparison, too: both sentences count it."""
    rows = pl.DataFrame({
        "g": ["A"] * 200 + ["B"] * 200 + ["C"] * 12,
        "y": [1, 0] * 206,
        "p": [1, 0, 1, 1] * 103,
    })  # fmt: skip
    rules = ["selection_rate.ratio >= 0.5", "accuracy >= 0.3"]
    report = fg.audit(rows, label="y", prediction="p", sensitive="g", positive=1, rules=rules)
    text = render(report, "markdown")
    assert "and 2 are not evaluated" in text
    assert "Not evaluated, insufficient data: 2 comparisons of people with g C." in text


def test_rounded_counts_are_not_shown_as_exact() -> None:
    """A reader of the first page, or of its table, learns that each number is rounded."""
    rng = np.random.default_rng(5)
    rows = pl.DataFrame({
        "sex": rng.choice(["Female", "Male"], 900), "race": rng.choice(["Black", "White"], 900),
        "hired": rng.integers(0, 2, 900),
    })  # fmt: skip
    counts = fg.count(rows, prediction="hired", positive=1, sensitive=["sex", "race"],
                      preset="nyc-ll144")  # fmt: skip
    named = {"sex": "Male", "race": "White"}
    report = fg.audit(fg.protect(counts, min_cell=10), reference=named)
    page = report.brief()
    stated = "Counts are protected: rounded at random to multiples of 10"
    assert any(str(each).startswith(stated) for each in page.looked_at)
    first = render(report, "markdown").partition("## Bias audit")[0]
    tables = first.count("In parentheses: 95% confidence intervals")
    assert tables
    assert first.count(f"<sub>{stated}") == tables
    assert "tables to publish of the exact counts" in first
    assert not any(str(each).startswith(stated) for each in fg.audit(counts).brief().looked_at)


MOST_WORDS = {
    "loans": 265, "defendants": 245, "strata": 200, "local law 144": 225, "inconclusive": 265,
    "three classes": 255, "errors": 240, "alarm": 240, "models": 288,
}  # fmt: skip


@pytest.mark.parametrize("name", MOST_WORDS)
def test_a_page_is_read_in_about_a_minute(name: str) -> None:
    """Up to its first step a page answers all five questions; a minute is about 240 words."""
    brief = result(name).brief()
    read = str(replace(brief, steps=brief.steps[:1])).split()
    assert len(read) <= MOST_WORDS[name], len(read)


def test_who_fails_judged_alone_is_named_before_it() -> None:
    """It read "for judged alone, men"."""
    rng = np.random.default_rng(3)
    sex = rng.choice(["Female", "Male", "Diverse"], 3_000, p=[0.45, 0.5, 0.05])
    score = np.clip(rng.beta(2, 2, 3_000) - 0.12 * (sex == "Female"), 0, 1)
    report = fg.audit(
        {"sex": sex, "score": score, "y": (rng.random(3_000) < score).astype(int)},
        label="y", score="score", positive=1, threshold=[0.3, 0.5, 0.7], sensitive="sex",
        rules=["|true_positive_rate.difference| <= 0.1"],
    )  # fmt: skip
    text = " ".join(map(str, report.brief().verdict))
    assert "for judged" not in text
    assert (", judged alone (" in text) is any(e.remains is False for e in report.verdicts)


def test_a_rule_that_some_groups_pass_is_not_evaluated_for_some_alone() -> None:
    """A rule that two of three groups pass was one of those that "are not evaluated"."""
    rows = pl.DataFrame({
        "g": ["A"] * 200 + ["B"] * 200 + ["C"] * 12,
        "y": [1, 0] * 206,
        "p": [1, 0, 1, 1] * 103,
    })  # fmt: skip
    rules = ["selection_rate.ratio >= 0.5", fg.rule("accuracy.ratio", at_least=0.5, groups=["C"])]
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "positive": 1}
    one = fg.audit(rows, **asked, rules=rules[0], reference={"g": "A"}).brief()
    assert "The rule is not evaluated for some groups, and no" in str(one.headline)
    both = fg.audit(rows, **asked, rules=rules, reference={"g": "A"}).brief()
    assert str(both.headline).startswith(
        "1 of 2 rules is not evaluated and 1 of 2 rules is not evaluated for some groups, and no"
    )


def test_comparisons_at_the_cuts_of_an_order_are_not_of_thresholds() -> None:
    levels = ["top", "middle", "bottom"]
    rows = pl.DataFrame({"g": ["a"] * 300 + ["b"] * 300, "p": levels * 200})
    report = fg.audit(
        rows, prediction="p", positive=fg.ordered(*levels), sensitive="g",
        rules=["selection_rate.difference <= 0.01", "selection_rate.ratio >= 0.5"],
    )  # fmt: skip
    verdict = " ".join(map(str, report.brief().verdict))
    assert "(one at each cut)" in verdict
    assert "threshold" not in verdict
