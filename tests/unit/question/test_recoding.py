"""Recoding: how categories are written, what is wrong with them, what audits state of them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.question.option_types import RECODE
from fairgauge.question.readers import Location
from fairgauge.question.recoding import read_recodings, write_recodings
from fairgauge.render import render

SEX = {"sex": {"Male": ["M", "male "], "unknown": ["", "Decline to answer"]}}
ROWS = pl.DataFrame({"y": [1, 0, 1, 1], "sex": ["M", "male ", "Decline to answer", "Female"]})


def problems_of(value):
    problems = []
    read_recodings(value, Location("recode", problems))
    return [str(each) for each in problems]


def test_every_form_is_one_recoding(tmp_path):
    (tmp_path / "all.toml").write_text(f"[recode]\n{write_recodings(SEX)[0]}\n")
    forms = [
        SEX, [SEX], tmp_path / "all.toml", write_recodings(SEX)[0],
        # a line that a terminal wrapped
        write_recodings(SEX)[0].replace("Decline to", "Decline\nto").replace('"M", ', '"M",\n'),
    ]  # fmt: skip
    for form in forms:
        problems = []
        assert RECODE.plain(read_recodings(form, Location("recode", problems))) == SEX, form
        assert problems == []


@pytest.mark.parametrize(
    "name", ["=", 'a"b', "tab\t", "\x7f", "no\xa0break", "\ufeffä", "ä", "{}", "a.b", "", "\\"]
)
def test_what_is_written_is_read_as_it_was(name):
    recoding = {name: {name: [1, True, 2.5, name]}}
    problems = []
    read = read_recodings(write_recodings(recoding), Location("recode", problems))
    assert RECODE.plain(read) == recoding
    assert problems == []


@pytest.mark.parametrize(("value", "stated"), [
    ({"sex": {"Male": ["M"], "Female": ["M"]}}, "'M' of 'sex' is in 'Male', too"),
    ({"sex": {"1": ["M"], "2": [1, "1"]}, "race": {"A": [1], "B": ["1"]}}, "'1' of 'race'"),
    ({"sex": ["M"]}, "must map categories to their values"),
    ({"age": {"cuts": [30, 60]}}, "numbers are cut where their column is named"),
    (5, "must map columns to categories"),
    ("sex = [", "is not valid TOML"),
    ("none.toml", "no file"),
    ([SEX, {"sex": {"M": ["male "]}}], "'male ' of 'sex' is in 'Male', too; list it once"),
    ([SEX, {"sex": {}}], "must map categories to their values"),
])  # fmt: skip
def test_what_is_wrong_is_stated(value, stated):
    assert any(stated in each for each in problems_of(value)), problems_of(value)


def test_a_specification_names_files_beside_it(tmp_path, monkeypatch):
    (tmp_path / "sexes.toml").write_text('sex = {Male = ["M", "male "]}')
    (tmp_path / "audit.toml").write_text(
        'label = "y"\nsensitive = ["sex"]\nrecode = "sexes.toml"\n'
    )
    monkeypatch.chdir("/")
    report = fg.audit(ROWS, config=tmp_path / "audit.toml")
    assert [each.group for each in report.groups] == ["Decline to answer", "Female", "Male"]


def test_the_report_states_the_recoding_and_repeats_it():
    report = fg.audit(ROWS, label="y", positive=1, sensitive="sex", recode=SEX)
    assert report.spec["recode"] == SEX
    assert "--recode 'sex = {Male = " in render(report, "text", full=True)
    again = fg.audit(ROWS, config=report.spec)
    assert again.estimates == report.estimates


AGES = pl.DataFrame({"y": [1, 0] * 146, "n": [2] * 292, "age": [*range(16, 89)] * 4,
                     "x": ["a", "b", "b", "a"] * 73})  # fmt: skip
BANDS = 'age = {outside = "<25 or >60", inside = "25-60"}'
OF_AGES = {"prediction": "y", "positive": 1, "sensitive": "age"}


def test_ranges_of_numbers_are_groups():
    """They were 73 groups, and exit code 0."""
    found = fg.audit(AGES, **OF_AGES, recode=BANDS)
    assert {each.group: each.n for each in found.groups} == {"inside": 36 * 4, "outside": 37 * 4}
    assert fg.audit(found.counts, **OF_AGES).estimates == found.estimates
    assert fg.audit(AGES, config=found.spec).estimates == found.estimates


# ---- features: intervals with closed left edges, and probabilities as programs write them
def table(ages):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": pd.Series(ages, dtype="float64")})
    frame["y"] = np.resize([0, 1, 1], len(ages))
    frame["p"] = np.resize([1, 0, 1, 1], len(ages))
    frame["x"] = rng.random(len(ages))
    older = frame.age >= 40
    frame["older"] = older.map({True: "[40, inf)", False: "[-inf, 40)"}).where(frame.age.notna())
    return frame


def test_both_edges_in_a_cube_are_two_questions():
    frame = table([39, 40, 41, 40] * 3)
    left, right = (
        fg.count(frame, label="y", sensitive=fg.cut("age", 40, closed=edge))
        for edge in ("left", "right")
    )
    assert left != right
    with pytest.raises(fg.CubeError, match=r"^these cubes|sensitive is"):
        left + right


def test_a_column_of_known_groups_has_any_name():
    asked = fg.probabilities(F="p_f", M="p_m", known="unknown").to_dict()
    assert asked["known"] == "unknown"


@pytest.mark.parametrize(("digits", "tolerance"), [(8, None), (4, 1e-3), (3, 5e-3)])
def test_probabilities_as_programs_print_them_are_counted(digits, tolerance, tmp_path):
    """The CFPB prints eight decimals, whose sums are .99999998 to 1.00000002; others print fewer.

    The estimates are those of exact probabilities, as far as rounding goes.
    """
    by_group = {
        "White": "pr_white", "Black": "pr_black", "Hispanic": "pr_hispanic",
        "Asian or Pacific Islander": "pr_api", "American Indian or Alaska Native": "pr_aian",
        "several or other": "pr_mult_other",
    }  # fmt: skip
    rng = np.random.default_rng(5)
    p = rng.dirichlet([0.6, 0.2, 0.3, 0.1, 0.05, 0.05], 3_000)
    exact = pl.DataFrame(dict(zip(by_group.values(), p.T, strict=True)))
    exact = exact.with_columns(chosen=pl.Series(rng.integers(0, 2, 3_000)))
    printed = tmp_path / "printed.csv"
    exact.with_columns(pl.col(list(by_group.values())).round(digits)).write_csv(printed)
    asked = {"prediction": "chosen", "positive": 1, "metrics": "selection_rate.difference"}
    if tolerance:
        race = fg.probabilities(by_group)
        with pytest.raises(fg.SpecError, match=r"print set tolerance .*; tolerance=0\.001'"):
            fg.audit(printed, sensitive={"race": race}, **asked)
        percent = exact.with_columns(pl.col(list(by_group.values())) * 100)
        with pytest.raises(fg.SpecError, match="divide percentages by 100"):
            fg.audit(percent, sensitive={"race": race}, **asked)
        with pytest.raises(fg.DataError, match=r"group, name them so \(--probabilities"):
            fg.audit(exact, sensitive="pr_black", **asked)
    more = {"tolerance": tolerance} if tolerance else {}
    race = fg.probabilities(by_group, **more)
    report = fg.audit(printed, sensitive={"race": race}, **asked)
    (note,) = [each for each in report.diagnostics if each.code == "rounded_probabilities"]
    assert 0 < note["rows"] < 3_000
    of_exact = fg.audit(exact, sensitive={"race": race}, **asked)
    values = [
        [e.value for e in each.estimates if e.value is not None] for each in (report, of_exact)
    ]
    assert values[0] == pytest.approx(values[1], abs=20 * 10.0**-digits)
