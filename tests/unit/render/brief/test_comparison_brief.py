"""The brief of a comparison of reports: who is worse off now, and which way it went."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Direction
from fairgauge.render import render
from fairgauge.results.brief import Brief

WORDS: dict[str, Any] = {
    "noun": "applicants", "positive": "approved", "negative": "refused",
    "label_positive": "repaid", "label_negative": "did not repay",
    "groups": {"sex": {"F": "women", "M": "men"}},
}  # fmt: skip
HARM = WORDS | {"positive": "rated high risk", "negative": "rated low risk"}
Cells = dict[str, int]


def cells(tp: int, fn: int, fp: int, tn: int) -> Cells:
    return {"tp": tp, "fn": fn, "fp": fp, "tn": tn}


def audited(women: Cells, men: Cells, words: dict[str, Any] = WORDS, **more: Any) -> fg.Report:
    favourable = "negative" if words is HARM else "positive"
    counts = fg.confusion("sex", {"F": women, "M": men})
    return fg.audit(counts, words=words, favourable=favourable, **more)


MEN = cells(450, 150, 90, 310)
BEFORE, AFTER = cells(400, 200, 80, 320), cells(280, 320, 60, 340)


def compared(old: Cells, new: Cells, words: dict[str, Any] = WORDS) -> fg.Comparison:
    rules = ["selection_rate.ratio >= 0.8"]
    reports = (audited(women, MEN, words, rules=rules) for women in (old, new))
    return fg.compare(*reports, same_rows=False)


def test_a_gap_that_grew_is_stated_as_counts_of_both_reports() -> None:
    brief = compared(BEFORE, AFTER).brief()
    assert str(brief.headline) == (
        "Women and men are further apart in how often they are approved in the new report than in "
        "the old report"
    )
    assert list(map(str, brief.verdict)) == [
        (
            "The rules come to PASS in the old report and to FAIL in the new one. Of the verdicts, "
            "1 got worse."
        ),
    ]
    assert str(brief.found[0]) == (
        "Of 100 women, 48 were approved in the old report and 34 in the new report; of 100 men, 54 "
        "and 54."
    )
    assert str(brief.certainty[0]) == ("Women and men: 8 to 20 of 100 further apart (95% CI).")
    assert str(brief.steps[0]).startswith("Analyst: first find out what changed")


def test_a_reversal_is_stated_from_the_side_that_is_worse_off_now() -> None:
    brief = compared(cells(150, 450, 30, 370), cells(590, 10, 90, 310)).brief()
    assert str(brief.headline) == (
        "Men are approved less often than women in the new report; in the old report it was the "
        "reverse"
    )


def test_a_headline_is_of_the_rows_with_an_outcome_where_many_lack_one() -> None:
    """400 of 1,000 became 400 of 700: the 300 without an outcome may explain it all."""
    rows = pl.DataFrame(
        {"g": ["A"] * 1000 + ["B"] * 1000, "ok": [1, 0] * 500 + [1, 1, 0, 0, 0] * 200}
    )
    blank = pl.when((pl.col("g") == "B") & (pl.col("ok") == 0) & (pl.int_range(pl.len()) % 2 == 0))
    new = rows.with_columns(ok=blank.then(None).otherwise(pl.col("ok")))
    reports = [fg.audit(each, prediction="ok", sensitive="g") for each in (rows, new)]
    headline = str(fg.compare(*reports, same_rows=False).brief().headline)
    assert headline.endswith(", among the rows with a known prediction")


def test_rows_without_what_no_compared_rate_needs_are_no_caveat() -> None:
    """A selection rate of all rows was said to be of those with a known label."""
    rows = pl.DataFrame(
        {"g": ["A"] * 1000 + ["B"] * 1000, "ok": [1, 0] * 500 + [1, 1, 0, 0, 0] * 200}
    ).with_columns(y=pl.when(pl.int_range(pl.len()) % 3 > 0).then(1))
    new = rows.with_columns(ok=pl.int_range(pl.len()) % 2)

    def brief(metric: str) -> Brief:
        reports = [
            fg.audit(each, label="y", prediction="ok", sensitive="g", positive=1, metrics=metric)
            for each in (rows, new)
        ]
        return fg.compare(*reports, same_rows=False).brief()

    assert "a known" not in str(brief("selection_rate.difference").headline)
    assert "No change is of" not in str(brief("selection_rate.difference"))
    assert "among the rows with a known label" in str(brief("accuracy.difference").headline)
    assert "No change is of rows without a label (667 in the old" in str(
        brief("accuracy.difference")
    )


def test_what_cannot_be_tested_claims_nothing() -> None:
    old, new = (audited(women, MEN) for women in (BEFORE, AFTER))
    brief = fg.compare(old, new).brief()  # groups of the same sizes: taken to be the same rows
    assert "further apart" in str(brief.headline)
    brief = fg.compare(old, audited(cells(390, 210, 80, 320), MEN)).brief()
    assert "cannot be tested" in str(brief.headline)
    assert "compare-models" in str(brief.steps[0])
    same = fg.compare(old, old).brief()
    assert str(same.headline) == "Nothing changed between the two reports"
    little = compared(BEFORE, cells(398, 202, 80, 320)).brief()
    assert str(little.headline) == (
        "No difference between groups changed statistically significantly"
    )


SENTENCE = re.compile(
    r"Of ([\d,]+) (women|men)( who \w+(?: not \w+)?)?, ([\d,]+) (.+) in the old report and "
    r"([\d,]+) in the new report; of [\d,]+ (?:such )?(women|men), ([\d,]+) and ([\d,]+)\."
)


@pytest.mark.parametrize("words", [WORDS, HARM], ids=["benefit", "harm"])
def test_who_is_worse_off_after_is_who_the_numbers_show(words: dict[str, Any]) -> None:
    assert sum(stated_as_they_are(seed, words) for seed in range(25)) >= 25


def stated_as_they_are(seed: int, words: dict[str, Any]) -> int:
    """Check the sentences of random tables, and return how many were checked."""
    rng = np.random.default_rng(seed)

    def drawn() -> Cells:
        repaid, other = rng.integers(200, 900, 2)
        tp, fp = rng.binomial(repaid, rng.uniform(0.1, 0.9)), rng.binomial(other, rng.uniform(0, 1))
        return cells(int(tp), int(repaid - tp), int(fp), int(other - fp))

    old, new = (audited(drawn(), drawn(), words) for _ in range(2))
    made = fg.compare(old, new, same_rows=False)
    names = {"women": "F", "men": "M"}
    counted = 0
    for sentence in made.brief().found:
        if (match := SENTENCE.fullmatch(str(sentence))) is None:
            continue
        of, subject, among, *_ = match.groups()
        before, after, before_other, after_other = (
            int(match[i].replace(",", "")) for i in (4, 6, 8, 9)
        )
        place = int(re.search(r"\d+", sentence.sources[0])[0])  # type: ignore[index]
        change = made.changes[place]
        if match[5] == words["positive"].join(["were ", ""]):
            harmed = after > after_other if words is HARM else after < after_other
            directed = among is None or among == (
                " who did not repay" if words is HARM else " who repaid"
            )
            assert harmed or not directed
            rate = (
                "selection_rate"
                if among is None
                else ("true_positive_rate" if among == " who repaid" else "false_positive_rate")
            )
            for report, stated in ((old, before), (new, after)):
                group = next(g for g in report.groups if g.group == names[subject])
                value = group.rates[rate].value
                assert value is not None
                assert abs(value * int(of.replace(",", "")) - stated) <= 0.5 + 1e-9
            counted += 1
        gaps = (abs(before - before_other), abs(after - after_other))
        if change.significant and not change.crossed:
            assert (gaps[1] > gaps[0]) is (change.direction is Direction.FURTHER)
    return counted


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_formats_begin_with_the_brief(format_: str) -> None:
    made = compared(BEFORE, AFTER)
    page = re.sub(r"<[^>]+>", "", re.sub(r"\s+", " ", render(made, format_)))
    places = [page.index(str(each)[:60]) for each in (made.brief().headline, made.brief().found[0])]
    assert places == sorted(places)
    assert made.to_dict()["brief"]["headline"]["text"] == str(made.brief().headline)


def test_the_headline_is_of_who_was_worse_off_not_of_who_is_by_noise() -> None:
    """A, best off before, is below the others by one point: no difference is shown."""
    shares = {"A": (0.70, 0.551), "B": (0.40, 0.565), "C": (0.60, 0.56)}
    reports = [
        fg.audit(
            fg.confusion("g", {
                group: cells(int(1000 * of[i]), 1000 - int(1000 * of[i]), 0, 0)
                for group, of in shares.items()
            })
        )
        for i in (0, 1)
    ]  # fmt: skip
    found = fg.compare(*reports, same_rows=False)
    assert str(found.brief().headline).startswith("People with g B and all other")
    assert "on the other side of it" not in render(found, "markdown")
