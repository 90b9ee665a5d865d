"""`counted` adds up to all rows, and agrees with a plain group-by over them, from every source."""

from collections import Counter
from typing import Any

import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg

OUTCOMES = [
    "Originated", "Approved", "Denied", "Counteroffer", "Withdrawn", "Incomplete", "Purchased",
    "Rescinded", "Lapsed", "Hold", "Void", "Returned",
]  # fmt: skip
RECODED = {"Caucasian": "White", "Afro-American": "Black", "refused": None}
Rows = dict[str, list[Any]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Rows, dict[str, Any]]:
    """Draw rows, and a question that recodes, cuts, unites, chooses, weighs and counts some."""
    outcomes = OUTCOMES[: draw(st.integers(2, 12))]
    columns = {
        "end": [*outcomes, None], "race": ["White", "Black", "Asian", "NA", *RECODED, None],
        "age": [18, 35, 41, 67], "where": ["north", "south", "east", None], "n": [1, 2, 5, None],
        "w": [0.5, 2.0, 0.0, None], "branch": ["x", "y", None],
    }  # fmt: skip
    size = draw(st.integers(30, 80))
    rng = draw(st.randoms(use_true_random=False))
    rows = {name: rng.choices(values, k=size) for name, values in columns.items()}
    rows = {name: [*map(columns[name].__getitem__, range(2)), *of] for name, of in rows.items()}
    race: Any = "race"
    if draw(st.booleans()):
        race = {"column": "race", "values": [["White"], ["Black", "Asian"]]}
    asked: dict[str, Any] = {"label": "end", "positive": "Originated", "sensitive": [race]}
    asked["sensitive"].append({"column": "age", "cuts": [40]})
    chosen = {
        "recode": {"race": {"White": ["Caucasian"], "Black": ["Afro-American"],
                            "unknown": ["refused"]}},
        "where": "where = north or south", "count": "n", "weight": "w", "strata": "branch",
        "unknown": "NA", "accept": "undecided_outcomes", "exclude_groups": "Asian",
    }  # fmt: skip
    if isinstance(race, dict):
        del chosen["exclude_groups"]
    if len(outcomes) > 2:
        chosen["negative"] = ["Denied", "Withdrawn"]
    asked |= {name: given for name, given in chosen.items() if draw(st.booleans())}
    for name, values in (("race", ("White", "Black", "Asian")), ("where", ("north", "south"))):
        rows[name][: len(values)] = values  # what is named is there
    rows["end"][2:4] = ["Denied" if len(outcomes) > 2 else "Approved"] * 2  # of each half, one
    for name, value in (("where", "north"), ("n", 1), ("w", 2.0)):
        rows[name][:6] = [value] * 6
    rows["where"][4:6] = ["south"] * 2
    return rows, asked


def group_by(rows: Rows, asked: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    """Count rows by column, value and what they became, one by one."""
    found: Counter[tuple[Any, ...]] = Counter()
    sets = asked["sensitive"][0]
    for i in range(len(rows["end"])):
        row = {name: of[i] for name, of in rows.items()}
        lacks = ("count" in asked and not row["n"]) or ("weight" in asked and row["w"] is None)
        kept = "where" not in asked or row["where"] in ("north", "south")

        def state(value: Any, became: str, *, out: bool = not kept, lost: bool = lacks) -> Any:
            return (None, "uncounted") if lost else (value, "excluded" if out else became)

        end, race = row["end"], row["race"]
        became = "positive" if end == "Originated" else "negative"
        if "negative" in asked and end not in (None, "Originated", *asked["negative"]):
            became = "undecided"
        found["end", *state(end, became if end else "missing")] += 1
        name = RECODED.get(race, race) if "recode" in asked else race
        group = "missing" if name is None or ("unknown" in asked and name == "NA") else name
        if isinstance(sets, dict):
            of = {"White": "White", "Black": "Black, Asian", "Asian": "Black, Asian"}
            group = of.get(name, "missing" if group == "missing" else "others")
        group = "excluded" if group == "Asian" and "exclude_groups" in asked else group
        found["race", *state(race if kept else name, group)] += 1
        older = "(40, inf)" if row["age"] > 40 else "(-inf, 40]"
        found["age", *state(older, older)] += 1
        if "strata" in asked:
            found["branch", *state(row["branch"], row["branch"] or "missing")] += 1
        if "where" in asked:
            found["where", *state(row["where"], "counted")] += 1
    return found


def listed(report: Any) -> Counter[tuple[Any, ...]]:
    """Return the rows of a report by column, value and what they became."""
    return Counter({(e.column, e.value, e.as_): e.rows for e in report.counted})


@given(tables())
def test_counted_is_a_plain_group_by_from_every_source_and_after_merging(drawn):
    rows, asked = drawn
    frame = pl.DataFrame(rows, strict=False)
    report = fg.audit(frame, **asked)
    assert listed(report) == group_by(rows, asked)
    totals: Counter[str] = Counter()
    for each in report.counted:
        totals[each.column] += each.rows
    assert {*totals.values()} == {len(frame)}
    assert fg.Report.from_dict(report.to_dict()).counted == report.counted
    if "negative" in asked:
        kept = {None, "Originated", *asked["negative"]}
        blank = frame.with_columns(end=pl.Series([e if e in kept else None for e in rows["end"]]))
        same = fg.audit(blank, **{k: v for k, v in asked.items() if k != "negative"})
        assert [(e.metric, e.group, e.value, e.low) for e in report.estimates] == [
            (e.metric, e.group, e.value, e.low) for e in same.estimates
        ]
    half = [fg.count(frame[at::2], **asked) for at in (0, 1)]
    merged = half[0].add(half[1], allow_duplicates=True)
    for data in (merged, frame.to_pandas(), fg.count(pa.table(rows), **asked)):
        assert fg.audit(data, **asked).counted == report.counted
