"""Groups have the order of their bands, or of their type, everywhere; no number depends on it."""

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
from fairgauge.question.readers import Location, parse_sensitive, write_sensitive
from fairgauge.render import render

ASKED = {"prediction": "p", "positive": 1, "sensitive": "band"}
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
    return fg.audit(data, **ASKED)


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
    cube = fg.count(data[kind], **ASKED)
    assert in_json(audited(cube)) == in_json(audited(data[kind])) == stated
    assert in_json(audited(read_cube(cube.to_json(), "file"))) == stated
    assert cube == fg.count(plain, **ASKED)


@pytest.mark.parametrize("kind", ["pandas", "csv", "polars"])
def test_the_order_that_a_question_states_is_kept(kind, tmp_path):
    stated = ["mid", "high", "<5", "low"]
    plain = rows(stated)
    plain.to_csv(tmp_path / "rows.csv", index=False)
    data = {"pandas": plain, "csv": tmp_path / "rows.csv", "polars": pl.from_pandas(plain)}[kind]
    (asked,) = parse_sensitive([f"band: {' > '.join(stated[:3])}"], Location())
    assert write_sensitive([asked]) == [f"band: {' > '.join(stated[:3])}"]
    cube = fg.count(data, **ASKED | {"sensitive": asked})
    assert in_json(audited(read_cube(cube.to_json(), "file"))) == stated


@given(st.permutations(BANDS), st.integers(0, 50))
def test_no_number_depends_on_the_order(order, seed):
    plain = rows(BANDS, seed)
    stated = plain.assign(band=pd.Categorical(plain.band, order))
    one, other = audited(plain), audited(stated)
    assert in_json(other) == list(order)
    for mine, yours in ((one.estimates, other.estimates), (one.groups, other.groups)):
        assert set(map(numbers, mine)) == set(map(numbers, yours))
