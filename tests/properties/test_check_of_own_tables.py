"""`check` of single tables of every report: none is accused, and none is right by absence.

Tables of a report state percentages without a sign below "selected", differences, ratios to all
other groups and shares of people, beside counts: read as counts and selection rates they are wrong.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import polars as pl
import pytest
from tests.every_result import LOANS, RESULTS, RULES, loans, result, scored
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.render import render
from fairgauge_check.check_result import Check

HIRING: dict[str, Any] = {"prediction": "approved", "positive": "yes", "sensitive": ["sex", "race"]}
WEIGHTED = {"sensitive": "sex", "weight": "age"}
PRESETS: dict[str, Callable[[], Any]] = {
    "new york": lambda: fg.audit(loans(), **HIRING, preset="nyc-ll144"),
    "new york, scores": lambda: fg.audit(
        scored(), score="score", sensitive=["sex"], preset="nyc-ll144"
    ),
    "new york, nobody decided": lambda: fg.audit(
        with_nobody_decided(), **HIRING, preset="nyc-ll144"
    ),
    "new york, weighted": lambda: fg.audit(loans(), **HIRING | WEIGHTED, preset="nyc-ll144"),
    "lending": lambda: fg.audit(
        loans(), **HIRING, preset="us-lending", reference={"sex": "Male", "race": "White"}
    ),
    "lending, weighted": lambda: fg.audit(
        loans(), **HIRING | WEIGHTED, preset="us-lending", reference={"sex": "Male"}
    ),
    "guidelines": lambda: fg.audit(loans(), **HIRING, preset="ugesp"),
}
"""Reports with tables to publish, from which something can be computed again."""
FEW = "lending, few people"
OTHERS: dict[str, Callable[[], Any]] = {
    "weighted, few of whom all are selected": lambda: fg.audit(
        with_few_selected(), **HIRING | WEIGHTED, preset="nyc-ll144"
    ),
    "weighted": lambda: fg.audit(loans(), **HIRING | WEIGHTED),
    FEW: lambda: fg.audit(loans()[:60], **HIRING, preset="us-lending", reference={"sex": "Female"}),
    "few people": lambda: fg.audit(loans()[:150], **LOANS, rules=RULES),
    "reports of other people": lambda: fg.compare(
        *(fg.audit(part, **HIRING, rules=RULES[:1]) for part in (loans()[:3_000], loans()[3_000:]))
    ),
    "gaps": lambda: fg.why(loans(), **HIRING | {"sensitive": "race"}, strata="region"),
}


def with_few_selected() -> Any:
    """Return applicants of whom a few of one sex, fewer than 2%, are all selected."""
    few = loans()[:30].with_columns(sex=pl.lit("X"), approved=pl.lit("yes"))
    return pl.concat([loans(), few])


def with_nobody_decided() -> Any:
    """Return applicants of whom those of one sex and race have no decision."""
    crossed = (pl.col("sex") == "Female") & (pl.col("race") == pl.col("race").min())
    return loans().with_columns(approved=pl.when(~crossed).then("approved"))


@cache
def _report(name: str) -> Any:
    made = {**PRESETS, **OTHERS}
    return made[name]() if name in made else result(name)


def tables_of(text: str) -> Iterator[str]:
    """Yield every table of a report, with its title and notes."""
    for block in re.split(r"\n\s*\n", text):
        if "\n|" in f"\n{block}":
            yield f"{block}\n\n"


@cache
def checked(table: str) -> Check | None:
    """Return the check of a table, None where it is refused with what to do."""
    try:
        return fg.check(table)
    except fg.DataError:
        return None


@pytest.mark.parametrize("name", [
    *PRESETS, *(n for n in OTHERS if n != FEW), *(n for n in RESULTS if n != "check"),
    pytest.param(FEW, marks=pytest.mark.xfail(reason="AIR to all others, which no header states")),
])  # fmt: skip
def test_no_table_of_a_report_is_accused_and_none_is_right_by_absence(name: str) -> None:
    accused, computed = [], 0
    for full in (True, False):
        for table in tables_of(render(_report(name), "markdown", full=full)):
            found = checked(table)
            if found is None:
                continue
            accused += [(table[:200], e.message) for each in found.tables for e in each.errors]
            computed += found.numbers_checked
            assert found.numbers_checked or found.exit_code == 3, table
    assert accused == []
    if name in PRESETS:
        assert computed


@pytest.mark.parametrize("name", PRESETS)
def test_a_corrupted_number_of_a_table_to_publish_is_found(name: str) -> None:
    """One rate, ratio or number of selected people is changed, in the cell of one group."""
    tried = 0
    for table in tables_of(render(_report(name), "markdown", full=False)):
        found = checked(table)
        if found is None or not found.numbers_checked or not re.search(r"\d%", table):
            continue  # not one of those to publish
        corrupted = list(_corrupted(table, weighted="weighted" in name))
        for wrong in corrupted[:: 1 if EVERY_CASE else 3]:
            changed = checked(wrong)
            assert changed is not None
            assert changed.errors, wrong
            tried += 1
    assert tried


def _corrupted(table: str, *, weighted: bool) -> Iterator[str]:
    """Yield a table with a rate, a ratio, or a number of people selected wrong.

    Weighted rates follow from no printed counts: the ratio alone is held against them.
    """
    rate = re.search(r"\b(\d\d)\.(\d)%", table)
    assert rate is not None
    yield _with(table, rate, 1, str(int(rate[1]) + 10))
    ratio = re.search(r"\b0\.(\d)\d\d(?= \()", table)
    assert ratio is not None
    yield _with(table, ratio, 1, str((int(ratio[1]) + 3) % 10))
    selected = re.search(r"(?<=[\d,])[ |]+(\d+)(?=[ |]+\d\d\.\d%)", table)
    if not weighted:
        assert selected is not None
        yield _with(table, selected, 1, str(int(selected[1]) - 40).rjust(len(selected[1])))


def _with(table: str, found: re.Match[str], group: int, text: str) -> str:
    return table[: found.start(group)] + text + table[found.end(group) :]
