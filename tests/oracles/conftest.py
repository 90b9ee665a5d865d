"""The audited tables: each is read, and each question asked, once for all oracle tests."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from ledger import PROPERTY, Ledger, summary

import fairgauge as fg

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = {
    "compas_pred": ("compas_pred.csv", "two_year_recid"),
    "adult_pred": ("adult_pred.csv.gz", "income"),
    "hmda_pred": ("hmda_pred.csv", "deny"),
    "compas_multiclass_pred": ("compas_multiclass_pred.csv", "score_text"),
}
"""File and label of every table; the prediction is the column of that name."""


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
        parts = columns.split("|")
        asked = {"sensitive": parts} if len(parts) == 1 else {"intersections": [tuple(parts)]}
        return fg.audit(
            table(name),
            label=COLUMNS[name][1],
            prediction="prediction",
            positive=positive,
            **asked,
            **{"metrics": "all", **options},
        )

    return audit


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
    """Say for every peer how many numbers were compared, agree and are explained."""
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
