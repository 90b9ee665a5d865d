"""The audited tables: each is read, and each question asked, once for all oracle tests."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from ledger import PROPERTY, Ledger, summary
from vendor import COLUMNS, FOLDER

import fairgauge as fg

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def table(shared: Any) -> Callable[[str], pd.DataFrame]:
    """Read a table as its provenance says: an empty cell is missing, nothing else is."""

    @cache
    def read(name: str) -> pd.DataFrame:
        return pd.read_csv(shared.data(COLUMNS[name][0]))

    return read


@pytest.fixture(scope="session")
def audited(table: Any) -> Callable[..., fg.Report]:
    """Audit a table for one feature (``race``) or intersection (``race|sex``)."""

    @cache
    def audit(name: str, columns: str, positive: Any, **options: Any) -> fg.Report:
        return ask(table(name), name, columns, positive, **options)

    return audit


def ask(data: Any, name: str, columns: str, positive: Any, **options: Any) -> fg.Report:
    parts = columns.split("|")
    asked = {"sensitive": parts} if len(parts) == 1 else {"intersections": [tuple(parts)]}
    return fg.audit(
        data, label=COLUMNS[name][1], prediction="prediction", positive=positive, **asked,
        **{"metrics": "all", **options},
    )  # fmt: skip


class Rows:
    """The oracle values and tables beside the repository."""

    def __init__(self, shared: Any, audited: Callable[..., fg.Report]) -> None:
        self.oracle, self.audit = shared.oracle, audited


class Counts:
    """The numbers of other tools in the repository, and the counts that they follow from."""

    def __init__(self) -> None:
        self.audit = cache(self._audit)

    def oracle(self, name: str) -> Any:
        return json.loads((FOLDER / name).read_text(encoding="utf-8"))

    def _audit(self, name: str, columns: str, positive: Any, **options: Any) -> fg.Report:
        strata = options.get("strata")
        names = [*columns.split("|"), *([strata] if strata else [])]
        tables = self.oracle(f"{name}__counts.json")["tables"]
        header = [*names, COLUMNS[name][1], "prediction", "cases"]
        frame = pd.DataFrame(tables["|".join(names)], columns=header)
        return ask(frame, name, columns, positive, count="cases", **options)


@pytest.fixture(scope="session", params=["vendored", "shared"])
def peers(request: pytest.FixtureRequest) -> Rows | Counts:
    """Give the numbers of other tools, and audits of the same tables, from either source."""
    if request.param == "vendored":
        return Counts()
    shared = request.getfixturevalue("shared")
    shared.data("PROVENANCE.md")  # skips where there is none
    return Rows(shared, request.getfixturevalue("audited"))


def groups_of(report: fg.Report, stratum: str | None = None) -> dict[str, Any]:
    """Return the groups of a report by name, in one stratum."""
    return {g.group: g for g in report.groups if g.stratum == stratum}


@pytest.fixture(scope="session")
def groups() -> Callable[..., dict[str, Any]]:
    return groups_of


@pytest.fixture
def ledger(record_property: Callable[[str, object], None]) -> Callable[[str], Ledger]:
    """Open the ledger of a peer for one test."""
    return lambda peer: Ledger(peer, record_property)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Report for every peer how many numbers were compared, agree and are explained."""
    entries = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if entries:
        terminalreporter.section("oracles: numbers of other tools")
        for line in summary(entries):
            terminalreporter.write_line(line)
