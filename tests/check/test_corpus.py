"""Tables made after the shapes of published audits: every planted fault is found, and no other.

The categories are those that New York's audits print, the numbers are invented.
"""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from printed_tables import RATE, RATIO, SELECTED, STYLES, N, csv, markdown, printed
from stated_headers import HEADERS_OF, check

from fairgauge_check.check_result import FaultCode
from fairgauge_check.reading import read_sources

SEX = [(("Male",), 1390, 667), (("Female",), 1181, 555)]
RACE = [
    (("Hispanic or Latino",), 395, 172),
    (("White",), 797, 412),
    (("Black or African American",), 390, 170),
    (("Native Hawaiian or Pacific Islander",), 119, 52),
    (("Asian",), 616, 302),
    (("Native American or Alaska Native",), 41, 18),
    (("Two or More Races",), 213, 96),
]
CROSSED = [
    (("Male", "Hispanic or Latino"), 205, 90),
    (("Male", "White"), 412, 215),
    (("Male", "Black or African American"), 226, 95),
    (("Male", "Asian"), 321, 167),
    (("Female", "Hispanic or Latino"), 190, 82),
    (("Female", "White"), 385, 197),
    (("Female", "Black or African American"), 164, 75),
    (("Female", "Asian"), 295, 135),
]
SMALL = [*SEX, (("Nonbinary",), 12, 7)]
AUDITS = {
    "sex": (SEX, ("Gender",)), "race": (RACE, ("Race/Ethnicity Categories",)),
    "crossed": (CROSSED, ("Gender", "Race/Ethnicity")), "small": (SMALL, ("Sex",)),
}  # fmt: skip
OPTIONS = [
    {},
    {"headers": "numbered", "unknown": 250},
    {"headers": "scores", "without": (N, SELECTED)},
    {"headers": "advanced", "places": 4, "unknown": 31},
    {"headers": "scores", "without": (SELECTED,)},
]
STYLED = {
    f"{style}-{name}": STYLES[style](printed(*AUDITS[name], **OPTIONS[i % len(OPTIONS)]))
    for i, (style, name) in enumerate((style, name) for style in STYLES for name in AUDITS)
    if not (style == "semicolons" and "small" in name)
}
TYPED = {
    "excluded": """| Race/Ethnicity | Applicants | Scoring Rate | Impact Ratio |
|---|---:|---:|---:|
| White | 4,120 | 52% | 0.95 |
| Asian | 3,210 | 55% | 1.00 |
| Native American or Alaska Native | 32 | 41% | Excluded (< 2%) |
| Unknown | 610 | | |
""",
    "withheld": """Race,Applicants,Selected,Selection Rate,Impact Ratio
White,797,412,51.7%,1.000
Asian,616,302,49.0%,0.948
Two or More Races,11,4,36.4%,N/A
Native American,<10,<5,suppressed,excluded
Total,1430,720,,
""",
    "reference": """Category,Applicants,Selected,Selection Rate,Impact Ratio,Notes
Female,800,400,0.500,1.000 (reference),
Male,900,405,0.450,0.900,Largest category
""",
    "margins": """Sex,Race,Applicants,Selected,Rate
Male,All,617,305,49.4%
Male,Hispanic or Latino,205,90,43.9%
Male,White,412,215,52.2%
Female,All,575,279,48.5%
Female,Hispanic or Latino,190,82,43.2%
Female,White,385,197,51.2%
Total,,1192,584,49.0%
""",
    "cut off": """Category,Scoring Rate,Impact Ratio
Male,52%,1.00
Female,47%,0.90
""",
}
TYPED |= {
    f"reference as {word!r}": f"""Sex,Applicants,Selected,Selection Rate,Impact Ratio
Male,1000,500,50%,{word}
Female,1000,450,45%,0.90
"""
    for word in (
        "Reference",
        "ref.",
        "(reference group)",
        "Baseline*",
        "1.00 (ref)",
        "N/A",
        "—",
        "",
    )
}
TYPED |= {
    "reference without counts": """Sex,Scoring Rate,Impact Ratio
Male,50%,—
Female,45%,0.90
Nonbinary,40%,0.80
""",
    "words for a rule": """Sex,Applicants,Selected,Ratio,Below 4/5?
Male,1000,500,1.00,no
Female,1000,350,0.70,yes
""",
    "raised marks": """<table>
<tr><th>Sex</th><th>Applicants<sup>*</sup></th><th>Selected</th><th>Ratio</th></tr>
<tr><td>Male<sup>1</sup></td><td>1000</td><td>500<sup>2</sup></td><td>1.00</td></tr>
<tr><td>Female</td><td>900</td><td>405</td><td>0.90<sup>a</sup></td></tr></table>
""",
    "raised marks in Markdown": """| Sex | Applicants | Selected | Ratio |
|---|---|---|---|
| Male<sup>1</sup> | 1000 | 500<sup>2</sup> | 1.00 |
| Female[^a] | 900 | 405[^1] | 0.90 |
""",
    "marked names": """Sex,Applicants,Selected,Ratio
Male*,1000,500,1.00
Female (1),900,405,0.90
""",
    "two tables of commas": """Category,Applicants,Selected
Male,2310,1100
Female,1985,823
By race,,
Category,Applicants,Selected
White,1400,665
Asian,505,220
""",
    "scored": """Sex,Scored,Scoring Rate,Impact Ratio
Male,5000,.55,1.00
Female,4000,.44,.80
Unknown,120,,
""",
}
TYPED["three tables"] = "\n".join(
    markdown(printed(counts, dimensions))
    for counts, dimensions in (
        ([(("Male",), 1164, 567), (("Female",), 1034, 489)], ("Sex",)),
        (CROSSED, ("Sex", "Race")),
    )
)
CLEAN = STYLED | TYPED


def errors(text):
    return [
        (fault.code, fault.row and fault.row[0])
        for table in check(text).tables
        for fault in table.errors
    ]


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_table_has_no_error(name):
    assert errors(CLEAN[name]) == []


@pytest.mark.parametrize("name", [name for name in TYPED if name.startswith("reference as")])
def test_a_ratio_is_held_against_a_reference_without_a_number(name):
    text = CLEAN[name].replace("0.90", "0.70")
    (table,) = check(text).tables
    assert [group.name for group in table.groups] == ["Male", "Female"]
    assert [(fault.code, fault.row[0]) for fault in table.errors] == [(FaultCode.RATIO_MISMATCH, 2)]
    assert table.printed_reference == "Male"


def test_a_word_for_the_reference_in_another_row_than_the_highest():
    text = CLEAN["reference as 'Reference'"].replace("500,50%", "400,40%").replace("0.90", "1.13")
    assert errors(text) == [(FaultCode.REFERENCE_NOT_HIGHEST, 1)]


def test_a_small_category_without_a_ratio_is_not_taken_for_the_reference():
    text = printed(SMALL, ("Sex",)).changed(0, ratio="0.990")
    assert check(csv(text)).tables[0].printed_reference != "Nonbinary"


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("raised marks", [("Male", 1000, 500), ("Female", 900, 405)]),
        ("raised marks in Markdown", [("Male", 1000, 500), ("Female", 900, 405)]),
        ("marked names", [("Male", 1000, 500), ("Female", 900, 405)]),
        ("words for a rule", [("Male", 1000, 500), ("Female", 1000, 350)]),
        ("scored", [("Male", 5000, None), ("Female", 4000, None)]),
    ],
)
def test_the_counts_of_a_shape(name, groups):
    (table,) = check(CLEAN[name]).tables
    assert [(group.name, group.n, group.selected) for group in table.groups] == groups


@pytest.mark.parametrize(
    "header", ["Generation", "Department of Operations", "Impact ratio by sex"]
)
def test_a_header_with_the_letters_of_a_ratio_names_categories(header):
    (table,) = check(f"{header},Applicants,Selected\nX,500,250\nY,400,200\n").tables
    assert [group.name for group in table.groups] == ["X", "Y"]


def test_people_of_unknown_category_are_known_where_people_are_scored():
    assert check(CLEAN["scored"]).tables[0].unknown == 120


def test_marks_stay_where_they_tell_categories_apart():
    text = "Job,Applicants,Selected\nClerk (1),500,250\nClerk (2),400,200\n"
    assert [each.name for each in check(text).tables[0].groups] == ["Clerk (1)", "Clerk (2)"]


def test_a_header_that_stands_again_begins_a_table():
    tables = check(CLEAN["two tables of commas"]).tables
    assert [table.name for table in tables] == ["Category", "By race"]
    assert [len(table.groups) for table in tables] == [2, 2]
    assert [group.name for group in tables[1].groups] == ["White", "Asian"]


def test_an_impossible_rate_is_not_the_highest():
    text = "group,n,hired,ratio\nA,500,250,1\nB,400,160,0.80\nC,100,130,2.6\n"
    assert errors(text) == [(FaultCode.IMPOSSIBLE, 3)]


def test_people_without_a_ratio_are_written_as_in_the_table():
    text = "group,n,hired,ratio\nA,5000,2500,1\nB,4000,1600,N/A\n"
    (fault,) = check(text).tables[0].errors
    assert fault.message == (
        "no impact ratio is printed for 4,000 people, 44.4% of those whose number is printed"
    )


BASE = printed(CROSSED, ("Sex", "Race"), unknown=250)
BEST, THIRD = 1, 2


def ratio(counts, reference):
    return f"{counts[1] / counts[0] / reference:.3f}"


def with_ratios_to(reference):
    audit = BASE
    for row, (_, n, selected) in enumerate(CROSSED):
        audit = audit.changed(row, ratio=ratio((n, selected), reference))
    return audit


TWICE = printed(
    [(("Under 25",), 1210, 607), (("25+",), 807, 391), (("Female",), 913, 452),
     (("Male",), 1104, 546)], ("Group",)
)  # fmt: skip
PLANTED = {
    FaultCode.IMPOSSIBLE: (BASE.changed(THIRD, selected="2,260"), 3),
    FaultCode.RATE_MISMATCH: (BASE.changed(THIRD, rate="44.2%"), 3),
    FaultCode.RATIO_MISMATCH: (BASE.changed(THIRD, ratio="0.866"), 3),
    FaultCode.REPEATED_CATEGORY: (BASE.added(("Male", "White"), n="10", selected="5"), 10),
    FaultCode.SEVERAL_TABLES: (TWICE.added(("Total",), n="2,017", selected="998"), 5),
    FaultCode.TOTAL_MISMATCH: (BASE.added(("Total", ""), n="2,199", selected="1,056"), 10),
    FaultCode.REFERENCE_NOT_HIGHEST: (with_ratios_to(197 / 385), 6),
    FaultCode.RATIO_MISSING: (BASE.changed(THIRD, ratio="N/A"), 3),
    FaultCode.NUMBERS_MISSING: (BASE.changed(THIRD, n="", selected="", rate=""), 3),
    FaultCode.NOT_STATED: (BASE.changed(THIRD, selected="see note"), 3),
    FaultCode.GROUPS_THAT_OVERLAP: (BASE.added(("Male", "Any"), n="617", selected="305"), 10),
    FaultCode.UNKNOWN_NOT_STATED: (printed(CROSSED, ("Sex", "Race")), None),
}
STYLES_OF_FAULTS = ("csv", "markdown", "merged", "html")


@pytest.mark.each_value
@pytest.mark.parametrize("code", PLANTED, ids=str)
@pytest.mark.parametrize("style", STYLES_OF_FAULTS)
def test_every_planted_fault_is_found(code, style):
    audit, row = PLANTED[code]
    (table,) = check(STYLES[style](audit)).tables
    assert (code, row) in [(fault.code, fault.row and fault.row[0]) for fault in table.faults]


def test_a_withheld_category_is_listed_without_numbers():
    (table,) = check(CLEAN["withheld"]).tables
    assert [group.n for group in table.groups] == [797, 616, 11, None]


TEXTS = ("n/a", "*", "<5", "suppressed", "—", "see note", "twelve", "1O5", "[a]", "not reported")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("role", [N, SELECTED, RATE])
def test_text_in_a_column_of_numbers_is_not_stated_and_named(text, role):
    (table,) = check(csv(BASE.changed(THIRD, **{role: text}))).tables
    assert [group.name for group in table.groups] == [" & ".join(names) for names, _, _ in CROSSED]
    (fault,) = [each for each in table.faults if each.code is FaultCode.NOT_STATED]
    assert fault.row == (3, "Male & Black or African American")
    assert (fault["columns"], fault["printed"]) == ((role,), (text,))
    assert f"'{text}'" in fault.message


def test_most_cells_of_a_column_may_be_text():
    (table,) = check("""Race,Applicants,Hired,Rate
White,797,412,51.7%
Asian,616,suppressed,suppressed
Black,390,see note,see note
Hispanic,395,*,<50%
""").tables
    assert dict(table.columns) == {"n": "Applicants", "selected": "Hired", "rate": "Rate"}
    assert [group.selected for group in table.groups] == [412, None, None, None]
    assert [fault.code for fault in table.faults[:3]] == [FaultCode.NOT_STATED] * 3


def test_a_margin_that_is_not_the_sum_of_its_intersections():
    single = printed([(("Male",), 1165, 567), (("Female",), 1034, 489)], ("Sex",))
    text = f"{csv(single)}\n{csv(printed(CROSSED, ('Sex', 'Race')))}"
    assert errors(text) == [(FaultCode.MARGIN_MISMATCH, 1)]


def test_columns_that_are_not_read():
    text = csv(printed(SEX, ("Sex",))).replace("\n", ",7\n").replace("Ratio,7", "Ratio,Weeks open")
    (table,) = check(text).tables
    assert FaultCode.COLUMNS_IGNORED in [fault.code for fault in table.faults]


def test_every_kind_of_fault_is_planted():
    apart = {
        FaultCode.MARGIN_MISMATCH, FaultCode.COLUMNS_IGNORED, FaultCode.HARM_NOT_STATED,
        FaultCode.TOTAL_NOT_CHECKED, FaultCode.RATIOS_NOT_CHECKED, FaultCode.RATES_WITH_COUNTS,
    }  # fmt: skip
    assert set(FaultCode) == set(PLANTED) | apart


def audits():
    """Return random audits of one or two features, each with the highest rate once."""
    names = ("A", "B", "C", "D", "E")
    cell = st.tuples(st.integers(40, 5_000), st.floats(0.05, 0.9))

    def of(rows, races, unknown, headers, places):
        crossed = [(sex, race) for sex in ("Male", "Female") for race in names[:races]]
        features = crossed if len(rows) == 2 * races else [(race,) for race in names[: len(rows)]]
        counts = [
            (name, n, max(1, int(n * share)))
            for name, (n, share) in zip(features, rows, strict=True)
        ]
        dimensions = ("Sex", "Race")[2 - len(features[0]) :]
        return printed(counts, dimensions, unknown=unknown, headers=headers, places=places)

    rows = st.integers(2, 3).flatmap(
        lambda races: st.tuples(
            st.one_of(
                st.lists(cell, min_size=2, max_size=5).filter(lambda r: len(r) != 2 * races),
                st.lists(cell, min_size=2 * races, max_size=2 * races),
            ),
            st.just(races),
        )
    )
    return st.builds(
        lambda pair, *more: of(*pair, *more), rows, st.none() | st.integers(1, 500),
        st.sampled_from(["plain", "numbered", "scores", "advanced"]), st.integers(2, 4),
    )  # fmt: skip


def compared(audit):
    """Return the rows with a ratio other than 1; none where several ratios are printed as 1."""
    ratios = [cells.get(RATIO, "N/A") for _, cells in audit.rows]
    known = {i: float(text) for i, text in enumerate(ratios) if text != "N/A"}
    rows = [i for i, value in known.items() if value != 1]
    return rows if len(rows) == len(known) - 1 else []


@given(audits(), st.sampled_from(sorted(STYLES)))
def test_any_consistent_table_in_any_style_is_clean(audit, style):
    assert errors(STYLES[style](audit)) == []


@given(audits(), st.sampled_from(sorted(STYLES)), st.sampled_from(TEXTS),
       st.data())  # fmt: skip
def test_text_for_a_number_leaves_any_table_readable(audit, style, text, data):
    """All categories stay, whichever number of a table is text."""
    row = data.draw(st.integers(0, len(audit.rows) - 1))
    role = data.draw(st.sampled_from([N, SELECTED]))
    before, after = (
        [(table.dimensions, table.columns, [each.name for each in table.rows])
         for _, tables in read_sources(STYLES[style](each), HEADERS_OF)[0] for table in tables]
        for each in (audit, audit.changed(row, **{role: text}))
    )  # fmt: skip
    assert before == after


WORDS = ["Reference", "ref.", "Baseline*", "N/A", "—", ""]


@given(audits().filter(compared), st.sampled_from(sorted(STYLES)), st.sampled_from(WORDS))
def test_a_word_in_place_of_the_reference_ratio_is_no_error_in_any_style(audit, style, word):
    ratios = [float(cells.get(RATIO, "nan").replace("N/A", "nan")) for _, cells in audit.rows]
    best = ratios.index(1.0)
    (table,) = check(STYLES[style](audit.changed(best, ratio=word))).tables
    assert table.errors == ()
    names = audit.rows[best][0]
    assert all(name in table.printed_reference for name in names)


def planted_in(audit, row, kind):
    """Return an audit with a fault in a row."""
    names, cells = audit.rows[row]
    n, selected = (int(cells[role].replace(",", "")) for role in (N, SELECTED))
    percent = "%" if "%" in cells[RATE] else ""
    shifted = 100 * selected / n + (7 if selected < n / 2 else -7)
    changes = {
        "rate": {RATE: f"{shifted:.1f}{percent}"},
        "ratio": {RATIO: f"{float(cells[RATIO]) * 0.8 - 0.03:.3f}"},
        "n": {N: f"{n + max(50, n // 4):,}"}, "selected": {SELECTED: f"{n + 3:,}"},
        "not whole": {N: f"{n}.5"}, "negative": {SELECTED: f"-{selected}"}, "no ratio": {RATIO: ""},
    }  # fmt: skip
    if kind == "twice":
        return audit.added(names, **cells)
    return audit.changed(row, **changes[kind])


CODES = {
    "rate": FaultCode.RATE_MISMATCH, "ratio": FaultCode.RATIO_MISMATCH,
    "selected": FaultCode.IMPOSSIBLE, "not whole": FaultCode.IMPOSSIBLE,
    "negative": FaultCode.IMPOSSIBLE, "no ratio": FaultCode.RATIO_MISSING,
    "twice": FaultCode.REPEATED_CATEGORY,
}  # fmt: skip
KINDS = ["n", *CODES]


@given(audits().filter(compared), st.sampled_from(KINDS), st.data())
def test_a_fault_of_any_kind_is_found_in_any_table(audit, kind, data):
    row = data.draw(st.sampled_from(compared(audit)))
    people = [int(cells[N].replace(",", "")) for _, cells in audit.rows]
    assume(kind != "no ratio" or people[row] >= 0.02 * sum(people))  # with those of Unknown
    style = data.draw(st.sampled_from(["csv", "markdown", "merged", "html"]))
    found = errors(STYLES[style](planted_in(audit, row, kind)))
    at = (len(audit.rows) if kind == "twice" else row) + 1
    assert at in [number for _, number in found]
    assert kind not in CODES or (CODES[kind], at) in found
