"""Write the tables of docs/monitoring-simulation.md from docs/monitoring-simulation.json.

``python docs/make_monitoring_page.py`` writes them; ``python -m bench.monitoring`` measures.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PAGE, MEASURED = DOCS / "monitoring-simulation.md", DOCS / "monitoring-simulation.json"
BEGIN = "<!-- made from monitoring-simulation.json -->"
END = "<!-- end of what is made from monitoring-simulation.json -->"

FALSE_ALARMS = "Years of 365 daily batches with at least one false alarm:"
DELAYS = (
    "Median days from the shift to the alarm (share of years in which it is found, where that is "
    "not all); years with an alarm before the shift are counted after the comma:"
)

Record = dict[str, Any]


def tables(records: list[Record]) -> str:
    """Return both tables: false alarms in a year, and delays."""
    false = [each for each in records if each["kind"] == "false"]
    delay = [each for each in records if each["kind"] == "delay"]
    names = list(dict.fromkeys(name for each in records for name in each["measured"]))
    parts = (
        FALSE_ALARMS,
        _table("stream", names, false, _share),
        DELAYS,
        _table("shift of the difference from 0", names, delay, _delay),
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


def _table(first: str, names: list[str], records: list[Record], cell: Any) -> str:
    lines = [f"| {first} | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for each in records:
        cells = [cell(each["measured"][name]) if name in each["measured"] else "" for name in names]
        lines.append(f"| {each['design']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(found: dict[str, float]) -> str:
    return f"{100 * found['share']:.1f}%"


def _delay(found: dict[str, Any]) -> str:
    if found["early"] > 0.9:
        return f"-, {100 * found['early']:.0f}%"
    median = "never" if found["median"] is None else f"{found['median']:g}"
    share = f" ({100 * found['found']:.0f}%)" if found["found"] < 0.995 else ""
    early = f", {100 * found['early']:.0f}%" if found["early"] >= 0.005 else ""
    return f"{median}{share}{early}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), tables(read())), encoding="utf-8")
