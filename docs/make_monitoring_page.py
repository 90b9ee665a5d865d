"""The tables of docs/monitoring-simulation.md, filled in as the site is built.

``python -m bench.monitoring`` measures what they show.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).resolve().parents[1] / "evidence" / "monitoring-simulation.json"
BEGIN = "<!-- made from monitoring-simulation.json -->"
END = "<!-- end of what is made from monitoring-simulation.json -->"

FALSE_ALARMS = (
    "Years with at least one false alarm, of the simulated years of 365 daily batches in each row:"
)
DELAYS = (
    "Median days from the shift to the alarm (share of years in which it is found, where that is "
    "not all); years with an alarm before the shift are counted after the comma:"
)

SEQUENCES = (
    "Years in which every interval of all 365 days contains its value, and the median width after "
    "30 and 365 days:"
)
BETTING = (
    "Streams of pairs, one row of each group, of which equality is tested; median pairs to the "
    "alarm, and the share of streams that alarm within 4,000 pairs:"
)
CASES = {"fair": "both groups alike (false alarms)", "unfair": "different from the first pair",
         "shift": "different from pair 401 on"}  # fmt: skip

Record = dict[str, Any]


def tables(records: list[Record]) -> str:
    """Return all tables: false alarms in a year, delays, sequences, and streams of pairs."""
    false, delay, sequence, betting = (
        [each for each in records if each["kind"] == kind]
        for kind in ("false", "delay", "sequence", "betting")
    )
    betting = [
        each | {"design": f"{each['design']} {each['rates'][0]:.3f} and {each['rates'][1]:.3f}, "
                          f"{CASES[each['case']]}"}
        for each in betting
    ]  # fmt: skip
    parts = (
        (FALSE_ALARMS, "stream", false, _share),
        (DELAYS, "shift of the difference from 0", delay, _delay),
        (SEQUENCES, "stream", sequence, _sequence),
        (BETTING, "stream", betting, _pairs),
    )
    return "\n\n".join(
        f"{caption}\n\n{_table(first, measured, cell)}"
        for caption, first, measured, cell in parts
        if measured
    )


def page(text: str, made: str) -> str:
    """Return the page with the tables between its marks replaced."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.split(END)[1]}"


def read() -> list[Record]:
    """Return the measurements."""
    records: list[Record] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return records


def _table(first: str, records: list[Record], cell: Any) -> str:
    names = list(dict.fromkeys(name for each in records for name in each["measured"]))
    counted = ["years"] if "years" in records[0] else []
    columns = [*counted, *names]
    lines = [f"| {first} | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    for each in records:
        cells = [f"{each[name]:,}" for name in counted]
        cells += [cell(each["measured"][n]) if n in each["measured"] else "" for n in names]
        lines.append(f"| {each['design']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(found: dict[str, float]) -> str:
    return f"{100 * found['share']:.1f}%"


def _sequence(found: dict[str, float]) -> str:
    widths = f"{found['width_30']:.3f}, {found['width_365']:.3f}"
    return f"{100 * found['held']:.1f}% ({widths})"


def _pairs(found: dict[str, Any]) -> str:
    median = "never" if found["median"] is None else f"{found['median']:g}"
    early = f", {100 * found['early']:.0f}% before" if found["early"] >= 0.005 else ""
    return f"{median} ({100 * found['found']:.0f}%{early})"


def _delay(found: dict[str, Any]) -> str:
    if found["early"] > 0.9:
        return f"-, {100 * found['early']:.0f}%"
    median = "never" if found["median"] is None else f"{found['median']:g}"
    share = f" ({100 * found['found']:.0f}%)" if found["found"] < 0.995 else ""
    early = f", {100 * found['early']:.0f}%" if found["early"] >= 0.005 else ""
    return f"{median}{share}{early}"
