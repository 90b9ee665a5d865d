"""What changes, as counts of people: what readers take from them is the true change."""

import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.render.grammar import Share, counted_changes

COUNTED = re.compile(
    r"[Oo]f (?P<n>[\d,]+) (?P<who>women|men), (?P<old>[\d,]+)"
    r"(?: were approved (?:under|in) [^;.]*?)? "
    r"and (?:of (?P<n_new>[\d,]+), )?(?P<new>[\d,]+)(?! of)"
)
FITS = re.compile(
    r"matches the outcome for (?P<old>[\d,]+) of (?P<n>[\d,]+) (?P<who>rows) under “old” and "
    r"(?:of (?P<n_new>[\d,]+), )?(?P<new>[\d,]+) under"
)
WORDS = {"positive": "approved", "groups": {"sex": {"Female": "women", "Male": "men"}}}
TENTH, QUARTER_OF_ONE_IN_100 = Fraction(1, 10), Fraction(1, 400)


def is_near(stated: Fraction, true: Fraction) -> bool:
    return abs(stated - true) <= max(TENTH * abs(true), QUARTER_OF_ONE_IN_100)


@st.composite
def sides(draw: st.DrawFn, *, paired: bool) -> tuple[Share, Share]:
    size = draw(st.integers(1, 300_000))
    other = size if paired else draw(st.integers(1, 300_000))
    hits = draw(st.integers(0, size))
    moved = draw(st.integers(-30, 30)) if draw(st.booleans()) else draw(st.integers(-other, other))
    return (
        Share(hits, size),
        Share(min(max(hits * other // size + moved, 0), other), other),
    )


def read(side: tuple[str, str, str]) -> tuple[Fraction, Fraction]:
    """Return both shares as a reader takes them from the counts."""
    of, old, new = (each.replace(",", "") for each in side)
    *own, new = new.removeprefix("of ").split()
    return Fraction(int(old), int(of)), Fraction(int(new), int(own[0] if own else of))


@given(st.booleans().flatmap(lambda paired: st.lists(sides(paired=paired), min_size=1, max_size=2)))
def test_what_counts_come_to_is_the_true_difference(of_sides: list[tuple[Share, Share]]) -> None:
    found = counted_changes(of_sides)
    assert found is not None
    stated = [
        read((of, old, new.replace(",", "") if not new.startswith("of ") else
              new.replace(", ", " ").replace(",", "")))
        for of, old, new in found[1]
    ]  # fmt: skip
    true = [(before.rate, after.rate) for before, after in of_sides]
    pairs = list(zip(stated, true, strict=True))
    for said, rates in pairs:
        assert is_near(said[1] - said[0], rates[1] - rates[0])
        if found[0] is None:
            assert said == rates
    first, rates = pairs[0]
    assert (first[1] > first[0], first[1] < first[0]) == (rates[1] > rates[0], rates[1] < rates[0])
    if len(pairs) == 2:
        (mine, own), (theirs, others) = pairs
        gaps = [mine[at] - theirs[at] for at in (0, 1)]
        true_gaps = [own[at] - others[at] for at in (0, 1)]
        assert all(is_near(*each) for each in zip(gaps, true_gaps, strict=True))
        assert is_near(gaps[1] - gaps[0], true_gaps[1] - true_gaps[0])


def applicants(seed: int, changed: int) -> pl.DataFrame:
    """Return decisions of two models, of which so many are different."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(400, 5_000))
    sex = rng.choice(["Female", "Male"], n)
    old = rng.random(n) < np.where(sex == "Male", 0.7, 0.3)
    new = old.copy()
    moved = rng.choice(n, changed, replace=False)
    new[moved] = sex[moved] == "Female"
    return pl.DataFrame({"sex": sex, "y": rng.random(n) < 0.5, "old": old, "new": new})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("verb", ["models", "reports"])
def test_first_pages_of_comparisons_state_true_changes(verb: str, seed: int) -> None:
    rows = applicants(seed, changed=(30, 60, 200)[seed % 3])
    asked = {"label": "y", "sensitive": "sex", "positive": True, "words": WORDS}
    if verb == "models":
        now = rows
        page = fg.compare_models(
            rows, **asked, prediction="old", candidate="new", margins={"accuracy": 0.1}
        ).brief()
    else:
        rows, now = (pl.concat([each] * 3) for each in (rows, rows.tail(-len(rows) // 9)))
        page = fg.compare(
            fg.audit(rows, **asked, prediction="old"), fg.audit(now, **asked, prediction="new")
        ).brief()
    stated = [shares_of(each) for form in (COUNTED, FITS) for each in form.finditer(str(page))]
    for who, before, after in stated:
        sex = {"women": ["Female"], "men": ["Male"]}.get(who, ["Female", "Male"])
        was, became = (data.filter(pl.col("sex").is_in(sex)) for data in (rows, now))
        if who not in ("women", "men"):
            pairs = ((was["y"] == was["old"]).sum(), (became["y"] == became["new"]).sum())
        else:
            pairs = (was["old"].sum(), became["new"].sum())
        true = [Fraction(k, n) for k, n in zip(pairs, (len(was), len(became)), strict=True)]
        assert is_near(after - before, true[1] - true[0]), (who, before, after)
    assert len(stated) == (1 if verb == "models" else 0) or "women" in {who for who, *_ in stated}


def shares_of(match: re.Match[str]) -> tuple[str, Fraction, Fraction]:
    """Return whose shares a sentence states, and what they are before and after."""
    of, old, new = (int(match[key].replace(",", "")) for key in ("n", "old", "new"))
    of_new = int((match["n_new"] or match["n"]).replace(",", ""))
    return match["who"], Fraction(old, of), Fraction(new, of_new)
