"""Attribution: composition and treatment add up to the change, exactly."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES
from tests.monitored_days import day_names

import fairgauge as fg
from fairgauge.stats.decomposition import kitagawa


def _ordered(counts):
    """Return successes and trials, before and after."""
    return (*sorted(counts[:2]), *sorted(counts[2:]))


def _has_rows(parts):
    return sum(part[1] for part in parts) > 0 < sum(part[3] for part in parts)


PART = st.tuples(*[st.integers(0, 50)] * 4).map(_ordered)
PARTS = st.lists(PART, min_size=1, max_size=6).filter(_has_rows)


@given(PARTS)
def test_two_terms_add_up_to_the_change(parts):
    x0, n0, x1, n1 = np.array(parts, dtype=float).T
    composition, treatment = kitagawa(x0, n0, x1, n1)
    assert composition + treatment == pytest.approx(x1.sum() / n1.sum() - x0.sum() / n0.sum())


@given(PARTS)
def test_each_term_vanishes_with_its_cause(parts):
    x0, n0, *_ = np.array(parts, dtype=float).T
    assert kitagawa(x0, n0, 3 * x0, 3 * n0) == (pytest.approx(0), pytest.approx(0))
    if len(parts) == 1:
        assert kitagawa(x0, n0, *np.array(parts, dtype=float).T[2:])[0] == pytest.approx(0)


QUESTION = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex",
            "strata": "department"}  # fmt: skip
RULE = {"metric": "selection_rate.difference", "between": [-0.05, 0.05], "groups": "F"}


def day(rng, *, easy=0.5, women=0.0):
    """Return rows: department A selects 60%, B 20%; women apply to A with probability `easy`."""
    sex = np.repeat(["F", "M"], [150, 300])
    in_a = rng.random(450) < np.where(sex == "F", easy, 0.5)
    chance = np.where(in_a, 0.6, 0.2) + np.where(sex == "F", women, 0)
    return pd.DataFrame({"sex": sex, "department": np.where(in_a, "A", "B"), "label": 1,
                         "prediction": (rng.random(450) < chance).astype(int)})  # fmt: skip


def alarm(**change):
    rng = np.random.default_rng(11)
    counts = {
        name: fg.count(day(rng, **(change if i >= 20 else {})), **QUESTION)
        for i, name in enumerate(day_names(40))
    }
    return fg.monitor(counts, QUESTION | {"monitor": {"rules": [RULE]}})


def test_a_change_of_who_applies_is_composition():
    report = alarm(easy=0.1)
    (found,) = report.alarms
    parts = found.alarm.decomposition
    assert parts.by == ("department",)
    assert parts.composition == pytest.approx(-0.16, abs=0.03)
    assert parts.treatment == pytest.approx(0, abs=0.03)
    assert parts.composition + parts.treatment == pytest.approx(found.alarm.change)
    assert "look first at who applies: the mix of department." in str(report.brief())


def test_a_change_of_decisions_is_treatment():
    report = alarm(women=-0.15)
    (found,) = report.alarms
    parts = found.alarm.decomposition
    assert parts.treatment == pytest.approx(-0.15, abs=0.03)
    assert parts.composition == pytest.approx(0, abs=0.03)
    assert "look first at decisions within department" in str(report.brief())


@FEW_EXAMPLES
@given(
    absent=st.sets(st.sampled_from([0, 3, 7, 21, 25, 30]), min_size=1),
    women=st.sampled_from([-0.15, -0.17, -0.2]),
)
def test_the_change_and_its_terms_are_of_the_same_rows_and_add_up_as_shown(absent, women):
    rng = np.random.default_rng(11)
    counts = {}
    for i, name in enumerate(day_names(40)):
        rows = day(rng, women=women if i >= 20 else 0.0)
        if i in absent:  # men alone, and others of them than on other days
            rows = rows[rows["sex"] == "M"].assign(prediction=1)
        counts[name] = fg.count(rows, **QUESTION)
    report = fg.monitor(counts, QUESTION | {"monitor": {"rules": [RULE]}})
    (found,) = report.alarms
    parts = found.alarm.decomposition
    assert parts.change == pytest.approx(found.alarm.change)
    page = " ".join(map(str, report.brief().found))
    shown = re.search(r"changed by (\S+) pp, (\S+) pp from anoth.* and (\S+) pp from rates", page)
    assert shown is not None
    change, *terms = (float(text.replace("−", "-")) for text in shown.groups())
    assert sum(terms) == pytest.approx(change)
    for pooled in (found.alarm.after, found.alarm.before):
        assert not {day_names(40).index(pooled.first), day_names(40).index(pooled.last)} & absent
