"""Write the tables of docs/coverage.md that come from docs/coverage.json.

``python docs/make_coverage_page.py`` writes them; the measurements are those of ``make coverage``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PAGE, MEASURED = DOCS / "coverage.md", DOCS / "coverage.json"
BEGIN, END = "<!-- made from coverage.json -->", "<!-- end of what is made from coverage.json -->"
_COVERAGE = ("coverage if adequate", "coverage", "simultaneous coverage")
_NOT_ADEQUATE = ", not adequate"
_FEWEST = 100
"""The fewest adequate data sets of which a coverage is shown."""

Record = dict[str, Any]


def tables(records: list[Record]) -> str:
    """Return the tables: coverage by subject, what is not adequate, and all other probabilities."""
    covering = [each for each in records if _coverage(each) is not None]
    adequate = [each for each in covering if _is_adequate(each)]
    marked = [each for each in covering if not _is_adequate(each)]
    others = [each for each in records if _coverage(each) is None]
    parts = (
        _by_subject(adequate),
        "Too few data, which an audit marks as such and no rule is decided by:",
        _by_subject(marked),
        "Probabilities of verdicts, of alarms and of planned rows, in per cent:",
        _other_probabilities(others),
    )
    return "\n\n".join(parts)


def page(text: str, made: str) -> str:
    """Return the page with the tables between its marks replaced."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.split(END)[1]}"


def read() -> list[Record]:
    """Return the measurements."""
    records: list[Record] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return records


def _is_adequate(record: Record) -> bool:
    """Return whether an audit calls intervals of the design adequate, often enough to count."""
    share = record["measured"].get("adequate", 100.0) / 100
    return _NOT_ADEQUATE not in record["setting"] and share * record["data_sets"] >= _FEWEST


def _coverage(record: Record) -> float | None:
    """Return the coverage: where intervals are adequate, if they are; None of what has none."""
    names = _COVERAGE if _is_adequate(record) else _COVERAGE[1:]
    return next((record["measured"][n] for n in names if n in record["measured"]), None)


def _by_subject(records: list[Record]) -> str:
    """Return one row for each subject and method, with the design that covers least."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for each in records:
        groups.setdefault((each["subject"], each["method"]), []).append(each)
    rows = []
    for (subject, method), several in groups.items():
        covered = [_coverage(each) or 0.0 for each in several]
        lowest = several[covered.index(min(covered))]
        before = dict.fromkeys(each["before"] for each in several)
        rows.append(
            (
                subject, method, str(len(several)), f"{sum(covered) / len(covered):.1f}",
                f"**{min(covered):.1f}**", f"{max(covered):.1f}",
                lowest["setting"].replace(_NOT_ADEQUATE, ""), "; ".join(before),
            )
        )  # fmt: skip
    head = (
        "number", "interval", "designs", "mean", "lowest", "highest", "the lowest is of", "before",
    )  # fmt: skip
    return _markdown(head, rows)


def _other_probabilities(records: list[Record]) -> str:
    rows = [
        (each["subject"], each["setting"], _listed(each["measured"]), each["before"])
        for each in records
    ]
    return _markdown(("what", "design", "measured", "before"), rows)


def _listed(measured: dict[str, float]) -> str:
    return "; ".join(f"{name} {value:,g}" for name, value in measured.items())


def _markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), tables(read())), encoding="utf-8")
