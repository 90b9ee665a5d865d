"""fg.pairs: what is wrong with answers is warned of, and nothing passes by their absence."""

import json

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.results.name_swaps import SwapVerdict
from swapped_names import ASKED, study

ASKED_OF = {**ASKED, "reference": {"group": "White"}, "margins": {"score": 0.5}}


def answers(seed=1, delta=0.0, **design):
    table = study((6, 6), 25, 2, delta=delta, seed=seed, **design)
    return table.assign(score=(table.score + 5).clip(0.1).round(2))


def decisions(seed=1):
    table = answers(seed)
    refused = np.random.default_rng(seed).random(len(table)) < 0.3
    return table.assign(called=np.where(refused, "no", "yes")).drop(columns="score")


DECIDED = {**ASKED_OF, "score": None, "prediction": "called", "positive": "yes",
           "margins": {"selection_rate": 0.3}}  # fmt: skip


def audit(table, **options):
    return fg.pairs(table, **{**ASKED_OF, **options})


def some(table, share, group="Black", seed=3):
    """Return the index of a share of the rows of a group."""
    own = table.index[table.group == group]
    return own[np.random.default_rng(seed).random(len(own)) < share]


@pytest.mark.parametrize("seed", range(5))
def test_ordinary_answers_draw_no_warning(seed):
    table = answers(seed, placebos=4)
    asked = {"placebo": "edit"}
    assert not audit(table, **asked).diagnostics
    assert not fg.pairs(decisions(seed), **DECIDED).diagnostics


# ---- answers that one group lacks ---------------------------------------------------------------


def verdict(found):
    (each,) = found.differences
    return each.verdict, each.reason


LACKING = SwapVerdict.CANNOT_TELL, "missing_answers"


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("which", ["low", "a fifth", "items", "one name"])
def test_nothing_is_equivalent_where_one_group_lacks_answers(which, absent):
    table = answers()
    black = table.group == "Black"
    lost = {
        "low": black & (table.score < 4.5),
        "a fifth": black & table.index.isin(some(table, 0.2)),
        "items": black & table.item.isin([f"cv{k}" for k in range(8)]),
        "one name": (table.name == "B00") & (table.item != "cv0"),
    }[which]
    damaged = table[~lost] if absent else table.assign(score=table.score.where(~lost))
    found = audit(damaged)
    assert audit(table).exit_code == 0
    assert verdict(found) == LACKING
    assert found.exit_code == 3
    text = " ".join(str(found).split())
    n = int(lost.sum())
    of = f"{n / 300:.1%}, {n} of 300{f', {n} of them without a row' if absent else ''}"
    assert f"Answers are missing more often under names of Black ({of}) than of White (0.0%" in text
    why = "but answers that are missing could move the difference beyond the margin"
    assert why in found.differences[0].says
    shares = {each.group: (each.n, each.absent) for each in found.answered}
    assert shares["Black"] == ((300 - n, n) if absent else (300, 0))


@pytest.mark.parametrize("seed", range(8))
def test_answers_that_are_missing_by_chance_withhold_a_pass_where_they_could_change_it(seed):
    """As rows without an outcome do in every other verb: whatever they are, it stands, or not."""
    table = answers(seed)
    rng = np.random.default_rng(seed)
    for share, expected in ((0.01, (SwapVerdict.EQUIVALENT, None)), (0.15, LACKING)):
        lost = rng.random(len(table)) < share
        for damaged in (table[~lost], table.assign(score=table.score.where(~lost))):
            found = audit(damaged)
            assert verdict(found) == expected
            assert not found.differences[0].unequal
        assert "more often" not in str(audit(table[~lost]))


def test_a_pass_holds_for_every_value_of_the_answers_that_are_missing():
    """Either the pass is withheld, or no answers in their place take it back."""
    table = decisions()
    for share in (0.01, 0.03, 0.06):
        lost = np.random.default_rng(3).random(len(table)) < share
        given = table.assign(called=table.called.where(~lost))
        asked = DECIDED | {"margins": {"selection_rate": 0.15}}
        passed = fg.pairs(given, **asked).verdict is SwapVerdict.EQUIVALENT
        for group, other in (("yes", "no"), ("no", "yes")):
            filled = np.where(table.group == "Black", group, other)
            worst = table.assign(called=table.called.where(~lost, filled))
            assert not passed or fg.pairs(worst, **asked).verdict is SwapVerdict.EQUIVALENT


# ---- decisions that may be none -----------------------------------------------------------------


UNCLEAR = SwapVerdict.CANNOT_TELL, "unclear_answers"


@pytest.mark.parametrize(
    ("value", "code", "why"), [("N/A", "undecided_outcomes", "is no decision, or an unknown one")]
)
def test_values_that_may_be_no_refusals_are_warned_of_and_nothing_is_equivalent(value, code, why):
    table = decisions()
    lost = some(table, 0.25)
    table.loc[lost, "called"] = value
    found = fg.pairs(table, **DECIDED)
    ((name, message),) = [(each.code, each.message) for each in found.diagnostics]
    assert (name, why in message) == (code, True)
    line = f"called = {{unknown = [{json.dumps(value)}]}}"
    assert f"--recode '{line}'" in message
    assert verdict(found) == UNCLEAR
    for mended in ({"recode": {"called": {"unknown": [value]}}}, {"unknown": [value]}):
        again = fg.pairs(table, **DECIDED | mended | {"margins": {"selection_rate": 0.2}})
        assert not again.diagnostics
        assert again.data.missing == len(lost)
        assert verdict(again) == LACKING


@pytest.mark.parametrize("code", [-1, 0, 999])
def test_codes_of_scores_that_were_not_given_leave_no_pass(code):
    """Answers without a number were written as -1, and counted as the lowest score."""
    table, wide = answers(), {"margins": {"score": 900}}
    table["score"] = table.score.clip(2)
    table.loc[some(table, 0.05), "score"] = code
    found, accepted = (
        audit(table, **wide, config={"accept": of}) for of in ([], ["coded_numbers:score"])
    )
    ((name, message),) = [(each.code, each.message) for each in found.diagnostics]
    assert name == "coded_numbers"
    assert f"--recode 'score = {{unknown = [{code}]}}'" in message
    assert (verdict(found), verdict(accepted)[0]) == (UNCLEAR, SwapVerdict.EQUIVALENT)
    assert not audit(table, **wide, recode={"score": {"unknown": [code]}}).diagnostics
