"""Tables of one report are held against each other, whichever way intersections are written."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from stated_headers import check

from fairgauge_check.check_result import FaultCode
from fairgauge_check.sources import read_sources
from fairgauge_check.table_margins import check_margins

SEX = "Sex,Applicants,Selected\nFemale,180,51\nMale,113,44\nUnknown,20,\n"
PARTS = {("Female", "Asian"): (80, 31), ("Female", "White"): (90, 18),
         ("Male", "Asian"): (100, 40), ("Male", "White"): (10, 3)}  # fmt: skip


def _crossed(between="{} & {}", unknown="Unknown,33,\n", *, female=90):
    rows = [
        f'"{between.format(sex, race)}",{female if (sex, race) == ("Female", "White") else n},{k}\n'
        for (sex, race), (n, k) in PARTS.items()
    ]
    return f"Group,Applicants,Selected\n{''.join(rows)}{unknown}"


def _codes(text):
    return [fault.code for table in check(text).tables for fault in table.errors]


@pytest.mark.parametrize(
    "between", ["{} & {}", "{}, {}", "{} / {}", "{} - {}", "{} × {}", "{} ({})", "{}: {}", "{} {}"]
)
def test_intersections_in_one_column_are_held_against_their_categories(between):
    assert _codes(f"{SEX}\n{_crossed(between)}") == []
    assert _codes(f"{_crossed(between)}\n{SEX}") == []
    more = _codes(f"{SEX}\n{_crossed(between, female=101)}")
    assert FaultCode.MARGIN_MISMATCH in more, "more women of known race than women"
    other = "{1}, {0}" if between == "{}, {}" else "{1} & {0}"
    assert FaultCode.MARGIN_MISMATCH in _codes(f"{SEX}\n{_crossed(other, female=101)}")


def test_people_of_unknown_category_may_be_missing_in_intersections_and_no_others():
    assert _codes(f"{SEX}\n{_crossed(unknown='Unknown,32,')}") == [FaultCode.PEOPLE_DIFFER]
    assert FaultCode.MARGIN_MISMATCH in _codes(f"{SEX}\n{_crossed(unknown='')}")


def test_names_that_differ_in_case_alone_are_not_added_up():
    text = f"{SEX}\n{_crossed()}".replace("Unknown", "female,18,5\nUnknown", 1)
    assert FaultCode.MARGIN_MISMATCH not in (found := _codes(text))
    assert FaultCode.REPEATED_CATEGORY in found
    assert _codes(text.replace("female,18,5\n", "").replace("Female &", "FEMALE &")) == []


def test_names_that_only_begin_alike_are_no_intersections():
    race = "Race,Applicants,Selected\nAsian,80,31\nWhite,100,20\n"
    finer = "Race,Applicants,Selected\nAsian Indian,50,20\nAsian other,90,31\nWhite,100,20\n"
    assert _codes(f"{race}\n{finer}") == []


def test_a_smaller_sum_is_no_error_where_an_intersection_has_no_row_or_number():
    few = _crossed().replace('"Female & White",90,18\n', "")
    assert _codes(f"{SEX}\n{few}") == []
    withheld = _crossed().replace('"Female & White",90,18', '"Female & White",suppressed,')
    assert _codes(f"{SEX}\n{withheld}") == []
    more = withheld.replace('Asian",80,31', 'Asian",181,70')
    assert FaultCode.MARGIN_MISMATCH in _codes(f"{SEX}\n{more}")


def test_a_category_without_any_intersection_is_no_error_where_its_own_table_has_it():
    """True tables were wrong in which a small race has a row of its own and no intersection."""
    race = "Race,Applicants,Selected\nAsian,180,71\nWhite,100,21\nOther,13,3\nUnknown,20,\n"
    crossed = _crossed(unknown="Unknown,20,\n")
    assert _codes(f"{SEX}\n{race}\n{crossed}") == []
    assert _codes(f"{crossed}\n{race}\n{SEX}") == []
    more = _codes(f"{SEX}\n{race}\n{_crossed(unknown='Unknown,20,', female=101)}")
    assert FaultCode.MARGIN_MISMATCH in more  # never more than there are
    without = race.replace("Other,13,3\n", "").replace("Unknown,20", "Unknown,12")
    assert FaultCode.MARGIN_MISMATCH in _codes(f"{SEX}\n{without}\n{_crossed(unknown='')}")


@pytest.mark.parametrize("remark", ["*", " *", "†", " (below 4/5)", " – low", " ✗", "!", " [b]"])
def test_ratios_with_a_remark_or_a_sign_are_read(remark):
    def table(ratio):
        return f"sex;n;hired;impact ratio\nMale;100;50;1.00\nFemale;100;34;{ratio}{remark}\n"

    assert check(table("0.68")).tables[0].groups[1].printed == f"0.68{remark}"
    assert _codes(table("0.68")) == []
    assert _codes(table("0.86")) == [FaultCode.RATIO_MISMATCH]


def test_people_of_unknown_category_are_counted_once(tmp_path):
    """The row, and the sentence below, are of the same people."""
    path = tmp_path / "audit.csv"
    note = "Of 293 applicants, 33 applicants of unknown sex or race are not included."
    path.write_text(f"{SEX.replace('180', '220')}\n{_crossed()}\n{note}\n", encoding="utf-8")
    (fault,) = [each for each in check(path).tables[0].errors if each.row]
    assert (str(fault.code), fault["unknown"]) == ("margin_mismatch", 33)


def test_more_people_than_there_are_is_an_error_where_an_intersection_has_no_row():
    few = _crossed().replace('"Female & White",90,18\n', "")
    assert _codes(f"{SEX}\n{few}") == []
    assert _codes(f"{SEX.replace('20', '0')}\n{few.replace('33', '133')}") == [
        FaultCode.PEOPLE_DIFFER
    ]


_SEXES, _RACES = ("Male", "Female"), ("White", "Black", "Hispanic")
_COUNT = st.tuples(st.integers(30, 400), st.integers(1, 99)).map(
    lambda c: (c[0], c[0] * c[1] // 100)
)
_FEW = st.tuples(st.integers(0, 90), st.integers(0, 99)).map(lambda c: (c[0], c[0] * c[1] // 100))
_CELLS = st.fixed_dictionaries(
    {(s, r): _COUNT if s and r else _FEW for s in (*_SEXES, "") for r in (*_RACES, "")}
)


def _crossed_rows(cells, layout):
    """Return the rows of intersections, and their header, in one of the layouts in use."""
    pairs = [((s, r), cells[s, r]) for s in _SEXES for r in _RACES]
    if layout in ("{0} & {1}", "{1} {0}"):
        return [["Group"], *([layout.format(*names), *counts] for names, counts in pairs)]
    if layout == "two columns":
        return [["Sex", "Race"], *([*names, *counts] for names, counts in pairs)]
    if layout == "merged cells":
        first = [(s if r == _RACES[0] else "", r) for (s, r), _ in pairs]
        rows = zip(first, pairs, strict=True)
        return [["Sex", "Race"], *([*names, *counts] for names, (_, counts) in rows)]
    if layout == "headings":
        rows = [["Group"]]
        for sex in _SEXES:
            rows += [[sex, "", ""], *([r, *cells[sex, r]] for r in _RACES)]
        return rows
    nested = [["Hispanic or not", "Sex", "Race"]]  # New York's
    nested += [[("Hispanic", "")[i], s, "", *cells[s, "Hispanic"]] for i, s in enumerate(_SEXES)]
    rest = [pair for pair in pairs if pair[0][1] != "Hispanic"]
    names = [("" if i else "Not Hispanic", s if r == "White" else "", r)
             for i, ((s, r), _) in enumerate(rest)]  # fmt: skip
    return nested + [[*each, *counts] for each, (_, counts) in zip(names, rest, strict=True)]


def _margin_codes(cells, layout, unknown, tail, people=None):
    """Return the errors of tables of sex, of race and of both, unknown people in the former two.

    ``people`` are those of unknown race, which follow from the cells by default.
    """

    def added(pick):
        picked = [counts for names, counts in cells.items() if pick(*names)]
        return [sum(each) for each in zip(*picked, strict=True)]

    def unknown_row(n, selected):
        return [unknown, n, *{"people": [""], "selected": [selected], "rate": [
            selected, f"{100 * selected / n:.1f}%" if n else ""]}[tail]]  # fmt: skip

    of_race = added(lambda _, r: not r)
    if people is not None:
        of_race = [people, min(people, of_race[1])]
    tables = {
        "Sex": [["Sex"], *([s, *added(lambda x, _, s=s: x == s)] for s in _SEXES),
                unknown_row(*added(lambda s, _: not s))],
        "Race": [["Race"], *([r, *added(lambda _, x, r=r: x == r)] for r in _RACES),
                 unknown_row(*of_race)],
        "Both": _crossed_rows(cells, layout),
    }  # fmt: skip
    lines = []
    for name, (head, *rows) in tables.items():
        width = len(head) + 3
        rows = [[*head, "n", "Selected", "Rate"], ["---"] * width, *rows]
        cells_of_rows = ([*map(str, row), *[""] * (width - len(row))] for row in rows)
        lines += [f"## {name}", "", *(f"| {' | '.join(row)} |" for row in cells_of_rows), ""]
    (source,), _ = read_sources("\n".join(lines), {})
    assert [table.unknown for table in source.tables][:2] == [
        sum(cells[""  , r][0] for r in (*_RACES, "")), of_race[0]
    ]  # fmt: skip
    return [str(fault) for found in check_margins(source.tables) for fault in found.faults
            if fault.code is FaultCode.MARGIN_MISMATCH]  # fmt: skip


def test_more_missing_people_than_are_of_unknown_category_are_named():
    sex = "Sex,n,hired\nMale,230,99\nFemale,200,79\nUnknown,0,0\n"
    race = "Race,n,hired\nWhite,180,90\nBlack,160,70\nUnknown,{},\n"
    both = "Sex,Race,n,hired\nMale,White,100,50\nMale,Black,90,40\n"
    both += "Female,White,80,40\nFemale,Black,70,30\n"
    assert _codes(f"{sex}\n{race.format(90)}\n{both}") == []
    (message,) = _messages(f"{sex}\n{race.format(89)}\n{both}")
    assert message == (
        "the number of people of 'Male' and 'Female' together is 430; their rows in the table "
        "'Sex × Race' add up to 340, 89 of unknown category aside; unless that table leaves out 1 "
        "or more others, such as people of unknown category, one of these numbers is wrong"
    )
    (message,) = _messages(f"{sex}\n{race.format(45)}\n{both}")
    assert message == (
        "the number of people is printed as 200; its rows in the table 'Sex × Race' add up to 150, "
        "45 of unknown category aside; unless that table leaves out 5 or more others, such as "
        "people of unknown category, one of these numbers is wrong"
    )


def _messages(text):
    return [fault.message for table in check(text).tables for fault in table.errors]


_RACES_WITH_UNKNOWN_SEX = "Race,n,hired\nWhite,{},793\nBlack,{},357\n"
_UNKNOWN_SEX = {("White", "Male"): (540, 434), ("White", "Female"): (400, 319),
                ("White", "Unknown"): (50, 40), ("Black", "Male"): (290, 203),
                ("Black", "Female"): (200, 140), ("Black", "Unknown"): (20, 14)}  # fmt: skip


@pytest.mark.parametrize("layout", ["{},{}", '"{}, {}"', '"{1} & {0}"'])
@pytest.mark.parametrize("more", [False, True], ids=["", "people of unknown race"])
def test_people_of_unknown_sex_with_a_row_for_each_race_count_in_that_race(layout, more):
    """Ten people too many in one race were taken for people of unknown sex of the other."""
    rows = [f"{layout.format(*of)},{n},{k}\n" for of, (n, k) in _UNKNOWN_SEX.items()]
    if more:
        rows += [f"{layout.format('Unknown', sex)},9,4\n" for sex in ("Male", "Unknown")]
    head = "Race,Sex" if layout == "{},{}" else "Group"
    both = f"{head},n,hired\n{''.join(rows)}"
    assert _codes(f"{_RACES_WITH_UNKNOWN_SEX.format(990, 510)}\n{both}") == []
    white, black = _messages(f"{_RACES_WITH_UNKNOWN_SEX.format(1000, 500)}\n{both}")
    name = "Race × Sex" if layout == "{},{}" else "Group"
    assert white == (
        f"the number of people is printed as 1000; its rows in the table '{name}' add up to 990"
    )
    assert black.endswith(f"is printed as 500; its rows in the table '{name}' add up to 510")
    without = both.replace(f"{layout.format('Black', 'Unknown')},20,14\n", "")
    assert _codes(f"{_RACES_WITH_UNKNOWN_SEX.format(990, 510)}\n{without}") == []


RACE = "Race,Applicants,Selected\nAsian,190,71\nWhite,103,24\nUnknown,{},\n"


def test_all_people_of_two_features_are_held_against_each_other():
    assert _notes(f"{SEX}\n{RACE.format(20)}") == []
    (note,) = _notes(f"{SEX}\n{RACE.format(3020)}")
    assert note.message == (
        "its categories and the people of unknown category are 3,313 people, those of the table "
        "'Sex' 313: if each person is in one category of each, one of them is wrong"
    )
    assert check(f"{SEX}\n{RACE.format(3020)}").errors == 0


@pytest.mark.parametrize(
    "text",
    [
        f"{SEX}\n{RACE.format('')}",
        f"{SEX}\n{RACE.format(3020).replace('103', '<200')}",
        f"{SEX}\n{RACE.format(3020)}\n{SEX.replace('113', '115')}",
    ],
    ids=["no number of unknown people", "a withheld number", "several tables of a feature"],
)
def test_people_of_features_that_are_not_comparable_are_not_compared(text):
    assert _notes(text) == []


def _notes(text):
    faults = [fault for table in check(text).tables for fault in table.faults]
    return [fault for fault in faults if fault.code is FaultCode.TOTALS_DIFFER]
