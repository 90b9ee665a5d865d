"""The tables of pages that come from measurements, filled in as the site is built.

``make coverage`` measures them, and writes the files of ``evidence`` that are named below.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

EVIDENCE = Path(__file__).resolve().parents[1] / "evidence"
ALL_METRICS = EVIDENCE / "coverage_of_all_metrics.json"
AUDITS = EVIDENCE / "coverage_of_audits.json"
DECISIONS = EVIDENCE / "coverage_of_decisions.json"
GAP_VERDICTS = EVIDENCE / "coverage_of_gap_verdicts.json"
SWAPPED_NAMES = EVIDENCE / "coverage_of_swapped_names.json"
TABLES = EVIDENCE / "tables.md"
_SHOWN = 3
_WIDE = 98.5
_FEWEST = 100
"""The fewest adequate data sets of which a coverage is shown."""

Record = dict[str, Any]


class Cell(NamedTuple):
    """What was counted of a metric's intervals of one group, class or average in one design.

    ``independent`` is how many of the adequate ones are of different data sets.
    """

    metric: str
    of: str
    held: int
    adequate: int
    independent: int

    @property
    def coverage(self) -> float:
        """In per cent."""
        return 100 * self.held / self.adequate

    def error(self, coverage: float) -> float:
        """Return the standard error of a coverage of so many per cent."""
        return math.sqrt(coverage * (100 - coverage) / self.independent)


def cells(record: Record) -> list[Cell]:
    """Return what was counted in a design where enough intervals are adequate to show."""
    found = [
        Cell(metric, of, held, adequate, min(adequate, record["data_sets"]))
        for metric, counts in record["intervals"].items()
        for of, (held, adequate) in counts.items()
    ]
    return [each for each in found if each.independent >= _FEWEST]


def by_design(records: list[Record]) -> str:
    """Return one row for each design: how many metrics were measured, and which cover least.

    Of the groups and classes of a metric, the one of the lowest coverage is shown.
    """
    rows = []
    for each in records:
        lowest_of: dict[str, Cell] = {}
        for cell in sorted(cells(each), key=lambda cell: cell.coverage):
            lowest_of.setdefault(cell.metric, cell)
        lowest = list(lowest_of.values())
        if not lowest:  # too few data sets so far
            rows.append((each["design"], f"{each['data_sets']:,}", "0", "-", "-", "-"))
            continue
        shown = ", ".join(
            f"{cell.metric} {cell.coverage:.1f} (± {2 * cell.error(95):.1f})"
            for cell in lowest[:_SHOWN]
        )
        middle = lowest[len(lowest) // 2].coverage
        wide = sum(cell.coverage > _WIDE for cell in lowest)
        rows.append(
            (each["design"], f"{each['data_sets']:,}", str(len(lowest)), f"{middle:.1f}",
             str(wide), shown)
        )  # fmt: skip
    return _markdown(("design", "data sets", "numbers", "median", "above 98.5", "lowest"), rows)


def of_audits(records: list[Record], what: str = "audits") -> str:
    """Return one row for each reviewed design: what was wanted, and how often each thing happened.

    What fewer audits could show than there were, such as coverage of adequate intervals, has the
    number of these.
    """
    rows = []
    for each in records:
        measured = [
            f"{name} {100 * happened / possible:.1f}"
            + (f" (of {possible:,})" if possible < each["audits"] else "")
            for name, (happened, possible) in each["counts"].items()
            if possible >= _FEWEST
        ]
        none = "too few audits so far"
        if each["audits"] >= _FEWEST and not each["counts"]:
            none = "no adequate interval"
        shown = "; ".join(measured) or none
        rows.append((each["of"], each["setting"], f"{each['audits']:,}", shown, each["wanted"]))
    return _markdown(("row", "design", what, "measured, in per cent", "wanted"), rows)


def of_swapped_names(records: list[Record]) -> str:
    """Return one row for each design of studies by swapped names."""
    rows = []
    for each in records:
        share = {what: f"{100 * n / each['studies']:.1f}" for what, n in each["counts"].items()}
        beside = ("items alone", "against the baseline", "differs without family")
        usual = [share.get(what, "") for what in beside]
        measured = [share.get(what, "") for what in ("differs", "equivalent", "covers")]
        rows.append((each["setting"], *measured, *usual, each["wanted"]))
    head = ("design", "differs", "equivalent", "interval covers", "items alone", "baseline",
            "without family", "wanted")  # fmt: skip
    return _markdown(head, rows)


def page(text: str, made: dict[str, str]) -> str:
    """Return the page with what stands between its marks replaced, by the name of the marks."""
    for name, tables_of in made.items():
        begin, end = f"<!-- made from {name} -->", f"<!-- end of what is made from {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{tables_of}\n\n{end}{rest.split(end)[1]}"
    return text


def with_tables(text: str) -> str:
    """Return a page with each measured table in place of the link to it, folded."""
    at = "https://github.com/fairgauge/fairgauge/blob/main/evidence/tables.md#"
    for section in TABLES.read_text(encoding="utf-8").split("\n## ")[1:]:
        name, _, table = section.partition("\n\n")
        link = f"[Table]({at}{name.casefold().replace(',', '').replace(' ', '-')})."
        folded = f"<details><summary>{name}</summary>\n\n{table.strip()}\n\n</details>"
        text = text.replace(link, f"\n\n{folded}\n")
    return text


def read(path: Path) -> list[Record]:
    """Return measurements."""
    records: list[Record] = json.loads(path.read_text(encoding="utf-8"))
    return records


def made() -> dict[str, str]:
    """Return what is written between the marks of the page."""
    return {
        ALL_METRICS.name: by_design(read(ALL_METRICS)),
        AUDITS.name: of_audits(read(AUDITS)),
        DECISIONS.name: of_audits(read(DECISIONS)),
        GAP_VERDICTS.name: of_audits(read(GAP_VERDICTS), "tables"),
        SWAPPED_NAMES.name: of_swapped_names(read(SWAPPED_NAMES)),
    }


def _markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
