"""What changed, between reports or models: who is worse off, which way it went, what decides."""

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.every_result import LOAN_WORDS
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.enums import Direction
from fairgauge.render import render
from fairgauge.render._document_tree import Table
from fairgauge.render.document import document

WORDS: dict[str, Any] = LOAN_WORDS | {"groups": {"sex": {"F": "women", "M": "men"}}}
Cells = dict[str, int]


def cells(tp: int, fn: int, fp: int, tn: int) -> Cells:
    return {"tp": tp, "fn": fn, "fp": fp, "tn": tn}


def audited(women: Cells, men: Cells, words: dict[str, Any] = WORDS, **more: Any) -> fg.Report:
    counts = fg.confusion("sex", {"F": women, "M": men})
    return fg.audit(counts, words=words, favourable="positive", **more)


MEN = cells(450, 150, 90, 310)
BEFORE, AFTER = cells(400, 200, 80, 320), cells(280, 320, 60, 340)


def months_compared(old: Cells, new: Cells) -> fg.Change:
    rules = ["selection_rate.ratio >= 0.8"]
    reports = (audited(women, MEN, rules=rules) for women in (old, new))
    return fg.compare(*reports, same_rows=False)


def test_a_gap_that_grew_is_stated_as_counts_of_both_reports() -> None:
    brief = months_compared(BEFORE, AFTER).brief()
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
    assert str(same.headline) == "Both reports are of the same counts: no comparison"
    same = fg.compare(old, old, same_rows=True).brief()
    assert str(same.headline) == "Nothing changed between the two reports"
    little = months_compared(BEFORE, cells(398, 202, 80, 320)).brief()
    assert str(little.headline) == (
        "No difference between groups changed statistically significantly"
    )


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


def test_a_ratio_is_called_one_and_other_references_are_named_as_such():
    rows = {"g": ["a"] * 400 + ["b"] * 400 + ["c"] * 400,
            "p": [1, 0] * 200 + [1, 1, 0, 0, 0] * 80 + [1, 0, 0, 0] * 100}  # fmt: skip
    asked = {"prediction": "p", "sensitive": "g", "metrics": "selection_rate.ratio"}
    old, new = fg.audit(rows, **asked), fg.audit(rows, **asked, reference="best")
    found = " ".join(map(str, fg.compare(old, new).brief().found))
    assert (
        "The ratio of people with g b to the reference of each report in selection rate:" in found
    )
    assert "difference of" not in found


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


MARGINS = {"accuracy": 0.02, "disparity": 0.05}


def decided(
    seed: int = 3, size: int = 4_000, now: float = 0.12, then: float = 0.04
) -> pl.DataFrame:
    """Return decisions of two models, with what women's scores are lowered by under each."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], size)
    repaid = rng.random(size) < 0.6
    score = rng.random(size) * 0.6 + repaid * 0.4
    current, boosted = (score - np.where(sex == "F", by, 0) > 0.55 for by in (now, then))
    return pl.DataFrame(
        {"sex": sex, "repaid": repaid * 1, "current": current * 1, "boosted": boosted * 1}
    )


def decided_by(data: pl.DataFrame | None = None, **more: Any) -> fg.Change:
    asked = {"label": "repaid", "prediction": "current", "positive": 1, "sensitive": "sex"}
    asked |= {"candidate": "boosted", "words": WORDS, "margins": MARGINS}
    return fg.compare_models(decided() if data is None else data, **{**asked, **more})


def test_a_candidate_that_dominates_is_stated_as_counts_under_both_models() -> None:
    brief = decided_by().brief()
    assert str(brief.headline) == (
        "Women and men are closer together in how often they are approved under “boosted” than "
        "under “current”"
    )
    assert str(brief.verdict[0]).startswith(
        "boosted is better than current, and within all margins that were "
        "set: all 3 differences between groups became smaller; "
    )
    assert str(brief.looked_at[0]).startswith(
        "The candidate “boosted” and the model in use, “current”, decide the same 4,000 "
    )
    text = str(brief)
    assert re.search(
        r"Of 100 women, \d+ were approved under “current” and \d+ under “boosted”; of 100 men, ",
        text,
    )
    assert re.search(r"Women and men: \d+ to \d+ of 100 closer together \(95% CI\)\.", text)
    assert re.search(r"The decision changes for \d+ of 4,000 loan applications: of ", text)
    assert "fairgauge monitor" in str(brief.steps[-1])


@pytest.mark.parametrize("seed", range(4))
def test_a_verdict_names_its_margins_and_counts_what_is_not_within_them(seed: int) -> None:
    """Of six groups; of one of them most decisions change."""
    rng = np.random.default_rng(seed)
    race = rng.choice([*"ABHNOW"], 4_000, p=[0.12, 0.3, 0.1, 0.003, 0.077, 0.4])
    repaid = rng.integers(0, 2, 4_000)
    score = 0.7 * rng.random(4_000) + 0.3 * repaid
    new = score + rng.normal(0, np.where(race == "W", 0.5, 0.02)) > 0.5
    old = score - 0.15 * (race == "B") > 0.5
    data = pl.DataFrame({"race": race, "repaid": repaid, "current": old * 1, "boosted": new * 1})
    margins = {"accuracy": 0.3, "true_positive_rate": 0.3, "disparity": 0.04}
    made = decided_by(data, sensitive="race", words={}, margins=margins)
    brief, (best,) = made.brief(), made.candidates
    verdict = str(brief.verdict[0]).replace("\N{NO-BREAK SPACE}", " ")
    assert "accuracy is " in verdict
    assert "not worse by more than 30 of 100" in verdict
    closer, further = (
        sum(one.significant and one.direction is way for one in best.disparities)
        for way in (Direction.CLOSER, Direction.FURTHER)
    )
    if closer:
        assert f"{closer} of 18 differences between groups became smaller" in verdict
        assert (f"{further} larger" if further else "none is shown to be larger") in verdict
    stated = list(map(str, brief.verdict))
    undecided = sum(one.outcome == "cannot tell" for one in best.disparities)
    assert undecided
    (sentence,) = (each for each in stated if each.startswith("Possibly worse by more"))
    assert sentence.startswith(
        f"Possibly worse by more than the margin: {undecided} of 18 differences between groups"
    )
    worse = sum(one.outcome == "inferior" for one in (*best.disparities, *best.groups))
    assert any(each.startswith("Worse by more than the margin: ") for each in stated) is bool(worse)


@pytest.mark.parametrize("margins", [{}, MARGINS])
def test_a_candidate_that_decides_alike_is_stated_and_needs_no_rows(margins) -> None:
    """It was inconclusive, and more decided were to be collected."""
    data = decided()
    brief = decided_by(data.with_columns(boosted="current"), margins=margins).brief()
    assert str(brief.headline) == "boosted decides all 4,000 loan applications as current does"
    assert "so nothing in them distinguishes the two" in str(brief.verdict[0])
    (step,) = map(str, brief.steps)
    assert "check the decisions of boosted, its scores and their threshold" in step
    one = data.with_row_index().with_columns(
        boosted=pl.when(pl.col("index") == 0).then(1 - pl.col("current")).otherwise("current")
    )
    assert "decides all" not in str(decided_by(one, margins=margins).brief())


def compared(*candidates, **options):
    return fg.compare_models(PEOPLE, **QUESTION, candidate=list(candidates), **options)


def text(found):
    return " ".join(str(found).replace("\N{NO-BREAK SPACE}", " ").split())


def tables(found):
    """Return the tables of the first candidate by title."""
    blocks = document(found).sections[0].blocks
    return {block.caption: block for block in blocks if isinstance(block, Table)}


PEOPLE = rows(2_000)


def test_a_margin_that_the_adjustment_decides_says_so():
    """The interval of a change is of its own; with two candidates the margin is tested twice."""
    (alone,) = compared("unfair", margins={"accuracy": 0.1})["unfair"].margins
    just = {"accuracy": 1e-4 - alone.change.interval.low}
    one, found = compared("unfair", margins=just), compared("unfair", "random", margins=just)
    outcomes = [each["unfair"].margins[0].outcome for each in (one, found)]
    assert outcomes == ["non-inferior", "cannot tell"]
    assert "CI, adjusted for all candidates); inconclusive" in text(found)
    assert "adjusted for all" not in text(one)
    # the last claim that holds is tested at the whole level (Holm): its own interval decides
    both = compared("fairer", "random", margins={"accuracy": 0.3})
    assert both["fairer"].margins[0].adjusted == both["fairer"].margins[0].change.interval
    assert "adjusted for all" not in text(both)


def test_who_changes_has_one_total_whatever_groups_are_called():
    """A group called "overall youth" is a group, and not all rows."""
    renamed = PEOPLE.with_columns(sex=PEOPLE["sex"].replace({"F": "overall youth"}))
    table = tables(fg.compare_models(renamed, **QUESTION, candidate="fairer"))["Who changes"]
    assert {row[0].text for row in table.rows} == {"M (sex)", "overall youth (sex)"}
    assert [row[0].text for row in table.totals] == ["overall"]


def test_the_interval_of_a_change_is_of_the_change_and_not_of_its_distance():
    """+2.0 to +20.0 pp stood beside an interval of the distance from no difference."""
    overtaking = pl.DataFrame({
        "sex": ["F"] * 1_000 + ["M"] * 1_000, "y": [1, 0] * 1_000,
        "p": [1] * 520 + [0] * 480 + [1, 0] * 500, "q": [1] * 700 + [0] * 300 + [1, 0] * 500,
    })  # fmt: skip
    found = fg.compare_models(
        overtaking, label="y", prediction="p", sensitive="sex", positive=1, candidate="q",
        metrics=["selection_rate.difference"],
    )  # fmt: skip
    (one,) = found["q"].disparities
    low, high = (100 * end for end in one.interval)
    assert low > 100 * one.distance_adjusted.low + 0.5  # the side before is not shown
    (row,) = tables(found)["Statistically significant changes"].rows
    assert (row[3].text, row[3].below) == ("+18.0 pp", f"95% CI +{low:.1f} to +{high:.1f}")
