"""Places and lists: no pass where nobody stated them, and the right numbers where somebody did."""

import csv
import io
import itertools
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cube.cube import read_cube
from fairgauge.cube.plan import reading_order, sorted_levels
from fairgauge.enums import Outcome
from fairgauge.question.readers import Location, parse_sensitive, write_sensitive
from fairgauge.render import render
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


# ---- groups have the order of their bands, or of their type, everywhere; no number depends on it
ASKED_GROUPS = {"prediction": "p", "positive": 1, "sensitive": "band"}
BANDS = ["<5", "5-17", "18-24", "25-34", "65-74", "75+", "100+"]
STYLES = (
    ("<{}", "{}-{}", "{}+"),
    ("under {}", "{} to {}", "{} and over"),
    ("Less than {}", "{} – {}", "{} or more"),
    ("(-inf, {}]", "({}, {}]", "({}, inf]"),
    ("< ${:,}", "${:,}-${:,}", "${:,}+"),
    ("≤{}%", "{}-{}%", ">{}%"),
)
CUTS = st.lists(st.integers(1, 250_000), min_size=2, max_size=8, unique=True).map(sorted)


def rows(names: list[str], seed: int = 0) -> pd.DataFrame:
    """Return rows in which every group has another rate, in random order."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(len(names)), 40))
    shares = (1 + groups) / (2 + len(names))
    return pd.DataFrame(
        {"band": np.array(names, dtype=object)[groups], "p": (rng.random(len(groups)) < shares) * 1}
    )


def audited(data: object) -> fg.Report:
    return fg.audit(data, **ASKED_GROUPS)


def numbers(result: object) -> str:
    """Return a result as text, without the last digits, which follow the order of sums."""
    return re.sub(r"\d+\.\d{9,}(e-\d+)?", lambda each: f"{float(each[0]):.8g}", repr(result))


def in_json(report: fg.Report) -> list[str]:
    return list(dict.fromkeys(each["group"] for each in report.to_dict()["groups"]))


@given(CUTS, st.sampled_from(STYLES), st.randoms(use_true_random=False))
def test_bands_are_in_the_order_of_their_numbers(cuts, style, random):
    first, between, last = style
    ends = itertools.pairwise(cuts)
    bands = [
        first.format(cuts[0]),
        *(between.format(*each) for each in ends),
        last.format(cuts[-1]),
    ]
    mixed = [*bands, "not stated"]
    random.shuffle(mixed)
    assert reading_order(sorted_levels(mixed)) == (*bands, "not stated")


def test_every_output_has_one_order():
    report = audited(rows(BANDS))
    assert in_json(report) == BANDS
    read = csv.DictReader(io.StringIO(render(report, "csv")))
    assert list(dict.fromkeys(each["group"] for each in read if each["group"] in BANDS)) == BANDS
    assert [
        name for name in re.findall(r"^(\S+) +40 ", str(report), re.M) if name in BANDS
    ] == BANDS
    for page in ("html", "markdown"):
        text = render(report, page).replace("&lt;", "<")
        held = re.findall(
            rf"(?:<t[hd][^>]*>|^\| )({'|'.join(map(re.escape, BANDS))})[ <]", text, re.M
        )
        assert any(held[i : i + len(BANDS)] == BANDS for i in range(len(held))), page


@pytest.mark.parametrize("kind", ["pandas", "ordered", "polars", "lazy", "arrow"])
def test_the_order_of_a_type_is_kept_and_saved(kind):
    stated = ["mid", "high", "<5", "low"]
    plain = rows(stated)
    categories = pd.Categorical(plain.band, [*stated, "none"], ordered=kind == "ordered")
    enum = pl.from_pandas(plain).with_columns(pl.col("band").cast(pl.Enum([*stated, "none"])))
    data = {"pandas": plain.assign(band=categories), "polars": enum, "lazy": enum.lazy()}
    data |= {"ordered": data["pandas"], "arrow": pa.table(enum.to_arrow())}
    cube = fg.count(data[kind], **ASKED_GROUPS)
    assert in_json(audited(cube)) == in_json(audited(data[kind])) == stated
    assert in_json(audited(read_cube(cube.to_json(), "file"))) == stated
    assert cube == fg.count(plain, **ASKED_GROUPS)


@pytest.mark.parametrize("kind", ["pandas", "csv", "polars"])
def test_the_order_that_a_question_states_is_kept(kind, tmp_path):
    stated = ["mid", "high", "<5", "low"]
    plain = rows(stated)
    plain.to_csv(tmp_path / "rows.csv", index=False)
    data = {"pandas": plain, "csv": tmp_path / "rows.csv", "polars": pl.from_pandas(plain)}[kind]
    (asked,) = parse_sensitive([f"band: {' > '.join(stated[:3])}"], Location())
    assert write_sensitive([asked]) == [f"band: {' > '.join(stated[:3])}"]
    cube = fg.count(data, **ASKED_GROUPS | {"sensitive": asked})
    assert in_json(audited(read_cube(cube.to_json(), "file"))) == stated


@given(st.permutations(BANDS), st.integers(0, 50))
def test_no_number_depends_on_the_order(order, seed):
    plain = rows(BANDS, seed)
    stated = plain.assign(band=pd.Categorical(plain.band, order))
    one, other = audited(plain), audited(stated)
    assert in_json(other) == list(order)
    for mine, yours in ((one.estimates, other.estimates), (one.groups, other.groups)):
        assert set(map(numbers, mine)) == set(map(numbers, yours))
