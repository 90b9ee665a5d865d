"""Recoding: how categories are written, what is wrong with them, what audits state of them."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import DiagnosticCode
from fairgauge.errors import CubeError, SpecError
from fairgauge.question.recoding import (
    Recoding,
    plain_recodings,
    read_recodings,
    write_recodings,
)

SEX = {"sex": {"Male": ["M", "male "], "unknown": ["", "Decline to answer"]}}
ROWS = pl.DataFrame({"y": [1, 0, 1, 1], "sex": ["M", "male ", "Decline to answer", "Female"]})


def problems_of(value):
    problems = []
    read_recodings(value, "recode", problems)
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
        assert plain_recodings(read_recodings(form, "recode", problems)) == SEX, form
        assert problems == []


@pytest.mark.parametrize(
    "name", ["=", 'a"b', "tab\t", "\x7f", "no\xa0break", "\ufeffä", "ä", "{}", "a.b", "", "\\"]
)
def test_what_is_written_is_read_as_it_was(name):
    recoding = {name: {name: [1, True, 2.5, name]}}
    problems = []
    assert (
        plain_recodings(read_recodings(write_recodings(recoding), "recode", problems)) == recoding
    )
    assert problems == []


@pytest.mark.parametrize(
    ("value", "stated"),
    [
        ({"sex": {"Male": ["M"], "Female": ["M"]}}, "'M' of 'sex' is in 'Male', too"),
        ({"sex": {"1": ["M"], "2": [1, "1"]}, "race": {"A": [1], "B": ["1"]}}, "'1' of 'race'"),
        ({"sex": ["M"]}, "must map categories to their values"),
        ({"sex": {}}, "must map categories to their values"),
        (5, "must map columns to categories"),
        ("sex = [", "is not valid TOML"),
        ("none.toml", "cannot be read"),
        ([SEX, {"sex": {"M": ["male "]}}], "'male ' of 'sex' is in 'Male', too; list it once"),
        ([SEX, {"sex": {}}], "must map categories to their values"),
    ],
)
def test_what_is_wrong_is_stated(value, stated):
    assert any(stated in each for each in problems_of(value)), problems_of(value)


def test_recodings_of_one_column_are_joined(tmp_path):
    (tmp_path / "sexes.toml").write_text('sex = {Male = ["MÄNNLICH"], unknown = ["?"]}')
    given = [SEX, 'sex = {Female = ["F"], Male = ["M", 1]}', str(tmp_path / "sexes.toml")]
    problems = []
    assert plain_recodings(read_recodings(given, "recode", problems)) == {
        "sex": {
            "Male": [1, "M", "MÄNNLICH", "male "],
            "unknown": ["", "?", "Decline to answer"],
            "Female": ["F"],
        }
    }
    assert problems == []


@given(st.data())
@settings(max_examples=50)
def test_a_recoding_in_parts_is_the_whole_one(data):
    """However its values are distributed over lines, each is in the category that it was in."""
    category_of = data.draw(st.dictionaries(st.text(max_size=2), st.sampled_from("abc")))
    lines = [
        data.draw(st.permutations([{"x": {name: [value]}} for value, name in category_of.items()]))
        for _ in range(2)
    ]
    problems = []
    found = read_recodings(write_each(*lines), "recode", problems)
    assert problems == []
    assert {**found[0].category_of} == category_of if category_of else not found


def write_each(*lines):
    return [text for line in lines for each in line for text in write_recodings(each)]


def test_all_recodings_that_an_audit_offers_can_be_pasted(tmp_path):
    """One line is of outcomes that are no decision, another of spellings of the same column."""
    rows = {
        "sex": ["F", "M"] * 60,
        "status": ["Hired"] * 30 + ["Hired "] * 10 + ["Rejected"] * 60 + ["Withdrawn"] * 20,
    }
    pl.DataFrame(rows).write_csv(tmp_path / "rows.csv")
    command = ["audit", str(tmp_path / "rows.csv"), "--preset", "nyc-ll144", "--prediction"]
    command += ["status", "--positive", "Hired", "--sensitive", "sex", "--full"]
    shown = " ".join(CliRunner().invoke(main, command).output.split())
    offered = dict.fromkeys(re.findall(r"--recode '(status = [^']*)'", shown))
    assert len(offered) == 2
    pasted = CliRunner().invoke(main, [*command, *(f"--recode={each}" for each in offered)])
    assert pasted.exit_code == 0, pasted.output
    assert "(recode)" not in pasted.output


@pytest.mark.parametrize(
    "options",
    [
        {"sensitive": [{"column": "sex", "cuts": [1]}]},
        {"sensitive": "race", "score": "sex"},
        {"sensitive": "race", "label": "sex", "positive": fg.above(3)},
        {"sensitive": "race", "strata": [{"column": "sex", "cuts": [1]}]},
    ],
)
def test_numbers_are_not_recoded(options):
    from fairgauge.question.specification import ask

    with pytest.raises(SpecError, match=r"recode\.sex"):
        ask(**({"label": "y"} | options), recode=SEX)
    listed = {"sex": {"unknown": ["Decline to answer", ""]}}
    if "cluster" not in options:  # of numbers, those that are none can be listed
        assert ask(**({"label": "y"} | options), recode=listed).recode


def test_an_unknown_column_is_an_error():
    with pytest.raises(SpecError, match=r"recode\.sexx: no column 'sexx'"):
        fg.audit(ROWS, label="y", sensitive="sex", recode={"sexx": SEX["sex"]})


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
    text = report.to_text(full=True) if hasattr(report, "to_text") else str(report)
    assert "Values of sex are recoded." in text
    again = fg.audit(ROWS, config=report.spec)
    assert again.estimates == report.estimates


def test_counts_know_their_recoding_and_take_no_other(tmp_path):
    cube = fg.count(ROWS, label="y", sensitive="sex", recode=SEX)
    cube.save(tmp_path / "day.cube.json")
    loaded = fg.load(tmp_path / "day.cube.json")
    assert fg.audit(loaded).spec["recode"] == SEX
    with pytest.raises(CubeError, match="recoded while rows are counted"):
        fg.audit(loaded, recode={"sex": {"Male": ["M"]}})


def diagnostics(code, **options):
    report = fg.audit(ROWS, label="y", sensitive="sex", **options)
    return [each for each in report.diagnostics if each.code is code]


def test_values_never_seen_and_values_of_no_category_are_reported():
    recode = {"sex": {"Male": ["M", "mael"], "unknown": ["?", " "]}}
    unseen = diagnostics(DiagnosticCode.UNMATCHED, recode=recode)
    assert [(each["path"], each["name"]) for each in unseen] == [
        ("recode.sex", "?"), ("recode.sex", "mael"),
    ]  # fmt: skip
    (left,) = diagnostics(DiagnosticCode.NOT_RECODED, recode=recode)
    assert left["values"] == ("Decline to answer", "Female", "male ")


def test_a_spelling_that_is_absent_from_a_table_is_not_warned_of_beside_another_one():
    """On days without it, all groups were listed but the one that it is recoded as."""
    rows = pl.DataFrame({"y": [1, 0] * 60, "lang": ["de", "tr", "tr", "fr"] * 30})
    asked = {"label": "y", "positive": 1, "sensitive": "lang"}
    for names, level in ((["tr", "TR"], "note"), (["tr", "frr"], "warning")):
        found = fg.audit(rows, **asked, recode={"lang": {"Turkish": names}})
        (unseen,) = [each for each in found.diagnostics if each.code is DiagnosticCode.UNMATCHED]
        assert (unseen["name"], unseen.level) == (names[1], level)


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


@pytest.mark.parametrize(("text", "inside", "outside"), [
    ("25-60", [25, 60, 25.5], [24, 61]), ("25 to 60", [25], [24]), ("25\u201360", [60], [61]),
    ("<25 or >60", [24, 24.999, -1, 61], [25, 60]), ("<=25", [25], [26]), ("\u226560", [60], [59]),
    ("60+", [60, 1e9], [59.9]), ("-5--1 or 3", [-5, -1, 3], [0, -6, 2]), ("0.5-1.5", [0.5], [0.4]),
    ("60-25", [], [30]), ("Zone 25-60", [], [30]), ("2026-01-31", [], [2026]), ("7", [], [8]),
])  # fmt: skip
def test_a_range_holds_its_ends_and_numbers_of_texts(text, inside, outside):
    made = Recoding("n", (("in", (text,)),))
    held = [*inside, *map(str, inside)]
    assert made.categories_of(held) == ["in"] * len(held)
    assert made.categories_of([*outside, *map(str, outside), True, None, "x"]) == [None] * (
        2 * len(outside) + 3
    )


def test_a_listed_number_is_not_of_a_range_and_two_ranges_of_one_number_are_refused():
    recode = {"age": {"young": "<30", "old": ">=30", "unknown": [88]}}
    found = fg.audit(AGES, **OF_AGES, recode=recode)
    assert found.data.excluded == {"missing age": 4}
    with pytest.raises(fg.DataError, match="has 30, which is in the ranges"):
        fg.audit(AGES, **OF_AGES, recode={"age": {"a": "<=30", "b": "30-40", "c": ">40"}})
    mixed = AGES.with_columns(pl.col("age").cast(str).replace("88", "25-60"))
    with pytest.raises(fg.DataError, match="'25-60' as a value, and the numbers '25'"):
        fg.audit(mixed, **OF_AGES, recode=BANDS)
    texts = pl.DataFrame({"y": [1, 0] * 20, "age": ["20-30", "30-40", "40+", "<20"] * 10})
    joined = fg.audit(texts, **OF_AGES, recode={"age": {"a": ["20-30", "<20"], "b": "30-40"}})
    assert {each.group for each in joined.groups} == {"a", "b", "40+"}
    with pytest.raises(SpecError, match="'>80' is a range"):
        fg.audit(AGES, **OF_AGES, recode={"age": {"unknown": [">80"]}})


IDLE = {"age": {"Old": ["old", "OLD"], "young": "<10"}}


@pytest.mark.parametrize("ask_of", [
    lambda rows: fg.audit(rows, **OF_AGES, recode=IDLE),
    lambda rows: fg.audit(rows, **OF_AGES, recode=IDLE, reference={"age": "Old"}),
    lambda rows: fg.audit(fg.count(rows, **OF_AGES, recode=IDLE)),
    lambda rows: fg.why(rows, **OF_AGES, strata="x", recode=IDLE),
    lambda rows: fg.why(rows, **(OF_AGES | {"sensitive": "x"}), strata="age", recode=IDLE),
    lambda rows: fg.find(rows, prediction="y", positive=1, features=["x", "age"],
                         rate="selection_rate", recode=IDLE),
    lambda rows: fg.explore(rows, **(OF_AGES | {"sensitive": "x"}), recode={"x": {"B": ["bb"]}}),
    lambda rows: fg.audit(rows, **(OF_AGES | {"sensitive": "x"}), recode={"y": {"no": ["N"]}}),
    lambda rows: fg.compare_models(rows.with_columns(y2="y", t="y"), label="t", **OF_AGES,
                                   candidate="y2", recode=IDLE),
])  # fmt: skip
def test_a_recoding_of_which_no_row_has_a_value_is_refused(ask_of):
    with pytest.raises(SpecError, match=r"recode\.(age|x|y): no row has .* It holds '"):
        ask_of(AGES)


@pytest.mark.parametrize("recode", [
    {"x": {"unknown": ["withdrawn"]}}, {"x": {"a": ["A"], "b": ["B"]}}, {"x": {"a": [""]}},
])  # fmt: skip
def test_a_recoding_that_may_have_nothing_to_do_is_stated(recode):
    found = fg.audit(AGES, prediction="y", positive=1, sensitive="x", recode=recode)
    stated = [each["name"] for each in found.diagnostics if each.code is DiagnosticCode.UNMATCHED]
    assert stated == sorted(v for values in recode["x"].values() for v in values if v)


def test_rows_that_a_condition_chooses_and_parts_need_not_have_a_recoded_value():
    asked = OF_AGES | {"sensitive": "x", "recode": {"x": {"B": ["b"]}}}
    for age in (16, 17):
        assert fg.audit(AGES, **asked, where=f"age = {age}").groups
    one, other = (
        fg.count(AGES.filter(of), **asked) for of in (pl.col("x") == "a", pl.col("x") != "a")
    )
    assert {each.group for each in fg.audit(one + other).groups} == {"a", "B"}
    with pytest.raises(SpecError, match="no row has 'b'"):
        fg.audit(one)


def test_a_recoding_in_another_order_is_the_same(tmp_path):
    """Counts were refused."""
    forms = [
        {"age": {"old": [">60", "88"], "young": "<=30"}, "x": {"B": ["b", "bb"]}},
        {"x": {"B": ["bb", "b"]}, "age": {"young": "<=30", "old": ["88", ">60"]}},
    ]
    texts = []
    for recode in forms:
        cube = fg.count(AGES, **OF_AGES, recode=recode)
        texts.append(cube.to_json())
        for other in forms:
            assert fg.audit(cube, recode=other).spec["recode"] == forms[0] | {
                "age": {"old": ["88", ">60"], "young": ["<=30"]}
            }
    assert texts[0] == texts[1]


def test_spellings_are_suggested_as_a_block_that_ends_the_suggestion():
    """Of other words for the same, such as M and Male, nothing is known."""
    rows = pl.DataFrame(
        {
            "y": [1, 0] * 6,
            "sex": ["Male", "M", "male ", "F", "MALE", "Decline to answer"] * 2,
            "race": ["26 - 40", "26–40", "White"] * 4,
        }
    )
    asked = {"label": "y", "positive": 1, "sensitive": ["sex", "race"]}

    def suggested(**options):
        found = fg.audit(rows, **asked, **options).diagnostics
        lines = [each["line"] for each in found if each.code is DiagnosticCode.SAME_NAMES]
        return plain_recodings(read_recodings(lines, "recode", []))

    block = suggested()
    assert {k: sorted(map(sorted, v.values())) for k, v in block.items()} == {
        "sex": [["MALE", "Male", "male "]],
        "race": [["26 - 40", "26–40"]],
    }
    assert suggested(recode=write_recodings(block)) == {}


def test_metrics_of_rows_see_the_categories():
    n = 60
    rows = pl.DataFrame(
        {
            "y": [i % 2 for i in range(n)],
            "p": [(i * 7 % 13) / 13 for i in range(n)],
            "sex": [["M", "male ", "F"][i % 3] for i in range(n)],
        }
    )
    before = rows.with_columns(pl.col("sex").replace({"male ": "Male", "M": "Male"}))
    asked = {
        "label": "y", "score": "p", "sensitive": "sex", "features": ["p"],
        "metrics": ["roc_auc.difference", "FT"],
    }  # fmt: skip
    recode = {"sex": {"Male": ["M", "male "]}}
    assert fg.audit(rows, **asked, recode=recode).estimates == fg.audit(before, **asked).estimates


@pytest.mark.parametrize("listed", [["NA", "Exempt"], ["NA", "Exempt", 9999]])
def test_numbers_cut_at_quantiles_are_those_of_a_file_without_listed_values(tmp_path, listed):
    random = np.random.default_rng(7)
    income = np.where(random.random(4_000) < 0.9, random.integers(20, 300, 4_000), 9999)
    texts = income.astype(str)
    texts[::50], texts[7::50] = "NA", "Exempt"
    table = pl.DataFrame(
        {"g": random.choice(["a", "b"], 4_000), "y": random.integers(0, 2, 4_000), "income": texts}
    )
    table.write_csv(tmp_path / "listed.csv")
    gone = pl.col("income").is_in([*map(str, listed)])
    empty = pl.when(~gone).then("income").alias("income")
    table.with_columns(empty).write_csv(tmp_path / "empty.csv")
    asked = {"label": "y", "sensitive": "g", "strata": [fg.cut("income", "quantiles")]}
    found = fg.why(tmp_path / "listed.csv", recode={"income": {"unknown": listed}}, **asked)
    read = fg.why(tmp_path / "empty.csv", **asked)
    assert found.fingerprint == read.fingerprint
    assert found.gaps == read.gaps
    assert found.excluded == read.excluded != {}
    with pytest.raises(fg.DataError, match=r"income = \{unknown = \[\"Exempt\", \"NA\"\]\}"):
        fg.why(tmp_path / "listed.csv", **asked)
