"""Asking people for their group, and what an audit states of their answers."""

import numpy as np
import polars as pl

import fairgauge as fg

GROUPS = {"Black": "p_black", "White": "p_white", "other": "p_other"}


def people(rows, seed, rates=(0.33, 0.55, 0.5), known=0):
    """Draw people, and ask some of them for their group."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.2, 0.6, 0.2], rows)
    group = (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    answers = np.full(rows, None, dtype=object)
    asked = rng.choice(rows, known, replace=False)
    answers[asked] = np.array(list(GROUPS), dtype=object)[group[asked]]
    chosen = (rng.random(rows) < np.array(rates)[group]).astype(int)
    columns = dict(zip(GROUPS.values(), p.T, strict=True))
    return pl.DataFrame({"chosen": chosen, "answer": answers.tolist(), **columns})


ASKED = fg.probabilities(GROUPS, known="answer", known_drawn="random")


def audited(data, feature=ASKED, **more):
    return fg.audit(
        data, prediction="chosen", positive=1, reference={"race": "White"},
        sensitive={"race": feature}, metrics="selection_rate.difference", **more,
    )  # fmt: skip


def recorded(data):
    return fg.audit(
        data.rename({"answer": "race"}), prediction="chosen", positive=1,
        reference={"race": "White"}, sensitive="race", metrics="selection_rate.difference",
    )  # fmt: skip


def steps(report):
    return " ".join(each.text for each in report.brief().steps)


def test_people_are_to_be_asked_until_their_answers_decide():
    data = people(4_000, 8, rates=(0.45, 0.5, 0.5), known=900)
    assert "ask randomly drawn people for their race" in steps(
        audited(data, fg.probabilities(GROUPS))
    )
    assert "drawn people" not in steps(audited(data))
    ruled = steps(audited(data, rules=["selection_rate.difference >= -0.05"]))
    assert "ask more randomly drawn people (beyond the 900 who answered)" in ruled


def test_a_headline_from_probabilities_says_that_it_is_estimated():
    data = people(4_000, 1, known=600)
    by = audited(data, fg.probabilities(GROUPS)).brief().headline.text
    bracket = (
        "Estimated from probabilities, if these are independent of the outcome within a group: "
    )
    assert by.startswith(bracket)
    failed = audited(data, fg.probabilities(GROUPS), rules=["selection_rate.difference >= -0.01"])
    assert failed.brief().headline.text.startswith(bracket)
    alone = audited(data, fg.probabilities(GROUPS, assume="given_group")).brief().headline.text
    assert "independent of the outcome within a group: " in alone
    corrected = audited(data).brief().headline.text
    assert corrected.startswith("Estimated from probabilities, corrected by answers: ")
    assert "stimated" not in recorded(data.drop_nulls("answer")).brief().headline.text


def test_disagreeing_probabilities_are_stated_as_a_test_at_its_level():
    data = people(4_000, 1, known=600)
    order = np.random.default_rng(1).permutation(len(data))
    wrong = data.with_columns(*(data[column][order] for column in GROUPS.values()))
    (note,) = (each for each in audited(wrong).diagnostics if each.code == "calibration")
    assert "by more than sampling variation would produce (p\u00a0<\u00a00.001, " in note.message
    assert "tested at 5%): they may be wrong, or those who report may differ" in note.message
