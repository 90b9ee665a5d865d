"""Recoding: how categories are written, what is wrong with them, what audits state of them."""

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
    ("none.toml", "cannot be read"),
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
