"""Mistakes that no check finds are named, with their rows, by what every result shows."""

import re

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import CountedAs
from fairgauge.render.formats import render

RULE = "selection_rate.ratio >= 0.5"
N = 3_000


def table(**columns: dict[object, int]) -> pl.DataFrame:
    """Return rows in which the values of each column have so many rows, the last one the others."""
    rng = np.random.default_rng(95)
    rows: dict[str, list[object]] = {"sex": ["F", "M"] * (N // 2)}
    for name, sizes in columns.items():
        *named, last = sizes
        values = [value for value in named for _ in range(sizes[value])]
        values += [last] * (N - len(values))
        rows[name] = [values[i] for i in rng.permutation(N).tolist()]
    return pl.DataFrame(rows, strict=False)


def ended(*others: object, yes: str = "Approved", no: str = "Denied", rows: int = 120, **asked):
    """Return rows that ended so, and what is asked of them."""
    sizes = {no: 700, **dict.fromkeys(others, rows), yes: 0}
    return table(end=sizes), {"prediction": "end", "positive": yes, "sensitive": "sex"} | asked


def grouped(sizes: dict[object, int], **columns: dict[object, int]):
    """Return decisions by groups of such sizes, and what is asked of them."""
    rows = table(**{"p": {"no": 900, "yes": 0}, "group": sizes, **columns})
    return rows, {"prediction": "p", "positive": "yes", "sensitive": "group"}


ENDED = ["Counteroffer", "Postponed", "Part-funded", "NTU", "Accepted", "Booked", "Hierd",
         "Force-placed", "Tabled", "Conditional", "No callback number", "Lapsed"]  # fmt: skip
OPEN = {"sex": ["F"] * 1_500 + ["M"] * 1_500,
        "end": ["Denied"] * 300 + ["Unresolved"] * 300 + ["Approved"] * 900
        + ["Denied"] * 500 + ["Approved"] * 1_000}  # fmt: skip
MISTAKES = {
    **{word: (ended(word), word, 120, "Counted as not") for word in ENDED},
    "a denial among approvals": (
        ended("Denied - appeal", positive=["Approved", "Denied - appeal"]),
        "Denied - appeal", 120, "Counted as"),
    "a harm in a trade's word, both outcomes stated": (
        ended(yes="SIU Referral", no="Clear", negative="Clear"), "SIU Referral", 2_300, None),
    "a misspelt value of the other outcome": (
        ended(negative=["Denied", "Deneid"]), "Deneid", 0, "Counted as not"),
    "what is neither outcome": (
        ended("Rate lock", negative="Denied"), "Rate lock", 120, "Counted as undecided"),
    "refusals filed as open, of one group": (
        (pl.DataFrame(OPEN), {"prediction": "end", "positive": "Approved", "sensitive": "sex",
                              "where": "end != Unresolved"}), "Unresolved", 300, "Excluded"),
    "refusals that a condition leaves out": (
        ended("Declined", where="end = Approved or Denied"), "Declined", 120, "Excluded"),
    "another word of a condition": (
        (table(end={"Denied": 700, "Approved": 0}, job={"FT": 400, "PT": 600, "Full-time": 0}),
         ended()[1] | {"where": "job = Full-time"}), "FT", 400, "Excluded"),
    "999 as an outcome": (
        (table(end={0: 700, 999: 120, 1: 0}), {"prediction": "end", "positive": 1, "negative": 0,
                                              "sensitive": "sex"}), "999", 120, "Counted as und"),
    "two names of one group": (
        grouped({"White": 900, "Caucasian": 600, "Black": 0}), "Caucasian", 600, None),
    "an initial and a name": (grouped({"F": 400, "Female": 900, "Male": 0}), "F", 400, None),
    "a code of a survey": (grouped({1: 900, 7: 200, 2: 0}), "7", 200, None),
    "a value that a recoding leaves": (
        (lambda rows, asked: (rows, asked | {"recode": {"group": {"Black": ["Afro-American"]}}}))(
            *grouped({"White": 900, "Afro-American": 600, "African": 300, "Black": 0})),
        "African", 300, None),
    "a stratum that is none": (
        (lambda rows, asked: (rows, asked | {"strata": "branch"}))(
            *grouped({"x": 1_500, "y": 0}, branch={"N/A": 300, "north": 900, "south": 0})),
        "N/A", 300, None),
    "a class that is a code": (
        (table(end={"a": 900, "b": 900, "zz": 200, "c": 0}),
         {"prediction": "end", "label": "end", "task": "multiclass", "sensitive": "sex",
          "accept": "prediction_is_label:end"}), "zz", 200, None),
}  # fmt: skip
"""By mistake the rows and what is asked; the value, its rows, and how the first page begins."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_that_no_check_finds_is_named_with_its_rows(mistake):
    (rows, asked), value, n, begins = MISTAKES[mistake]
    rules = {} if asked.get("task") else {"rules": RULE}
    report = fg.audit(rows, **asked, **rules)
    doubts = [str(each.code) for each in report.doubts if not each.accepted]
    assert doubts == []
    page, html = render(report, "text"), render(report, "html")
    if begins is not None:
        (line,) = re.findall(rf"^  {begins}[^.]*\b{value} \(?{n}\b", page, re.MULTILINE)
        assert line
    body = html[html.index("How each value was counted") :]
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in body.split("<tr")]
    texts = [[re.sub("<[^>]+>", "", each) for each in row] for row in cells]
    assert [row for row in texts if value in row and f"{n:,}" in row]


def test_what_is_neither_outcome_is_not_called_missing_nor_are_further_rows_of_a_person():
    rows, asked = ended("Rate lock", rows=200)
    with pytest.raises(fg.SpecError, match="it holds 'Approved', 'Denied', 'Rate lock'"):
        fg.audit(rows, **asked | {"positive": None, "negative": "Denied"})
    page = render(fg.audit(rows[:-20], **asked, negative="Denied"), "text")
    assert "have no prediction, or one stated as neither outcome" in page.replace("\n", " ")
    assert "record end where missing" not in page
    report = fg.audit(rows, **asked, negative=["Deneid", "Rate lock"], rules=RULE)
    assert "no row has 'Deneid', and 700 rows have 'Denied'" in " ".join(
        map(str, report.diagnostics)
    )
    assert [each.code for each in report.doubts] == ["misspelt"]
    people = fg.audit(rows.with_columns(who=pl.int_range(N) // 4 * 2 + pl.int_range(N) % 2),
                      **asked, person="who", per_person="any")  # fmt: skip
    assert {(e.role, e.rows) for e in people.counted if e.as_ == "further"} == {
        ("prediction", 1_500), ("sensitive", 1_500)}  # fmt: skip


def test_of_people_recoded_values_are_named_and_no_empty_band_is():
    rows = {
        "who": [*range(300), *range(60)],
        "end": ["hired", "rejected", "withdrawn"] * 100 + ["hired", "withdrawn", "rejected"] * 20,
        "sex": [*["F", "M", "M"] * 100, *["F", "M", "?"] * 20], "age": [*range(20, 65)] * 8,
    }  # fmt: skip
    report = fg.audit(
        rows, prediction="end", positive="hired", person="who",
        sensitive=["sex", fg.cut("age", 40)],
        recode={"end": {"unknown": ["withdrawn"]}, "sex": {"unknown": ["?"]}},
        words={"positive": "selected", "negative": "not selected"},
    )  # fmt: skip
    named = [(each.column, each.value) for each in report.counted if each.as_ == "missing"]
    assert {("end", "withdrawn"), ("sex", "?")} <= set(named)
    assert all(each.rows for each in report.counted if each.column == "age")
    (people,) = (each for each in report.diagnostics if each.code == "people")
    assert people["undecided"] == 40  # rejected once, and once withdrawn
    assert "40 people without it, of whom a decision is unknown, count as not positive" in str(
        people
    )
    page = render(report, "html")
    assert "Counted as missing (end): withdrawn." in re.sub("<[^>]+>", "", page)
    assert "never selected" in page
    assert "not selected every time" not in page
    german = render(report, "text", lang="de")
    assert "300 Personen" in german
    assert "people" not in " ".join(german.splitlines()[:5])


TRADES = """
triage|level|Immediate|Delayed|ward|A1|B2|C3
ferry|boarding|Boarded|Left behind|class|deck|cabin
orchard|grading|Extra|Class I|Class II|picker|crew 1|crew 2
theatre|casting|Cast|Understudy|Not cast|school|RADA|LAMDA|Guildhall
parole|hearing|Released|Deferred|Revoked|district|North|East|South
vet|outcome|Recovered|Euthanised|Chronic|species|dog|cat|horse
kiln|firing|Sound|Cracked|Warped|shift|early|late|night
radio|playlist|A list|B list|Not played|label|major|indie
mining|inspection|Clean|Cautioned|site|pit 1|pit 2|pit 3
lottery|draw|Drawn|Not drawn|region|Nord|Sud|Ovest
football|trial|Signed|Released|Loaned|academy|U16|U18|U21
wine|panel|Gold|Silver|Bronze|country|Chile|Spain|Italy
library|reservation|Collected|Returned to shelf|branch|Main|Hill|Dock
allotment|plot|Offered|Still waiting|estate|Elm|Oak|Ash
apnoea|scan|Severe|Mild|Moderate|device|X-1|X-2
translation|sample|Publishable|Needs edits|language|Thai|Urdu|Zulu
fishery|quota|Allocated|Not allocated|port|Hull|Brest|Vigo
organ|match|Transplanted|On the list|blood|0|A|B|AB
tender|bid|Won|Lost|firm size|small|medium|large
visa|ruling|Issued|Returned|post|Lima|Accra|Hanoi
bees|colony|Alive|Dead|hive|Langstroth|Warre
chess|norm|Achieved|Missed|federation|ARM|IND|NOR
kennel|adoption|Rehomed|Kept|size|small|large
flood|claim|Settled|Contested|zone|Z1|Z2|Z3
school|place|First choice|Other choice|catchment|in|out
pension|request|Paid out|Rolled over|plan|gold|blue
seed|germination|Sprouted|Dormant|lot|L17|L18|L19
bus|punctuality|On time|Early|Late|depot|Perry|Acocks
court|plea|Guilty|Not guilty|bench|1|2|3
gym|renewal|Renewed|Left|tier|basic|plus
museum|loan of a work|Lent|Withheld|period|modern|antique
water|sample|Potable|Not potable|source|well|river|spring
cinema|certificate|U|PG|15|18|studio|one|two
farm|subsidy|Full|Reduced|holding|hill|lowland
fire|alarm|Genuine|False|station|red|green|blue
prison|category|B|C|D|wing|east|west
dialysis|access|Fistula|Catheter|unit|Leeds|York
archive|request|Opened|Closed|decade|1950s|1960s|1970s
dance|audition|Callback|Cut|height|tall|short
nursery|waiting|Placed|Waiting|siblings|yes|no
hotel|upgrade|Suite|Standard|member|silver|gold
patent|examination|Granted|Abandoned|office|EPO|JPO
taxi|dispatch|Matched|Unmatched|borough|Camden|Hackney
surgery|list|Urgent|Routine|specialty|ENT|ortho
recall|repair|Repaired|Replaced|Scrapped|plant|K|M
bakery|batch|Sold|Donated|Binned|oven|1|2
choir|voice|Soprano|Alto|Tenor|Bass|parish|St Mary|St Paul
blood|donation|Accepted|Deferred for iron|centre|West|City
customs|check|Green lane|Red lane|origin|EU|non-EU
moderation|post|Kept|Restored|Removed|language|es|pt|fr
translation memory|segment|Exact|Fuzzy|client|A|B
ski|pass|Valid|Blocked|valley|Inn|Ziller
drone|landing|Soft|Hard|model|M1|M2
maternity|birth|Vaginal|Caesarean|midwife|team 1|team 2
reading|level|Above|At|Below|school year|3|4|5
milk|quality|Grade 1|Grade 2|breed|Jersey|Holstein
bridge|rating|Sound|Monitor|Close|county|Kent|Devon
call centre|ending|Solved|Passed on|skill|billing|tech
jury|summons|Served|Excused|ward|1|2|3|4
lab|assay|Reactive|Nonreactive|plate|P1|P2
"""


def test_300_clean_tables_of_other_trades_have_one_doubt_at_most():
    doubted = {}
    trades = [line.split("|") for line in TRADES.strip().splitlines()]
    for i in range(300):
        trade, column, *names = trades[i % len(trades)]
        rng = np.random.default_rng(i)
        at = next(k for k, name in enumerate(names) if name == name.lower() and k > 1)
        ends, feature, groups = names[:at], names[at], names[at + 1 :]
        n = int(rng.choice([300, 2_000, 9_000]))
        shares = rng.dirichlet(np.full(len(ends), 8.0))
        rows = pl.DataFrame({
            column: rng.choice(ends, n, p=shares), feature: rng.choice(groups, n),
            "year": rng.integers(2015, 2026, n), "amount": rng.gamma(3, 400, n).round(2),
        })  # fmt: skip
        asked = {"prediction": column, "positive": ends[0], "negative": ends[1:],
                 "sensitive": feature, "rules": "selection_rate.ratio >= 0.5"}  # fmt: skip
        found = [str(each.code) for each in fg.audit(rows, **asked).doubts]
        if found:
            doubted[trade, i] = found
    assert len(doubted) <= 1, doubted


@pytest.mark.parametrize("state", [*map(str, CountedAs)])
def test_a_group_that_is_called_as_what_values_without_one_are_counted_as_is_a_group(state):
    rows, asked = grouped({state: 300, "n/k": 200, "M": 0})
    report = fg.audit(rows, **asked, recode={"group": {state: ["n/k"]}})
    held = {each.value: each.as_ for each in report.counted if each.column == "group"}
    assert held["n/k"] == held[state] == f"“{state}”"
    page = render(report, "text")
    assert f"Counted as “{state}” (group): {state} 300, n/k 200" in page.replace("\n    ", " ")


def test_numbers_may_be_the_count_of_their_own_rows():
    rows = {"sex": ["F", "M"] * 40, "cases": [*range(20, 100)]}
    report = fg.audit(rows, label="cases", count="cases", sensitive="sex",
                      task="regression", favourable="higher")  # fmt: skip
    assert report.data.cases == sum(rows["cases"])


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_a_score_is_shown_as_a_decision_only_at_a_threshold_that_was_stated(threshold):
    rows = table(y={0: 1_500, 1: 0}, score={0.25: 900, 0.75: 0})
    asked = {} if threshold is None else {"threshold": threshold}
    found = fg.audit(rows, label="y", positive=1, score="score", sensitive="sex", **asked).counted
    counted_as = {each.as_ for each in found if each.column == "score"}
    assert counted_as == ({"number"} if threshold is None else {"positive", "negative"})
