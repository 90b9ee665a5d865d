"""Searches of rows with doubtful values: of groups spelt in two ways, codes, missing decisions."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.api import searching
from fairgauge.enums import DiagnosticCode, Level

ASKED = {"prediction": "p", "positive": 1, "metrics": "selection_rate"}
FEATURES = ["sex", "race", "age"]
ROWS = 4_000
DRAWN = np.random.default_rng(5)
PEOPLE = pl.DataFrame({
    "sex": DRAWN.choice(["F", "M"], ROWS),
    "race": DRAWN.choice(["Asian", "Black", "White"], ROWS, p=[0.2, 0.2, 0.6]),
    "age": DRAWN.integers(18, 90, ROWS),
    "p": (DRAWN.random(ROWS) < 0.6).astype(int),
})  # fmt: skip
FIRST = pl.int_range(pl.len())


@pytest.fixture(params=["at once", "in batches"])
def find(request, monkeypatch):
    """Search rows by counts of all features, or by reading them in batches."""
    most = 10**9 if request.param == "at once" else 0
    monkeypatch.setattr(searching, "_MOST_CELLS", most)
    return lambda frame, **more: fg.find(frame, **{**ASKED, "sensitive": FEATURES, **more})


def warnings_of(found, *codes):
    wanted = [each for each in found.diagnostics if each.level is Level.WARNING]
    return [each for each in wanted if not codes or each.code in codes]


def test_usual_rows_are_not_warned_of(find):
    assert warnings_of(find(PEOPLE)) == []


def test_a_group_spelt_in_two_ways_is_warned_of(find):
    spelt = PEOPLE.with_columns(
        race=pl.when(FIRST % 2 == 0).then(pl.col("race").str.to_lowercase() + " ").otherwise("race")
    )
    alike = warnings_of(find(spelt))
    assert alike.pop(0).code is DiagnosticCode.UNCOUNTED_ROWS  # so that nothing is "not worse"
    assert {each.code for each in alike} == {DiagnosticCode.SAME_NAMES}
    assert {each["values"] for each in alike} == {
        ("Asian", "asian "), ("Black", "black "), ("White", "white ")
    }  # fmt: skip
    assert alike[0]["line"] == 'race = {Asian = ["Asian", "asian "]}'
    recoded = {name: [name, f"{name.lower()} "] for name in ("Asian", "Black", "White")}
    assert warnings_of(find(spelt, recode={"race": recoded})) == []


@pytest.mark.parametrize("hidden", [8, 0])
def test_what_rows_without_a_value_could_hide_is_not_shown_to_be_absent(find, hidden):
    """Refused women whose sex is not recorded were among the others, and no woman was worse off."""
    lacking = (pl.col("sex") == "F") & (pl.col("p") == 0) & (hidden > FIRST % 10)
    found = find(PEOPLE.with_columns(pl.when(~lacking).then("sex")), missing="exclude")
    assert found.lacks_outcomes is (found.largest.by_at_most is None) is bool(hidden)


@pytest.mark.parametrize(("asked", "hides"), [
    ({}, True), ({"worse": "higher"}, False), ({"accept": "unfavourable_positive"}, False),
])  # fmt: skip
def test_who_is_worse_off_by_an_assumed_outcome_is_not_shown(asked, hides):
    rows = PEOPLE.rename({"p": "denied"})
    assert fg.find(rows, **ASKED | {"prediction": "denied"}, sensitive=["sex"],
                   **asked).lacks_outcomes is hides  # fmt: skip
