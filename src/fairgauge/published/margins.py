"""Tables held against each other: the sums of intersections, and the people of all tables."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from fairgauge.published.published_table import ColumnRole, RowKind
from fairgauge.results.check import Fault, FaultCode, Finding, Findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.published.published_table import PublishedTable

_COUNTS = (ColumnRole.N, ColumnRole.SELECTED)


def check_margins(tables: Sequence[PublishedTable]) -> list[Findings]:
    """Return, for every table, where it disagrees with tables of the same people.

    The counts of a category are held against the sum of its intersections with another feature.
    Where no category of a table is part of an intersection, nothing is compared.
    """
    crossed = [table for table in tables if len(table.dimensions) > 1]
    return [
        Findings.of(
            finding
            for many in crossed
            if len(table.dimensions) == 1
            for finding in _sums(table, many)
        )
        for table in tables
    ]


def _sums(one: PublishedTable, many: PublishedTable) -> Iterator[Finding]:
    categories = {row.categories[0].casefold(): row for row in one.groups}
    for i in range(len(many.dimensions)):
        parts = defaultdict(list)
        for row in many.groups:
            parts[row.categories[i].casefold()].append(row)
        if not parts.keys() & categories.keys():
            continue
        for name, row in categories.items():
            for role in _COUNTS:
                printed = getattr(row, role)
                counts = [getattr(part, role) for part in parts.get(name, ())]
                if printed is None or not counts or None in counts:
                    continue
                total = sum(each.value for each in counts)
                unknown = sum(
                    each.value
                    for other in many.of(RowKind.UNKNOWN)
                    if (each := getattr(other, role)) is not None
                )
                if total <= printed.value <= total + unknown:
                    yield None
                else:
                    yield Fault.of(
                        FaultCode.MARGIN_MISMATCH,
                        (row.number, row.name),
                        column=str(role),
                        printed=printed.text,
                        total=total,
                        other=many.name,
                    )
        return
