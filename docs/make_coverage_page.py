"""The tables of docs/coverage.md that come from measurements, filled in as the site is built.

``make coverage`` measures: evidence/coverage.json by ``bench.coverage``,
evidence/coverage_of_all_metrics.json by ``bench.all_metrics``, evidence/coverage_of_audits.json by
``bench.reviewed_audits``, evidence/coverage_of_decisions.json by ``bench.decisions``,
evidence/coverage_of_swapped_names.json by ``bench.swapped_names``,
evidence/coverage_of_unrecorded_groups.json by ``bench.unrecorded_groups``,
evidence/coverage_of_gap_verdicts.json by ``bench.why_verdicts``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

EVIDENCE = Path(__file__).resolve().parents[1] / "evidence"
MEASURED = EVIDENCE / "coverage.json"
ALL_METRICS = EVIDENCE / "coverage_of_all_metrics.json"
AUDITS = EVIDENCE / "coverage_of_audits.json"
DECISIONS = EVIDENCE / "coverage_of_decisions.json"
GAP_VERDICTS = EVIDENCE / "coverage_of_gap_verdicts.json"
SWAPPED_NAMES = EVIDENCE / "coverage_of_swapped_names.json"
SUBGROUP_SEARCHES = EVIDENCE / "coverage_of_subgroup_searches.json"
UNRECORDED_GROUPS = EVIDENCE / "coverage_of_unrecorded_groups.json"
_COVERAGE = ("coverage if adequate", "coverage", "simultaneous coverage")
_ONE_GROUP = "one group"
_SHOWN = 3
_WIDE = 98.5
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
        measured = [share.get(what, "") for what in ("differs", "changed", "equivalent", "covers")]
        rows.append((each["setting"], *measured, *usual, each["wanted"]))
    head = ("design", "differs", "changed", "equivalent", "interval covers", "items alone",
            "baseline", "without family", "wanted")  # fmt: skip
    return _markdown(head, rows)


def of_subgroup_searches(records: list[Record]) -> str:
    """Return one row for each law of tables that were searched for subgroups."""
    rows = []
    for each in records:
        sums, tables_of = each["sums"], each["tables"]
        shares = [
            f"{100 * sums[what] / tables_of:.1f}" if what in sums else ""
            for what in ("wrong worse", "wrong not worse", "a lower end fails",
                         "an upper end fails")
        ]  # fmt: skip
        means = [f"{sums[what] / tables_of:,.1f}" for what in ("worse", "found")]
        subgroups = f"{sums['subgroups'] / tables_of:,.0f}"
        rows.append((each["setting"], f"{tables_of:,}", subgroups, *shares, *means))
    head = (
        "tables", "number", "subgroups", 'wrong "worse"', 'wrong "not worse"', "a lower end fails",
        "an upper end fails", "worse in truth", "called worse",
    )  # fmt: skip
    return _markdown(head, rows)


_ESTIMATORS = ("likelihood", "bounds", "validated")
_OF_GAPS = {
    "gap": "selection_rate.difference", "ratio": "selection_rate.ratio",
    "TPR gap": "true_positive_rate.difference", "FPR gap": "false_positive_rate.difference",
}  # fmt: skip


def of_unrecorded_groups(records: Iterable[Record]) -> str:
    """Return two tables: verdicts by every estimator under each law, and coverage by design.

    A row has its number of tables; what has too few of them is counted below.
    """
    every = list(records)
    shown = [each for each in every if each["tables"] >= _FEWEST]
    verdicts, coverage = [], []
    for each in shown:
        number, sums = each["tables"], each["sums"]

        def percent(name: str, number: int = number, sums: Record = sums) -> str:
            return f"{100 * sums.get(name, 0) / number:.1f}"

        begin = (each["design"], f"{each['people']:,}", f"{number:,}")
        if each["kind"] == "verdicts":
            cells = [
                f"{percent(f'{name} pass')} / {percent(f'{name} fail')} "
                f"({percent(f'{name} covers')})"
                for name in _ESTIMATORS
            ]
            verdicts.append((*begin, f"{each['gap']:+.1f}", *cells))
        else:
            bias = sums["likelihood bias"] / number
            error = math.sqrt(sums["likelihood squared"] / number)
            covered = [percent(f"{metric} covered") for metric in _OF_GAPS.values()]
            coverage.append((*begin, f"{bias:+.1f} / {error:.1f}", *covered))
    few = len(every) - len(shown)
    parts = [
        _markdown(("law", "people", "tables", "gap", *_ESTIMATORS), verdicts) if verdicts else "",
        _markdown(
            ("design", "people", "tables", "likelihood: bias / RMSE", *_OF_GAPS),
            coverage,
        )
        if coverage
        else "",
        f"Fewer than {_FEWEST} tables so far, and not shown: {few} of {len(every)} designs."
        if few
        else "",
    ]
    return "\n\n".join(filter(None, parts))


def page(text: str, made: dict[str, str]) -> str:
    """Return the page with what stands between its marks replaced, by the name of the marks."""
    for name, tables_of in made.items():
        begin, end = f"<!-- made from {name} -->", f"<!-- end of what is made from {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{tables_of}\n\n{end}{rest.split(end)[1]}"
    return text


def read(path: Path = MEASURED) -> list[Record]:
    """Return measurements."""
    records: list[Record] = json.loads(path.read_text(encoding="utf-8"))
    return records


def made() -> dict[str, str]:
    """Return what is written between the marks of the page."""
    return {
        MEASURED.name: tables(read()),
        ALL_METRICS.name: by_design(read(ALL_METRICS)),
        AUDITS.name: of_audits(read(AUDITS)),
        DECISIONS.name: of_audits(read(DECISIONS)),
        GAP_VERDICTS.name: of_audits(read(GAP_VERDICTS), "tables"),
        SWAPPED_NAMES.name: of_swapped_names(read(SWAPPED_NAMES)),
        SUBGROUP_SEARCHES.name: of_subgroup_searches(read(SUBGROUP_SEARCHES)),
        UNRECORDED_GROUPS.name: of_unrecorded_groups(
            json.loads(UNRECORDED_GROUPS.read_text(encoding="utf-8")).values()
        ),
    }


def _is_adequate(record: Record) -> bool:
    """Return whether an audit calls intervals of the design adequate, often enough to count."""
    share = record["measured"].get("adequate", 100.0) / 100
    return bool(share * record["data_sets"] >= _FEWEST)


def _coverage(record: Record) -> float | None:
    """Return the coverage: where intervals are adequate, if they are; None of what has none.

    The lower one, of a comparison and of one group alone where both are measured.
    """
    names = _COVERAGE if _is_adequate(record) else _COVERAGE[1:]
    measured = record["measured"]
    compared = next((measured[n] for n in names if n in measured), None)
    return None if compared is None else min(compared, measured.get(_ONE_GROUP, compared))


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
                lowest["setting"], "; ".join(before),
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
