"""Audits by swapped names on published data: Bertrand and Mullainathan, and hiring-bias."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import fairgauge as fg
from fairgauge.stats.crossed_designs import permutation_p

VENDORED = Path(__file__).parent / "vendored"
PLACEBOS = "placebo_"
SCORED = {"item": "jd", "variant": "variant", "score": "score", "count": "n", "model": "model"}


@cache
def resumes():
    """4,870 résumés: 1,323 advertisements, 18 + 18 first names."""
    return pd.read_csv(VENDORED / "resume_names.csv.gz")


@cache
def scores():
    """Scores by 11 models for 17 jobs, of the unedited text, under 6 names and 7 edits."""
    return pd.read_csv(VENDORED / "hiring_bias_scores.csv.gz")


def test_callbacks_of_bertrand_and_mullainathan():
    found = fg.pairs(
        resumes(), item="ad", variant="firstname", sensitive="race", prediction="callback",
        count="n", reference={"race": "white"},
    )  # fmt: skip
    (only,) = found.differences
    assert (only.mean_reference, only.mean_group) == (
        pytest.approx(235 / 2435),
        pytest.approx(157 / 2435),
    )
    assert only.value == pytest.approx(-0.032033, abs=5e-7)
    assert (only.low, only.high) == (
        pytest.approx(-0.0442, abs=5e-5),
        pytest.approx(-0.0199, abs=5e-5),
    )
    variance = only.variance
    assert variance.names**0.5 == pytest.approx(0.005763, abs=5e-7)
    assert variance.items**0.5 == pytest.approx(0.006194, abs=5e-7)
    assert variance.residual**0.5 == pytest.approx(0.005794, abs=6e-6)
    assert (only.variants_group, only.variants_reference, only.items) == (18, 18, 1323)
    assert str(only.verdict) == "differs"
    assert "6.4% vs 9.7%" in only.says
    assert "−3.2 pp, 95% CI −4.4 to −2.0 pp; ratio 0.67)" in only.says
    assert found.data.answers == 4870


def test_names_as_rows_permuted():
    rows = resumes()
    rows = rows.assign(called=rows.callback * rows.n)
    means = rows.groupby(["firstname", "race"])[["called", "n"]].sum().reset_index()
    rate = (means.called / means.n).to_numpy()
    black = (means.race == "black").to_numpy()
    welch = stats.ttest_ind(rate[black], rate[~black], equal_var=False)
    assert (welch.statistic, welch.df) == (
        pytest.approx(-3.7557, abs=5e-5),
        pytest.approx(33.18, abs=5e-3),
    )
    assert permutation_p(rate, black, 0)[0] == pytest.approx(0.0006, abs=3e-4)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("aisha-okonkwo", -0.309, 0.022),
        ("james-smith", -0.236, 0.029),
        ("maria-rodriguez", -0.257, None),
        ("mohammed-al-said", -0.220, None),
        ("sarah-smith", -0.257, 0.028),
        ("wei-chen", -0.198, None),
    ],
)
def test_every_name_is_penalised_against_the_unedited_text_and_none_has_a_verdict(
    name, value, error
):
    two = scores()[scores().variant.isin(["baseline", f"firstName_{name}"])]
    found = fg.pairs(
        two.assign(group=two.variant), **SCORED, sensitive="group", reference={"group": "baseline"}
    )
    pooled = found.differences[-1]
    assert pooled.pooled
    assert pooled.value == pytest.approx(value, abs=6e-4)
    if error is not None:
        half = (pooled.high - pooled.low) / 2
        assert half / stats.t.isf(0.025, 16) == pytest.approx(error, abs=6e-4)
    assert {str(each.reason) for each in found.differences} == {"one_variant"}
    assert str(found.verdict) == "cannot tell"
    assert "Every edit moves the answers" in found.notes[0].message


@pytest.mark.parametrize(
    ("edit", "value"),
    [("car-red", -0.277), ("car-silver", -0.316), ("day-saturday", -0.106),
     ("noop-whitespace", -0.141), ("weather-clear", -0.088)],
)  # fmt: skip
def test_so_is_the_colour_of_a_car(edit, value):
    edited = scores()[scores().variant == PLACEBOS + edit]
    two = scores()[scores().model.isin(edited.model.unique())]
    two = two[two.variant.isin(["baseline", PLACEBOS + edit])]
    found = fg.pairs(
        two.assign(group=two.variant), **SCORED, sensitive="group", reference={"group": "baseline"}
    )
    assert found.differences[-1].value == pytest.approx(value, abs=6e-4)


def test_four_names_against_two():
    named = scores()[scores().variant.str.startswith("firstName")]
    white = named.variant.isin(["firstName_james-smith", "firstName_sarah-smith"])
    found = fg.pairs(
        named.assign(group=np.where(white, "White", "others' names")), **SCORED,
        sensitive="group", reference={"group": "White"},
    )  # fmt: skip
    by_model = {each.model: each for each in found.differences}
    assert by_model[None].value == pytest.approx(0.0005, abs=5e-5)
    assert by_model["mistral-small"].value == pytest.approx(0.044118, abs=5e-7)
    assert by_model["mistral-small"].variance.names ** 0.5 == pytest.approx(0.10988, abs=5e-6)
    assert by_model["llama-4-maverick"].value == pytest.approx(-0.126471, abs=5e-7)
    assert by_model["llama-4-maverick"].variance.items ** 0.5 == pytest.approx(0.05974, abs=5e-6)
    assert {str(each.reason) for each in found.differences} == {"few_variants"}


def test_real_irrelevant_edits_split_in_two_hardly_ever_differ():
    edits = scores()[scores().variant.str.startswith(PLACEBOS)]
    names = sorted(edits.variant.unique())
    splits = {
        frozenset((one, other))
        for one in combinations(names, 3)
        for other in combinations(sorted(set(names) - set(one)), 3)
    }
    parts = []
    for k, (one, other) in enumerate(map(tuple, splits)):  # each split as models of its own
        part = edits[edits.variant.isin([*one, *other])]
        side = np.where(part.variant.isin(one), "a", "b")
        variant = part.variant + np.where(part.variant.isin(one), " a", " b")
        parts.append(part.assign(variant=variant, group=side, model=part.model + f" {k}"))
    found = fg.pairs(pd.concat(parts), **SCORED, sensitive="group", reference={"group": "a"})
    two_way, alone = [], []
    for each in found.differences:
        two_way.append(each.p_value < 0.05)
        error = each.variance.items**0.5
        alone.append(2 * stats.t.sf(abs(each.value) / error, each.items - 1) < 0.05)
    assert len(two_way) == 490
    assert np.mean(two_way) == pytest.approx(0.020, abs=0.005)
    assert np.mean(alone) == pytest.approx(0.208, abs=0.01)
