"""Sentences that count people of unknown category stand for the row of these."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.published._unknown_notes import unknown_notes
from fairgauge.results.check import FaultCode

RULE = "selection_rate.ratio >= 0.8"
SEX = [("Male", 1390, 667), ("Female", 818, 385)]
CROSSED = [("Male White", 900, 450), ("Male Black", 460, 205),
           ("Female White", 500, 240), ("Female Black", 253, 125)]  # fmt: skip
WORDINGS = [
    "Data on {} applicants with an unknown sex category was not included in calculations above.",
    "{} applicants of unknown sex are not included.",
    "{} people of unknown category are not included.",
    "Data on {} individuals with an unknown race/ethnicity or sex category were not included",
    "Applicants whose sex is not known ({}) are excluded.",
    "Unknown sex: {} (excluded from the calculations).",
    "{} candidates declined to state their sex and were omitted from the table.",
    "Records of {} candidates with missing gender weren't included.",
    "In 2023, the data of {} applicants with an\nunknown sex category were not\nincluded above.",
    "Of 90,000 applicants, {} have not disclosed their sex and were excluded.",
    "{} individuals chose not to self-identify.",
    "There were {} applicants whose gender (or sex) is unknown.",
    "{} candidates did not provide their gender.",
    "{} applicants did not report their race/ethnicity.",
    "There were {} applicants with missing gender.",
    "Of 90,000 applicants, {} preferred not to answer.",
    "{} applicants (48.6%) did not disclose their sex.",
    "{} job applicants do not wish to state their sex.",
]
STARTS = ["", "Note 2: ", "Note: ", "* ", "1. ", "**Note:** ", "[1] ", "- "]


def _table(rows, style):
    cells = [["Category", "Applicants", "Selected"], *([n, f"{a:,}", f"{b}"] for n, a, b in rows)]
    if style == "markdown":
        cells.insert(1, ["---"] * 3)
        return "".join(f"| {' | '.join(row)} |\n" for row in cells)
    if style == "html":
        body = "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>" for row in cells)
        return f"<table>{body}</table>"
    return "".join(f"{(' ' if style == 'one space' else '   ').join(row)}\n" for row in cells)


def _report(style, wording, start, counts):
    between = "" if style == "one space" else "\n"
    notes = [start + wording.format(f"{each:,}") for each in counts]
    if style == "html":
        notes = [f"<p>{each.replace('Note', '<b>Note</b>')}</p>" for each in notes]
    parts = [_table(rows, style) for rows in (SEX, CROSSED)]
    return "\n\n".join(f"{part}{between}{note}" for part, note in zip(parts, notes, strict=True))


def _codes(text):
    return [fault.code for table in fg.check(text).tables for fault in table.errors]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("style", ["spaces", "one space", "markdown", "html"])
@pytest.mark.parametrize(
    ("wording", "start"), [(each, STARTS[i % len(STARTS)]) for i, each in enumerate(WORDINGS)]
)
def test_a_sentence_that_people_are_not_included_is_held_against_other_tables(
    style, wording, start
):
    found = fg.check(_report(style, wording, start, (1162, 1257)))
    assert [table.unknown for table in found.tables] == [1162, 1257]
    assert found.errors == 0
    assert all(
        fault.code is not FaultCode.UNKNOWN_NOT_STATED
        for table in found.tables
        for fault in table.faults
    )
    assert _codes(_report(style, wording, start, (1162, 1357))) == [FaultCode.PEOPLE_DIFFER]


@given(
    st.integers(0, 3_000_000),
    st.sampled_from(WORDINGS),
    st.sampled_from(STARTS),
    st.sampled_from([",", " ", "'", "\u00a0", "\u202f", ""]),
    st.sampled_from(["", "From January 1, 2023 to 31 December 2023, ", "In Table 3, "]),
)
def test_any_count_in_such_a_sentence_is_read(count, wording, start, separator, before):
    assume(separator or not 1900 <= count < 2100)  # "of 1900" may be a year
    text = f"{start}{before}{wording.format(f'{count:,}'.replace(',', separator))}"
    assume(not re.match(r"(?:[-*] |Notes\n)?[1-9] [0-9]{3}", text))  # 1 may mark a footnote
    (note,) = unknown_notes(text)
    assert note.counts == (count,)


@pytest.mark.parametrize(
    "text",
    [
        "35 applicants who did not complete the assessment were excluded.",
        "12 applicants with missing scores are not included.",
        "Applicants of unknown sex are not included.",
        "12 candidates declined an interview and were excluded.",
        "12 candidates did not provide a résumé.",
        "Table 3 is of applicants of unknown sex.",
        "Data of January 1, 2024 to December 31, 2024, with unknown categories.",
    ],
)
def test_other_sentences_are_none_of_these(text):
    assert unknown_notes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "About 200 applicants of unknown sex are not included.",
        "162 applicants of unknown sex and 95 of unknown race are not included.",
        "7% of applicants have an unknown sex and are not included.",
        "Applicants of unknown sex in 2023 are not included.",
        "Of the 2,470 applicants, those of unknown sex are not included.",
    ],
)
def test_a_sentence_without_a_single_count_is_named_by_its_line(text):
    found = fg.check(f"{_table(SEX, 'spaces')}\n{text}\n")
    (table,) = found.tables
    assert table.unknown is None
    (fault,) = [each for each in table.faults if each.code is FaultCode.UNKNOWN_NOT_STATED]
    assert f"line 5, '{text[:20]}" in fault.message


UNREAD = [
    "About 200 applicants of unknown sex are not included.",
    "7% of applicants have an unknown sex and are not included.",
    "162 applicants did not state their sex and 95 did not state their race.",
    "Of the 2,470 applicants, some did not disclose their sex.",
    "162 applicants of unknown sex are included.",
    "162 applicants of unknown sex were not excluded.",
    "The gender of 12,500 applicants is unknown and 40 had an unknown race.",
    "About 12,500 applicants of unknown sex and 4 of unknown race are not included.",
    "See sections A to C for 40 who are of unknown sex.",
]


@pytest.mark.parametrize("style", ["spaces", "one space", "markdown", "html"])
@pytest.mark.parametrize("text", UNREAD)
def test_nothing_passes_beside_a_number_of_unknown_people_that_is_not_read(style, text):
    between = "" if style == "one space" else "\n"
    note = f"<p>{text}</p>" if style == "html" else text
    found = fg.check(f"{_table(SEX, style)}{between}{note}\n", rules=RULE)
    assert found.tables[0].unknown is None
    assert (found.verdict, found.exit_code) == (Outcome.INCONCLUSIVE, 3)
    (unread,) = found.unread
    assert unread.reason.startswith("line ")
    assert text[:10] in unread.reason
    assert FaultCode.UNKNOWN_NOT_STATED in [fault.code for fault in found.tables[0].faults]


def test_a_failure_stays_beside_a_number_that_is_not_read():
    rows = [("Male", 1390, 667), ("Female", 818, 85)]
    found = fg.check(f"{_table(rows, 'spaces')}\n{UNREAD[0]}\n", rules=RULE)
    assert (found.verdict, found.exit_code) == (Outcome.FAIL, 1)


def test_a_date_beside_unknown_people_is_no_number_of_these():
    text = "Applicants of unknown sex in 2023 are not included."
    assert fg.check(f"{_table(SEX, 'spaces')}\n{text}\n", rules=RULE).unread == ()


def test_rows_of_unknown_people_are_no_sentences():
    rows = [("Gender unknown or not stated", 610, 300), *SEX]
    for style in ("spaces", "one space", "markdown", "html"):
        found = fg.check(f"{_table(SEX, style)}\n{_table(rows, style)}", rules=RULE)
        assert [table.unknown for table in found.tables] == [None, 610]
        assert found.unread == ()


@pytest.mark.parametrize(("suffix", "mark"), [(".csv", ";"), (".txt", "\t"), (".md", "|")])
def test_a_row_of_unknown_people_may_stand_behind_an_empty_line(tmp_path, suffix, mark):
    """It was read in no table, so that it counted as not stated."""
    path = tmp_path / f"table{suffix}"
    lines = [f"Sex{mark}n{mark}Selected", *["---|---|---"] * (suffix == ".md")]
    lines += [mark.join(map(str, row)) for row in SEX]
    path.write_text("\n".join([*lines, "", f"Unknown{mark}250"]) + "\n")
    (table,) = fg.check(path).tables
    assert table.unknown == 250


@pytest.mark.parametrize("start", ["", "Notes\n"])
@pytest.mark.parametrize("mark", ["1 ", "2 "])
def test_the_mark_of_a_footnote_is_no_number(start, mark):
    note = "Data on 162 applicants with an unknown sex category was not included above."
    found = fg.check(f"{_table(SEX, 'one space')}{start}{mark}{note}\n")
    assert found.tables[0].unknown == 162


NOT_DISCLOSED = "2 390 applicants did not disclose their sex."


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (f"1 Self-reported.\n{NOT_DISCLOSED}", (390,)),
        (f"1 Self-reported\n{NOT_DISCLOSED}", (390,)),
        (f"1 Self-reported.\n\n{NOT_DISCLOSED}", (390,)),
        (f"Note 1 Self-reported.\nNote {NOT_DISCLOSED}", (390,)),
        (f"<table><p>1 Self-reported.</p><p>{NOT_DISCLOSED}</p>", (390,)),
        (f"1 Self-reported\n3{NOT_DISCLOSED[1:]}", (390, 3390)),
        (f"1 Male 200 100\n{NOT_DISCLOSED}", (390, 2390)),
        (NOT_DISCLOSED, (390, 2390)),
        (f"In all, {NOT_DISCLOSED}", (2390,)),
        (f"According to the data\n{NOT_DISCLOSED}", (2390,)),
        (NOT_DISCLOSED.replace("2 ", "2\u202f"), (2390,)),
        (NOT_DISCLOSED.replace("2 ", "12 "), (12390,)),
    ],
)
def test_the_mark_of_a_footnote_is_no_thousands(text, counts):
    """Footnote 2 of 390 people was read as one of 2,390."""
    (note,) = unknown_notes(text)
    assert note.counts == counts


def test_no_number_is_read_where_a_digit_may_be_a_mark_or_thousands():
    found = fg.check(f"{_table(SEX, 'spaces')}\n{NOT_DISCLOSED}\n", rules=RULE)
    assert (found.tables[0].unknown, found.exit_code) == (None, 3)
    assert "line 5, '2 390 app" in str(found)
    marked = fg.check(f"{_table(SEX, 'spaces')}\n1 Self-reported.\n{NOT_DISCLOSED}\n")
    assert marked.tables[0].unknown == 390


def test_a_sentence_elsewhere_does_not_drop_the_note_of_a_table():
    found = fg.check(_report("markdown", "{} applicants did not report their sex.", "", (162,) * 2)
                     .replace("162 applicants did not report their sex.", "", 1))  # fmt: skip
    assert [table.unknown for table in found.tables] == [None, 162]
    assert FaultCode.UNKNOWN_NOT_STATED in [fault.code for fault in found.tables[0].faults]


def test_sentences_above_every_table_are_of_the_table_below():
    notes = [f"{n} people of unknown category are not included.\n\n" for n in (162, 257)]
    text = "\n".join(
        note + _table(rows, "spaces") for note, rows in zip(notes, (SEX, CROSSED), strict=True)
    )
    assert [table.unknown for table in fg.check(text).tables] == [162, 257]


def test_the_row_of_a_table_goes_before_a_sentence_beside_it():
    rows = [*SEX, ("Unknown", 162, "")]
    text = f"{_table(rows, 'markdown')}\n162 applicants of unknown sex are not included.\n"
    assert [table.unknown for table in fg.check(text).tables] == [162]


def test_a_total_may_be_of_people_who_are_not_included():
    rows = [*SEX, ("Total", 2208 + 162, 1052)]
    text = f"{_table(rows, 'markdown')}\n162 applicants of unknown sex are not included.\n"
    assert _codes(text) == []
    assert _codes(text.replace("162 app", "161 app")) == [FaultCode.TOTAL_MISMATCH]


def test_sentences_of_csv_and_workbooks(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    note = "Note: Data on 1,162 applicants with an unknown sex category was not included above."
    path = tmp_path / "audit.csv"
    path.write_text(f"Sex,n,hired\nMale,1390,667\nFemale,818,385\n\n{note}\n", encoding="utf-8")
    book = openpyxl.Workbook()
    for row in (["Sex", "n", "hired"], ["Male", 1390, 667], ["Female", 818, 385], [], [note]):
        book.active.append(row)
    book.save(tmp_path / "audit.xlsx")
    for each in (path, tmp_path / "audit.xlsx"):
        assert [table.unknown for table in fg.check(each).tables] == [1162]


def test_more_sentences_than_are_read_are_refused():
    notes = [f"{i} applicants of unknown sex are not included." for i in range(100, 201)]
    with pytest.raises(fg.DataError, match="101 sentences about people who are not included"):
        fg.check("\n".join([_table(SEX, "markdown"), *notes]))


@pytest.mark.parametrize("gap", ["", "\n"])
@pytest.mark.parametrize("behind", ["", ",,", "."])
@pytest.mark.parametrize(
    "note",
    [
        "Gender unknown: {}",
        '"Gender unknown: {}"',
        "Unknown sex = {} people",
        "Gender unknown ({})",
        "Applicants who did not state their sex: {}",
    ],
)
def test_a_sentence_of_csv_is_not_parted_at_the_comma_of_a_number(tmp_path, note, behind, gap):
    if '"' in note and behind == ".":
        behind = ""
    path = tmp_path / "audit.csv"
    rows = "Sex,n,hired\nMale,1390,667\nFemale,1181,655\n"
    path.write_text(f"{rows}{gap}{note.format('12,500')}{behind}\n", encoding="utf-8")
    found = fg.check(path, rules="selection_rate.ratio >= 0.5")
    assert [table.unknown for table in found.tables] == [12_500]
    assert (found.unread, found.exit_code) == ((), 3)


@pytest.mark.parametrize(
    ("words", "errors", "read"),
    [
        ("of whom 42 were selected", 0, True),
        ("42 of whom were hired", 0, True),
        ("of whom 40 were selected", 1, True),
        ("of whom 142 were selected", 2, False),
        ("of whom 42 were interns", 2, False),
        ("of whom 42 were not selected", 2, False),
    ],
)
def test_a_sentence_states_how_many_of_unknown_category_are_selected(words, errors, read):
    """It was not read, and the total that has these people was an error."""
    text = _table([("Male", 1000, 400), ("Female", 900, 342), ("Total", 2025, 784)], "markdown")
    check = fg.check(f"{text}\n125 applicants did not disclose their sex, {words}.\n")
    assert check.errors == errors
    assert check.tables[0].unknown == (125 if read else None)
