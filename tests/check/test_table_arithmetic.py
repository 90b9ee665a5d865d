"""Every kind of fault is found where it was planted, and nothing is found in clean tables."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
from stated_headers import check

from fairgauge.render.page import plain
from fairgauge_check.check_result import FaultCode
from fairgauge_check.check_statements import fault_statement


def in_place(fault):
    """Return a fault with its row."""
    return plain().say("in_place", "text", fault_statement(fault))


HEADER = ["Sex", "Race", "# of applicants", "# selected", "Selection rate", "Impact ratio"]
NEW_YORK = [
    ("Male", "Hispanic or Latino", 205, 90),
    ("Male", "White", 412, 215),
    ("Male", "Black", 226, 95),
    ("Male", "Native Hawaiian", 87, 37),
    ("Male", "Asian", 321, 167),
    ("Male", "Native American", 24, 11),
    ("Male", "Two or more", 115, 52),
    ("Female", "Hispanic or Latino", 190, 82),
    ("Female", "White", 385, 197),
    ("Female", "Black", 164, 75),
    ("Female", "Native Hawaiian", 32, 15),
    ("Female", "Asian", 295, 135),
    ("Female", "Native American", 17, 7),
    ("Female", "Two or more", 98, 44),
]


def clean(counts, *, places=3, percent=True):
    """Return the rows of a table without fault."""
    sizes = sum(row[2] for row in counts)
    best = max(row[3] / row[2] for row in counts if row[2] >= 0.02 * sizes)
    rows = []
    for *names, n, selected in counts:
        rate = selected / n
        shown = f"{100 * rate:.{places - 2}f}%" if percent else f"{rate:.{places}f}"
        rows.append([*names, f"{n:,}", str(selected), shown, f"{rate / best:.{places}f}"])
    return rows


def tables(seed):
    """Return the counts of some random audit of two features."""
    rng = np.random.default_rng(seed)
    n = rng.integers(60, 3000, 8)
    selected = rng.binomial(n, rng.uniform(0.1, 0.7, 8))
    names = [(sex, race) for sex in ("Male", "Female") for race in ("A", "B", "C", "D")]
    return [(*name, int(a), int(b)) for name, a, b in zip(names, n, selected, strict=True)]


def markdown(rows, header=HEADER):
    lines = ["| " + " | ".join(each) + " |" for each in (header, ["---"] * len(header), *rows)]
    return "\n".join(lines) + "\n\n"


def errors(text, **options):
    return [(f.code, f.row and f.row[0]) for t in check(text, **options).tables for f in t.errors]


def notes(text):
    return {f.code for t in check(text).tables for f in t.faults}


@pytest.mark.each_value
@pytest.mark.parametrize("places", [2, 3, 4])
@pytest.mark.parametrize("percent", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_clean_table_has_no_error(seed, percent, places):
    assert errors(markdown(clean(tables(seed), places=places, percent=percent))) == []


def test_new_yorks_own_intersections_are_clean():
    assert errors(markdown(clean(NEW_YORK))) == []


def planted(change, counts=None):
    rows = copy.deepcopy(clean(counts or NEW_YORK))
    change(rows)
    return markdown(rows)


def set_cell(row, column, text):
    def change(rows):
        rows[row][column] = text

    return change


def swap_rates(rows):
    rows[2][4], rows[3][4] = rows[9][4], rows[3][4]
    rows[9][4] = clean(NEW_YORK)[2][4]


def extra_row(*cells):
    def change(rows):
        rows.append(list(cells))

    return change


@pytest.mark.parametrize(
    ("code", "row", "change"),
    [
        (FaultCode.RATE_MISMATCH, 3, set_cell(2, 4, "44.2%")),
        (FaultCode.RATE_OF_OTHER_ROW, 3, swap_rates),
        (FaultCode.MIXED_UNITS, 3, set_cell(2, 4, "0.420%")),
        (FaultCode.RATIO_MISMATCH, 14, set_cell(13, 5, "0.866")),
        (FaultCode.RATIO_INVERTED, 3, set_cell(2, 5, "1.241")),
        (FaultCode.NEGATIVE, 3, set_cell(2, 3, "-95")),
        (FaultCode.NOT_WHOLE, 3, set_cell(2, 2, "226.5")),
        (FaultCode.SELECTED_EXCEEDS_N, 3, set_cell(2, 3, "2260")),
        (FaultCode.REPEATED_CATEGORY, 15, lambda rows: rows.append(list(rows[2]))),
        (FaultCode.SEVERAL_REFERENCES, 9, set_cell(8, 5, "1.000")),
        (FaultCode.RATIO_MISSING, 3, set_cell(2, 5, "n/a")),
        (FaultCode.NUMBERS_MISSING, 3, lambda rows: rows[2].__setitem__(slice(2, 5), [""] * 3)),
        (
            FaultCode.TOTAL_MISMATCH,
            15,
            extra_row("Total", "", "2,571", "1,212", "47.1%", ""),
        ),
        (
            FaultCode.RATIO_OF_UNKNOWN,
            15,
            extra_row("Unknown", "Unknown", "250", "100", "40.0%", "0.767"),
        ),
    ],
)
def test_a_planted_fault_is_found(code, row, change):
    assert (code, row) in errors(planted(change))


@pytest.mark.parametrize("header", ["Impact ratio", "Ratio to overall"])
@pytest.mark.parametrize("total", ["Total,3477,1191,34.3%,1.000", "Total,3477,1191,34.3%,", ""])
def test_ratios_to_the_rate_of_all_have_a_wrong_reference(total, header):
    """All people are no category, whether or not the table has a row of them."""
    text = f"Sex,Applicants,Selected,Rate,{header}\nFemale,1702,520,30.6%,0.892\n"
    found = errors(f"{text}Male,1775,671,37.8%,1.104\n{total}")
    codes = [FaultCode.REFERENCE_NOT_HIGHEST] if "Impact" in header else []
    assert found == [(code, 3 if total else None) for code in codes]


def test_some_ratios_that_agree_with_the_rate_of_all_show_no_reference():
    """All of them would have to."""
    text = "Sex,Applicants,Selected,Rate,Ratio\nFemale,1702,520,30.6%,0.892\n"
    text += "Male,1775,671,37.8%,1.104\nOther,900,308,34.2%,0.7\n"
    assert FaultCode.REFERENCE_NOT_HIGHEST not in [code for code, _ in errors(text)]


def test_a_row_with_another_reference_names_it():
    other = f"{(95 / 226) / (167 / 321):.3f}"
    found = errors(planted(set_cell(2, 5, other)))
    assert found == [(FaultCode.RATIO_OF_ANOTHER_REFERENCE, 3)]


def test_a_reference_below_the_highest_rate_is_an_error():
    rows = clean(NEW_YORK)
    best = 197 / 385
    for row, (*_, n, selected) in zip(rows, NEW_YORK, strict=True):
        row[5] = f"{selected / n / best:.3f}"
    assert errors(markdown(rows)) == [(FaultCode.REFERENCE_NOT_HIGHEST, 9)]


def test_a_small_reference_is_noted_and_no_error():
    counts = [("M", "A", 1000, 400), ("M", "B", 900, 300), ("F", "A", 10, 8), ("F", "B", 800, 200)]
    rows = clean(counts)
    for row, (*_, n, selected) in zip(rows, counts, strict=True):
        row[5] = f"{selected / n / 0.8:.3f}"
    assert errors(markdown(rows)) == []
    assert FaultCode.REFERENCE_IS_SMALL in notes(markdown(rows))


def test_margins_are_held_against_intersections():
    single = [
        ["Male", "1,390", "667", "48.0%", "1.000"],
        ["Female", "1,181", "555", "47.0%", ".979"],
    ]
    text = markdown(single, [HEADER[0], *HEADER[2:]]) + markdown(clean(NEW_YORK))
    assert errors(text) == []
    single[1][1] = "1,200"
    found = errors(markdown(single, [HEADER[0], *HEADER[2:]]) + markdown(clean(NEW_YORK)))
    assert (FaultCode.MARGIN_MISMATCH, 2) in found


def test_a_combination_without_a_row_is_noted():
    text = markdown(clean(NEW_YORK[:-1]))
    assert errors(text) == []
    assert FaultCode.CATEGORY_MISSING in notes(text)


def test_no_reference_and_a_copied_row_are_noted():
    text = planted(set_cell(1, 5, ""))
    assert FaultCode.NO_REFERENCE in notes(text)
    counts = [*NEW_YORK[:-1], ("Female", "Two or more", 226, 95)]
    assert FaultCode.REPEATED_ROW in notes(markdown(clean(counts)))


def test_rates_alone_are_checked_as_far_as_arithmetic_goes():
    header = ["Race", "Scoring rate", "Impact ratio"]
    rows = [["A", "0.860", "1.000"], ["B", "0.762", "0.866"], ["C", "0.5", "0.58"]]
    assert errors(markdown(rows, header)) == [(FaultCode.RATIO_MISMATCH, 2)]
    rows[0][1] = "1.2"
    assert (FaultCode.RATE_OUT_OF_RANGE, 1) in errors(markdown(rows, header))


def test_unknown_people_that_are_not_stated_are_noted():
    assert FaultCode.UNKNOWN_NOT_STATED in notes(markdown(clean(NEW_YORK)))
    unknown = extra_row("Unknown", "Unknown", "250", "", "", "")
    assert FaultCode.UNKNOWN_NOT_STATED not in notes(planted(unknown))


@pytest.mark.parametrize(
    "name", ["Undetermined", "Not answered", "I don\u2019t wish to answer", "Not recorded"]
)
def test_whatever_a_row_of_unknown_people_is_called_it_is_no_category(name):
    unknown = extra_row(name, name, "250", "", "", "")
    assert FaultCode.UNKNOWN_NOT_STATED not in notes(planted(unknown))


def test_an_answer_beside_people_of_unknown_category_is_a_category_and_no_reference():
    text = "Sex  Applicants  Selected  Rate  Ratio\nFemale  400  120  30%  0.75\n"
    text += "Male  400  160  40%  1.00\nDecline to answer  200  100  50%  1.25\n"
    assert errors(text) == [(FaultCode.RATIO_OF_UNKNOWN, 3)]
    (table,) = check(f"{text}Unknown  50  -  -  -\n", rules="selection_rate.ratio >= 0.5").tables
    assert (table.errors, table.unknown, table.reference) == ((), 50, "Male")
    assert [group.name for group in table.groups] == ["Female", "Male", "Decline to answer"]
    assert all(low <= group.ratio <= high for group in table.groups if not group.is_reference
               for low, high in [group.possible])  # fmt: skip


def test_a_total_with_or_without_the_unknown_is_right():
    for n, selected in ((2571, 1222), (2821, 1222)):
        rows = clean(NEW_YORK)
        rows.append(["Unknown", "", "250", "", "", ""])
        rows.append(["Total", "", f"{n:,}", str(selected), "", ""])
        assert errors(markdown(rows)) == []


def test_a_tie_for_the_highest_rate_has_two_ratios_of_one():
    header = ["Sex", "Applicants", "Selected", "Rate", "Impact Ratio"]
    rows = [["Male", "200", "100", "50.0%", "1.00"], ["Female", "100", "50", "50.0%", "1.00"]]
    assert errors(markdown(rows, header)) == []


def test_a_column_of_ratios_without_any_is_no_category():
    header = ["Sex", "Applicants", "Selected", "Rate", "Impact Ratio"]
    for blank in ("N/A", ""):
        rows = [["Male", "100", "40", "40%", blank], ["Female", "50", "15", "30%", blank]]
        (table,) = check(markdown(rows, header)).tables
        assert table.name == "Sex"
        assert [group.n for group in table.groups] == [100, 50]
        assert table.unknown is None


def test_tables_below_one_header_are_checked_one_by_one():
    text = """Category,Applicants,Selected,Rate,Impact Ratio
Sex,,,,
Male,1679,745,44.4%,1.00
Female,1156,465,40.2%,0.91
Race,,,,
White,1374,616,44.8%,1.00
Black,549,182,33.2%,0.74
"""
    found = check(text)
    assert [table.name for table in found.tables] == ["Sex", "Race"]
    assert found.errors == 0


@pytest.mark.parametrize(("printed", "wrong"), [("0.91", False), ("0.92", False), ("0.93", True)])
def test_rates_that_are_both_rounded_or_both_cut_off(printed, wrong):
    header = ["Category", "Scoring Rate", "Impact Ratio"]
    rows = [["Male", "52%", "1.00"], ["Female", "47%", printed]]
    assert bool(errors(markdown(rows, header))) is wrong


def test_columns_that_are_not_read_are_named():
    header = ["Race", "Men", "Men hired", "Women", "Women hired"]
    rows = [["A", "100", "50", "90", "40"], ["B", "80", "30", "70", "30"]]
    (table,) = check(markdown(rows, header), columns={"n": "Men", "selected": "Men hired"}).tables
    assert FaultCode.COLUMNS_IGNORED in {fault.code for fault in table.faults}


def test_errors_stand_in_the_order_of_the_rows():
    def change(rows):
        rows[9][4], rows[2][5], rows[5][3] = "1%", "9.0", "9999"

    found = [row for _, row in errors(planted(change)) if row]
    assert found == sorted(found)


def test_the_ratio_of_the_reference_itself_is_checked():
    """No ratio is 1: the reference is the category with which most ratios compare."""
    assert errors(planted(set_cell(1, 5, "1.050"))) == [(FaultCode.RATIO_MISMATCH, 2)]


def test_a_table_of_other_categories_is_no_margin_of_the_intersections():
    by_age = [["under 40", "999", "400", "40.0%", "1.000"], ["40 or over", "9", "3", "33.3%", ""]]
    text = markdown(by_age, ["Age", *HEADER[2:]]) + markdown(clean(NEW_YORK))
    assert FaultCode.MARGIN_MISMATCH not in {code for code, _ in errors(text)}


def test_a_sum_of_which_a_part_is_not_printed_is_not_held_against_the_margin():
    rows = [["Male", "600", "300", "50.0%", "1.000"], ["Female", "500", "200", "40.0%", "0.800"]]
    single = markdown(rows, ["Sex", *HEADER[2:]])
    parts = [("Male", "A", 300, 150), ("Male", "B", 300, 150), ("Female", "A", 399, 150)]
    parts.append(("Female", "B", 100, 50))
    whole, withheld = clean(parts), clean(parts)
    withheld[2][2:] = ["", "", "", ""]
    assert (FaultCode.MARGIN_MISMATCH, 2) in errors(single + markdown(whole))
    assert (FaultCode.MARGIN_MISMATCH, 2) not in errors(single + markdown(withheld))


def test_a_ratio_of_a_printed_rate_to_a_rate_of_counts_is_checked():
    def table(ratio):
        return f"Sex,n,hired,rate,ratio\nMale,200,100,50.0%,1.000\nFemale,,,40.0%,{ratio}\n"

    assert FaultCode.RATIO_MISMATCH not in {code for code, _ in errors(table("0.800"))}
    assert (FaultCode.RATIO_MISMATCH, 2) in errors(table("0.850"))


def test_a_ratio_to_a_reference_that_nobody_was_selected_of_is_not_checked():
    text = "Sex,n,hired,ratio\nMale,200,0,1.00\nFemale,100,0,0.70\n"
    assert FaultCode.RATIO_MISMATCH not in {code for code, _ in errors(text)}


@pytest.mark.parametrize("chosen", ["White Men", "White Women", "White Joint"])
@pytest.mark.parametrize("seed", range(3))
def test_a_table_with_groups_near_the_reference_has_no_error(chosen, seed):
    """A row that a word names as reference was passed over for one whose ratio rounds to 1."""
    counts = {"White Men": (2370, 1845), "White Women": (1680, 1308), "White Joint": (1758, 1368)}
    rng = np.random.default_rng(seed)
    for i, n in enumerate((492, 3, 800)):
        counts[f"Group {i}"] = (n, int(rng.binomial(n, 0.7)))
    n, selected = counts[chosen]
    rows = [
        [name, str(a), str(b), f"{100 * b / a:.1f}%",
         "reference" if name == chosen else f"{b / a / (selected / n):.3f}"]
        for name, (a, b) in counts.items()
    ]  # fmt: skip
    header = ["Group", "n", "selected", "selection rate", "AIR"]
    assert errors(markdown(rows, header)) == []
    ones = [[*row[:-1], row[-1].replace("reference", "1.000")] for row in rows]
    assert errors(markdown(ones, header), reference=chosen) == []
    assert check(markdown(ones, header), reference=chosen).tables[0].printed_reference == chosen


def test_of_two_ratios_of_1_the_one_is_the_reference_that_the_others_compare_with():
    rows = [["A", "6382", "4978", "1.00"], ["B", "1000", "783", "1.00"]]
    rows += [[f"C{i}", "1000", str(600 + i), f"{(600 + i) / 780.0065:.3f}"] for i in range(5)]
    (table,) = check(markdown(rows, ["Group", "n", "selected", "AIR"])).tables
    assert table.printed_reference == "A"
    assert not table.errors


DENIALS = [["White", "6,382", "1,404", "22.0%", "1.00"], ["Black", "1,309", "410", "31.3%", "1.42"]]
DENIALS += [["Asian", "718", "135", "18.8%", "0.85"]]


def test_a_table_of_denials_is_checked_as_one_of_selections():
    """It was not read, or only with its numbers of denied people taken for selected ones."""
    header = ["Race", "Applications", "Denied", "Denial rate", "Denial ratio"]
    found = check(markdown(DENIALS, header))
    assert (found.errors, found.numbers_checked) == (0, 5)
    (table,) = found.tables
    assert table.reference == "Asian"
    lowest = min(table.groups, key=lambda group: group.ratio)
    assert (lowest.name, lowest.ratio) == ("Black", pytest.approx((899 / 1309) / (583 / 718)))
    wrong = [DENIALS[0], [*DENIALS[1][:3], "33.3%", "1.42"], DENIALS[2]]
    assert errors(markdown(wrong, header)) == [(FaultCode.RATE_MISMATCH, 2)]
    rates = [[name, n, rate] for name, n, _, rate, _ in DENIALS]
    (table,) = check(markdown(rates, ["Race", "Applications", "Denial rate"])).tables
    assert [g.ratio for g in table.groups][1] == pytest.approx(0.846, abs=0.001)
    both = [[name, n, str(int(n.replace(",", "")) - int(denied.replace(",", ""))), denied, rate]
            for name, n, denied, rate, _ in wrong]  # fmt: skip
    header = ["Race", "Applications", "Approved", "Denied", "Denial rate"]
    found = check(markdown(both, header))
    (fault,) = found.tables[0].errors
    said = in_place(fault)
    assert "the denial rate is printed as 33.3%; 410 of 1,309 is 31.32%" in said
    without_n = [[row[0], *row[2:]] for row in both]
    (table,) = check(markdown(without_n, [header[0], *header[2:]])).tables
    assert [group.n for group in table.groups] == [6382, 1309, 718]
    assert [fault.code for fault in table.errors] == [FaultCode.RATE_MISMATCH]


OF_DENIALS = """Race,Applications,Denied,Denial rate,{}
White,7958,1031,13.0%,1.00
Black or African American,2002,428,21.4%,{}
Asian,914,118,12.9%,1.00
"""


@pytest.mark.parametrize("rules", [None, "selection_rate.ratio >= 0.8"])
@pytest.mark.parametrize("columns", ["whole", "no rates", "no counts", "approvals"])
def test_a_wrong_ratio_of_denial_rates_is_an_error(rules, columns):
    """It was not read, and every other number was right: exit code 0."""

    def table(ratio):
        text = OF_DENIALS.format("Denial ratio", ratio)
        if columns == "no rates":
            return re.sub(r",(Denial rate|[\d.]+%)(?=,)", "", text)
        if columns == "no counts":
            return re.sub(r"(?m)^([^,]*),[^,]*,[^,]*", r"\1", text)
        if columns == "approvals":
            text = text.replace("Denied", "Approved").replace(",1031,13.0%", ",6927,87.0%")
            text = text.replace(",428,21.4%", ",1574,78.6%").replace(",118,12.9%", ",796,87.1%")
            return text.replace(",Denial rate,", ",Approval rate,")
        return text

    right = check(table("1.65"), rules=rules)
    undecided = 3 if rules and columns == "no counts" else 0
    assert (right.errors, right.ratios_not_checked, right.exit_code) == (0, 0, undecided)
    wrong = check(table("1.15"), rules=rules)
    (error,) = wrong.tables[0].errors
    assert (error.code, error.row[0]) == (FaultCode.RATIO_MISMATCH, 2)
    assert "the denial ratio is printed as 1.15; compared with 'White' it is 1.6" in error.message
    assert (wrong.exit_code, type(wrong).from_dict(wrong.to_dict())) == (1, wrong)


def test_denial_ratios_that_cannot_be_checked_are_named_and_nothing_passes_beside_them():
    text = OF_DENIALS.format("Denial ratio", "1.73").replace("1.00", "1.05")
    found = check(text, rules="selection_rate.ratio >= 0.8")
    assert (found.errors, found.ratios_not_checked, found.exit_code) == (0, 3, 3)
    assert "3 denial ratios were not checked" in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("n", "rate", "wrong"), [(30, "16.7%", 1), (30, "13.3%", 0), (25, "8%", 0)]
)
def test_a_withheld_count_that_its_rate_contradicts_is_an_error(n, rate, wrong):
    """It was computed and noted as one that can be, though "<5" is at most 4."""
    rows = [["A", "200", "80", "40.0%"], ["B", str(n), "<5", rate]]
    found = errors(markdown(rows, ["Group", "n", "selected", "selection rate"]))
    assert found == [(FaultCode.RATE_MISMATCH, 2)] * wrong


def test_a_rate_on_the_half_is_stated_with_the_digit_that_decides():
    rows = [["A", "2581", "1222", "47.4%"], ["B", "100", "40", "40.0%"]]
    (table,) = check(markdown(rows, ["Group", "n", "selected", "selection rate"])).tables
    (fault,) = table.errors
    assert "1222 of 2581 is 47.346%" in in_place(fault)


@pytest.mark.parametrize("selected", [47, -3])
@pytest.mark.parametrize("rule", [None, "selection_rate.ratio >= 0.8"])
def test_impossible_people_of_unknown_category_have_no_range_of_ratios(selected, rule):
    text = "Sex,Applicants,Hired,Rate,Ratio\nMale,500,150,30.0%,1.000\n"
    text += f"Female,450,117,26.0%,0.867\nUnknown,38,{selected},,\n"
    found = check(text, rules=rule)
    assert found.errors >= 1
    assert found.exit_code == 1
    assert [group.possible for group in found.tables[0].groups] == [None, None]
    assert "Whatever is not printed" not in str(found)


@pytest.mark.parametrize(
    ("n", "behind"), [("960", "; 2 wrong impact ratios compare with this row"), ("691", "")]
)
def test_ratios_to_a_row_of_one_wrong_number_are_counted_with_it(n, behind):
    text = "race,n,hired,rate,ratio\nA,{},248,35.94%,1.000\nB,845,252,29.82%,0.830\n"
    text += "C,1088,342,31.43%,0.875\n"
    (table,) = check(text.format(n)).tables
    assert table.errors[0].code is FaultCode.RATE_MISMATCH
    assert re.fullmatch(rf".* is [0-9.]+%{re.escape(behind)}", table.errors[0].message)


@pytest.mark.parametrize("rate", ["", "-", "—"])
@pytest.mark.parametrize(
    "form", ["{0},{1},{2},{3}\n", "| {0} | {1} | {2} | {3} |\n", "html", "text"]
)
def test_nobody_has_no_rate_and_of_people_one_is_missing(form, rate):
    """0 of 0 is no number, so that none is missing; the rate of 9 people is one."""
    form = {
        "html": "<tr><td>{0}</td><td>{1}</td><td>{2}</td><td>{3}</td></tr>\n",
        "text": "{0:10}  {1:10}  {2:10}  {3:10}\n",
    }.get(form, form)
    rows = [("sex", "applicants", "hired", "rate"), ("F", "80", "40", "50.0%")]
    rule = [("---",) * 4] if form.startswith("|") else []

    def missing(*people):
        text = "".join(
            form.format(*row)
            for row in [rows[0], *rule, rows[1], ("M", "50", "20", "40.0%"), ("X", *people, rate)]
        )
        (table,) = check(f"<table>{text}</table>" if form.startswith("<") else text).tables
        return [str(fault.code) for fault in table.faults if fault.row == (3, "X")]

    assert missing("0", "0") == []
    assert "numbers_missing" in missing("9", rate)
    assert "selected_exceeds_n" in missing("0", "3")
