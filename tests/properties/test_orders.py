"""Places and lists: no pass where nobody stated them, and the right numbers where somebody did."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.stats.patterns import are_places, count_lists

SEEDS = st.integers(0, 10_000)
TOP = "top_selection_ratio(percent=10)"
ASKED = {"score": "score", "sensitive": "g", "reference": {"g": "M"}, "metrics": TOP}


def counts(scores):
    values, rows = np.unique(np.asarray(scores, dtype=float), return_counts=True)
    return values.tolist(), values.tolist(), rows.tolist()


def places_of(rng, how, n):
    """Return places as tools number them: rows of one value share one, or have one each."""
    values = rng.integers(0, 3 * n, n)
    first, last = (np.searchsorted(np.sort(values), values, side) for side in ("left", "right"))
    each = rng.permutation(n) + 1
    return {"each": each, "from 0": each - 1, "min": first + 1, "max": last,
            "mean": (first + 1 + last) / 2, "most": each[each % 7 > 0]}[how]  # fmt: skip


def scores_of(rng, how, n):
    """Return scores of ordinary shapes, which are no places."""
    return {"normal": rng.normal(500, 100, n).round(), "uniform": rng.integers(1, n + 1, n),
            "stars": rng.integers(1, 6, n), "decile": np.minimum(rng.geometric(0.2, n), 10),
            "points": rng.binomial(100, 0.6, n), "percent": rng.integers(1, 101, n),
    }[how]  # fmt: skip


@given(SEEDS, st.sampled_from(["each", "from 0", "min", "max", "mean", "most"]),
       st.integers(30, 1_500))  # fmt: skip
def test_places_are_seen_however_ties_are_numbered(seed, how, n):
    places = places_of(np.random.default_rng(seed), how, n)
    assert are_places(*counts(places))
    assert are_places(*counts(n + 1 - places))  # of which the last is 1: nobody stated which
    sizes = np.random.default_rng(seed).integers(8, 30, n // 8)
    of_lists = np.concatenate([np.arange(size) + 1 for size in [*sizes, 30]])
    assert are_places(*counts(of_lists), [*sizes.tolist(), 30])
    assert are_places(*counts(np.tile(np.arange(20) + 1, n)))


@pytest.mark.parametrize("how", ["normal", "uniform", "stars", "decile", "points", "percent"])
def test_ordinary_scores_are_no_places_and_columns_no_lists(how):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([60, 400, 2_000]))
        scores = scores_of(rng, how, n)
        assert not are_places(*counts(scores)), seed
        sizes = rng.integers(5, 30, n // 20).tolist()
        assert not are_places(*counts(scores), sizes), seed
        for column in (scores, np.sort(scores), rng.permutation(n), np.arange(n)):
            assert not count_lists(column.tolist(), complete=True), (how, seed)


@given(SEEDS, st.booleans())
def test_the_lowest_places_are_the_best_where_it_is_stated(seed, favours_women):
    rng = np.random.default_rng(seed)
    g, n = rng.choice(["F", "M"], 400), 400
    better = (g == "F") == favours_women
    places = np.argsort(np.argsort(rng.normal(0, 1, n) - 1.5 * better)) + 1
    rows = pl.DataFrame({"g": g, "score": places})
    asked = ASKED | {"score_range": (1, n), "rules": f"{TOP} >= 0.5"}
    assert fg.audit(rows, **asked).verdict is not Outcome.PASS
    found = fg.audit(rows, **asked, favourable="lower")
    share = {each: ((places <= 40) & (g == each)).sum() / (g == each).sum() for each in "FM"}
    ratio = share["F"] / share["M"] if share["M"] else np.inf
    assert found.estimates[0].value == pytest.approx(ratio)
    # the reference would fail it, compared with F: as doubtful as of a selection rate
    assert found.verdict is (Outcome.INCONCLUSIVE if favours_women else Outcome.FAIL)
    assert [d.code for d in found.doubts] == ["reference_decides"] * favours_women
    if favours_women:
        accepted = fg.audit(rows, **asked, favourable="lower", accept="reference_decides")
        assert accepted.verdict is Outcome.PASS


@pytest.mark.parametrize("reference", ["others", "best", "largest", {"g": "b"}], ids=str)
def test_the_lowest_scores_are_the_highest_of_the_other_sign(reference):
    rng = np.random.default_rng(7)
    g = rng.choice([*"abc"], 900, p=[0.5, 0.3, 0.2])
    y = rng.integers(0, 2, 900)
    score = (rng.binomial(20, 0.5, 900) + 2 * (g == "a") - 3 * y).clip(0, 20)
    same = ["roc_auc.difference", "selection_rate.ratio", "top_selection_ratio(k=90)",
            "exposure_ratio", "true_positive_rate.difference"]  # fmt: skip
    asked = {"label": "y", "score": "score", "sensitive": "g", "score_range": (0, 20),
             "positive": 1, "reference": reference,
             "metrics": [*same, "mean_score.difference"]}  # fmt: skip
    rows = pl.DataFrame({"g": g, "y": y, "score": score})
    turned = rows.with_columns(score=20 - pl.col("score"))
    one = fg.audit(rows, **asked, threshold=7, favourable="lower")
    other = fg.audit(turned, **asked, threshold=13, favourable="higher")
    assert len(one.estimates) == len(other.estimates) > 10
    for mine, theirs in zip(one.estimates, other.estimates, strict=True):
        assert mine.key == theirs.key or mine.threshold == 20 - theirs.threshold
        sign = -1 if mine.metric == "mean_score.difference" else 1
        ends = sorted(sign * end for end in (theirs.interval.low, theirs.interval.high))
        assert (mine.interval.low, mine.interval.high) == pytest.approx(ends)
        assert mine.value == pytest.approx(sign * theirs.value)
        assert mine.reference == theirs.reference
    assert "score ≤ 7" in str(one)


@given(SEEDS, st.booleans())
def test_the_top_of_each_list_is_added_up(seed, sorted_by_list):
    """Scores of one list are of another scale than those of the next, as of queries."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 25, 80)
    lists = np.repeat(rng.permutation(80), sizes)
    g = rng.choice(["F", "M"], len(lists))
    score = (g == "M") * 0.7 + rng.normal(0, 1, len(g)) + rng.normal(0, 5, 80)[lists]
    rows = pl.DataFrame({"g": g, "score": score, "query": lists})
    if not sorted_by_list:
        rows = rows.sample(fraction=1.0, shuffle=True, seed=seed)
    asked = ASKED | {"score_range": (-40, 40), "rules": f"{TOP} >= 0.9"}
    if sorted_by_list:
        doubted = fg.audit(rows, **asked)
        assert doubted.verdict is not Outcome.PASS
        assert ("rows_of_lists", "query") in {(d.code, d.column) for d in doubted.doubts}
    found = fg.audit(rows, **asked, list="query")
    held = dict.fromkeys("FM", 0)
    for each in rows.partition_by("query"):
        top = each.sort("score", descending=True).head(-(-len(each) // 10))
        for group in held:
            held[group] += (top["g"] == group).sum()
    ratio = held["F"] / (g == "F").sum() / (held["M"] / (g == "M").sum())
    (estimate,) = found.estimates
    assert estimate.value == pytest.approx(ratio)
    assert estimate.interval.low < ratio < estimate.interval.high
    assert found.verdict is not Outcome.PASS
    assert not {each.code for each in found.doubts} & {"rows_of_lists", "places_as_scores"}


def test_what_has_no_lists_is_refused():
    rows = pl.DataFrame({"g": [*"FM"] * 20, "score": [0.5] * 40, "query": [None, *"a" * 39]})
    with pytest.raises(fg.SpecError, match="list: needs the score"):
        fg.audit(rows, prediction="score", sensitive="g", list="query")
    with pytest.raises(fg.FairgaugeError, match=r"'query' \(list\) is empty in 1 of 40 rows"):
        fg.audit(rows, **ASKED, list="query")
