"""A comparison of reports: who is worse off now, which way it went, and what is not tested."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.every_result import LOAN_WORDS

import fairgauge as fg
from fairgauge.enums import Direction
from fairgauge.render import render

WORDS: dict[str, Any] = LOAN_WORDS | {"groups": {"sex": {"F": "women", "M": "men"}}}
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


def compared(old: Cells, new: Cells, words: dict[str, Any] = WORDS) -> fg.Change:
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
            "1 went from PASS to FAIL."
        ),
        "New report: “Were approved at least 0.8 times as often as others” fails for women.",
    ]
    assert str(brief.found[0]) == (
        "Of 100 women, 48 were approved in the old report and 34 in the new report; of 100 men, 54 "
        "and 54."
    )
    assert str(brief.certainty[0]) == ("Women and men: 8 to 20 of 100 further apart (95% CI).")
    assert str(brief.steps[0]).startswith("Analyst: first find out what changed")


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
        place = int(re.findall(r"\d+", sentence.sources[0])[1])
        change = made.changes[place]
        if match[5] == f"were {words['positive']}":
            harmed = after > after_other if words is HARM else after < after_other
            harm_among = " who did not repay" if words is HARM else " who repaid"
            assert harmed or among not in (None, harm_among)
            rate = {None: "selection_rate", " who repaid": "true_positive_rate",
                    " who did not repay": "false_positive_rate"}[among]  # fmt: skip
            for report, stated in ((old, before), (new, after)):
                group = next(g for g in report.groups if g.group == names[subject])
                value = group.rates[rate].value
                assert abs(value * int(of.replace(",", "")) - stated) <= 0.5 + 1e-9
            counted += 1
        gaps = (abs(before - before_other), abs(after - after_other))
        if change.significant and not change.crossed:
            assert (gaps[1] > gaps[0]) is (change.direction is Direction.FURTHER)
    return counted


ASKED = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}


def selected_rows(seed):
    """Return 600 rows, of which more men are selected the greater the seed."""
    rng = np.random.default_rng(seed)
    score, sex = rng.random(600), rng.choice(["F", "M"], 600)
    return pd.DataFrame({
        "sex": sex, "label": (rng.random(600) < score) * 1,
        "prediction": (score > 0.5 - 0.2 * (sex == "M") * seed) * 1,
    })  # fmt: skip


def shown(old, new=None):
    """Return the text of a comparison, as wide as its names."""
    found = fg.compare(
        *(fg.audit(selected_rows(i), **of) for i, of in enumerate((old, new or old)))
    )
    return " ".join(render(found, "markdown").split())


def test_reports_without_a_common_estimate_share_rows_alone():
    text = shown(ASKED | {"metrics": "DI"}, ASKED | {"metrics": "RD"})
    assert "The two reports have no comparison of groups in common" in text
    assert "| old | metric | DI |" in text
    assert "| new | metric | RD |" in text
    with pytest.raises(fg.SpecError, match=r"task: 'binary' in the old report, 'regression' in"):
        shown(ASKED, ASKED | {"task": "regression", "positive": None})


def test_a_value_in_one_report_only_has_its_reason():
    asked = {"metrics": "true_positive_rate.difference"}
    found = fg.compare(*(audited(women, MEN, {}, **asked) for women in (cells(0, 0, 20, 40), MEN)))
    text = " ".join(render(found, "markdown").split())
    assert "1 difference between groups with one value only." in text
    reason = "the old report has no value: the group has no observed positives (TP + FN = 0)"
    assert f"no value in both: {reason}" in text


def test_a_change_that_is_not_tested_states_what_it_lacks():
    """It had an interval and no p-value, below "Not tested", without a word of why."""
    asked = {"sensitive": "race", "metrics": "selection_rate.difference", "min_n": 30}
    race = np.where(np.arange(600) < 25, "C", np.where(np.arange(600) < 300, "A", "B"))
    old, new = (selected_rows(seed).assign(race=race) for seed in (0, 1))
    found = fg.compare(fg.audit(old, **ASKED | asked), fg.audit(new[:-40], **ASKED | asked))
    text = " ".join(render(found, "markdown").split())
    assert "not tested: n = 25 in the group, below the minimum of 30" in text
