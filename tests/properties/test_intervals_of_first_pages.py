"""The grid of rules draws the intervals that decide, and a page states each number's own."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from tests import every_result

import fairgauge as fg
import sample_reports
from fairgauge.render import _document_tree as tree
from fairgauge.render import render
from fairgauge.render.document import document
from fairgauge.render.page import first_page, rule_grid
from fairgauge.render.streams import tables_of
from fairgauge.results.estimates import Estimate, is_significant
from fairgauge.start.records import replace
from fairgauge.statements.audit import audit_page
from fairgauge.statements.compared import inverse

if TYPE_CHECKING:
    from fairgauge.render._document_tree import GridCell
    from fairgauge.results.report import Report

_DIFFERENCE = "-0.1 <= selection_rate.difference <= 0.1"
_OF_RATES = "-0.1 <= false_positive_rate.difference <= 0.1"


def _risk(**options: object) -> Report:
    asked = {"label": "reoffended", "prediction": "high", "positive": 1, "sensitive": "race"}
    return fg.audit(
        every_result.defendants(), words=every_result.RISK_WORDS, favourable="negative", **asked,
        **options,
    )  # fmt: skip


def _calls() -> Report:
    rules = ["accuracy.difference >= -0.02"]
    asked = {"label": "asked", "prediction": "routed", "sensitive": "accent"}
    return fg.audit(every_result.calls(), rules=rules, **asked)


def _errors() -> Report:
    rules = ["-5 <= mean_error.difference <= 5"]
    return every_result.of_regression(label="price", prediction="estimate", rules=rules)


REPORTS = {
    "small": sample_reports.small, "several": sample_reports.several,
    "scored": sample_reports.scored,
    "crossed": lambda: sample_reports.crossed(rules=every_result.RULES),
    "loans": every_result.of_loans,
    "loans by difference": lambda: every_result.of_loans(rules=[_DIFFERENCE]),
    "familywise": lambda: every_result.of_loans(multiplicity="familywise"),
    "risk": lambda: _risk(rules=[_OF_RATES, _DIFFERENCE]),
    "thresholds": lambda: every_result.of_scores(threshold=[0.4, 0.6], rules=[_DIFFERENCE]),
    "errors": _errors, "classes": _calls, "unrecorded": every_result.unrecorded,
}  # fmt: skip


@pytest.fixture(scope="module", params=REPORTS)
def report(request: pytest.FixtureRequest) -> Report:
    return REPORTS[request.param]()


def _cells(report: Report) -> list[GridCell]:
    grid = rule_grid(first_page(report))
    assert grid is not None
    return [cell for _, lines in grid.parts for _, row in lines for cell in row if cell]


def test_every_interval_of_the_grid_is_the_one_that_decides_its_rule(report: Report) -> None:
    """A wider one would reach over a limit beside the word FAIL, or out of it beside PASS."""
    decide = {
        frozenset((abs(each.interval.low), abs(each.interval.high)))
        for each in report.verdicts
        if each.interval is not None
    }
    drawn = [cell.mark for cell in _cells(report) if cell.mark.low is not None]
    assert drawn
    assert {frozenset((abs(mark.low), abs(mark.high))) for mark in drawn} <= decide


def test_every_interval_of_a_page_is_its_number_s_own(report: Report) -> None:
    """Not the wider one for all comparisons together: a number stands with one interval."""
    intervals = [each.interval for each in report.estimates if each.interval is not None]
    ends = [(each.low, each.high) for each in intervals]
    own = [(low, high) for pair in ends for low, high in (pair, inverse(pair, "difference"))]
    own += filter(None, (inverse(pair, "ratio") for pair in ends))
    stated = [each for each in audit_page(report).statements if each.interval is not None]
    assert stated
    for each in stated:
        if each.code != "interval":  # which is about all of them
            assert any(np.allclose((each.interval.low, each.interval.high), of) for of in own)


def _otherwise(each: Estimate | None) -> Estimate | None:
    # with another simultaneous interval, on the same side of no difference
    if each is None or each.simultaneous is None or each.interval is None:
        return each
    (low, high), own, size = each.simultaneous, each.interval, 0.1
    size += abs(high - low) / 7
    ends = {"low": low - size, "high": high + 2 * size}
    if is_significant(each):
        ends = {"low": (low + own.low) / 2, "high": (high + own.high) / 2}
    return replace(each, simultaneous=replace(each.simultaneous, **ends))


def _with_other_simultaneous(report: Report) -> Report:
    def of(finding: Any) -> Any:
        made: dict[str, Any] = {
            name: _otherwise(getattr(finding, name)) for name in ("estimate", "beside", "adjusted")
        }
        for name in ("others", "others_beside"):
            made[name] = tuple(map(_otherwise, getattr(finding, name)))
        return replace(finding, **made)

    estimates = tuple(map(_otherwise, report.estimates))
    return replace(report, estimates=estimates, findings=tuple(map(of, report.findings)))


FORMATS = [("text", {}), ("text", {"full": True}), ("markdown", {"full": True}), ("csv", {}),
           ("junit", {})]  # fmt: skip


@pytest.mark.parametrize("name", every_result.RESULTS)
def test_every_table_of_every_result_is_a_frame(name: str) -> None:
    """Those of two models, and of two reports, could not be made: a text counted as a number."""
    found = every_result.result(name)
    for table in tables_of(found):
        frame, plain = found.to_pandas(table), found.to_polars(table)
        header = render(found, "csv", table=table).split("\n")[0].split(",")
        assert [*frame.columns] == plain.columns == header
        assert len(frame) == len(plain)


def _with_other_family(change: Any) -> Any:
    # with another interval for all disparities together, on the same side of no difference
    def other(each: Any) -> Any:
        if (of := each.distance_adjusted) is None:
            return each
        size = 0.1 * min(abs(of.low), abs(of.high), of.high - of.low)
        return replace(each, distance_adjusted=replace(of, low=of.low + size, high=of.high + size))

    candidates = (
        replace(e, disparities=tuple(map(other, e.disparities))) for e in change.candidates
    )
    return replace(change, candidates=tuple(candidates))


def test_adjusted_intervals_of_two_models_stand_in_their_own_columns_alone(tmp_path: Any) -> None:
    """Whatever they are, every number of a comparison has its own interval in every format."""
    models = every_result.result("models")
    both = models, _with_other_family(models)
    assert both[0] != both[1]
    for format_, options in [("text", {"full": True}), ("markdown", {"full": True}), ("html", {})]:
        one, other = (render(each, format_, **options) for each in both)
        assert one == other
    frames = [each.to_pandas() for each in both]
    written = [pd.read_csv(io.StringIO(render(each, "csv"))) for each in both]
    for each in both:
        each.save(tmp_path / f"{len(frames)}.xlsx")
        frames.append(pd.read_excel(tmp_path / f"{len(frames)}.xlsx", sheet_name="Changes"))
    for one, other in (frames[:2], frames[2:], written):
        differ = {name for name in one if not one[name].equals(other[name])}
        assert differ == {"distance_adjusted_low", "distance_adjusted_high"}


REPORTS_OF_STOCK = {
    name: lambda name=name: every_result.result(name)
    for name in every_result.RESULTS
    if name != "hostile" and isinstance(every_result.result(name), fg.Report)
}


@pytest.mark.parametrize("name", REPORTS_OF_STOCK | REPORTS)
def test_simultaneous_intervals_stand_in_their_own_column_alone(name: str, tmp_path: Any) -> None:
    """Whatever they are, no other number of any format changes: each has its own interval."""
    report: Report = (REPORTS_OF_STOCK | REPORTS)[name]()
    both = report, _with_other_simultaneous(report)
    for format_, options in FORMATS:
        texts = (render(each, format_, **options) for each in both)
        # whole texts end with the table of all numbers, which has that column
        assert len({re.split(r"\n(?:## )?All numbers\n", text)[0] for text in texts}) == 1
    assert both[0].to_pandas().equals(both[1].to_pandas())
    title, column = "CI for all comparisons together", set[int]()
    for lines in zip(*(render(each, "html").split("\n") for each in both), strict=True):
        if title in lines[0]:
            column = {[title in of for of in lines[0].split("<th ")[1:]].index(True)}
        cells = zip(*(line.split("<td>") for line in lines), strict=True)
        assert {i for i, (one, two) in enumerate(cells) if one != two} <= column
    held = list[dict[tuple[str, str], object]]()
    for each in both:
        each.save(tmp_path / "report.xlsx")
        book = openpyxl.load_workbook(tmp_path / "report.xlsx")
        found = {(of.title, cell.coordinate): cell for of in book for row in of for cell in row}
        held.append({place: cell.value for place, cell in found.items()})
    differ = {place for place in held[0] if held[0][place] != held[1].get(place)}
    columns = {(sheet, cell.rstrip("0123456789")) for sheet, cell in differ}
    heads = {str(held[0][sheet, f"{letter}1"]) for sheet, letter in columns}
    assert heads <= {f"95% {title}", f"90% {title}", f"99% {title}"}


_PRINTED = re.compile(r"CI,? \(?([−+]?[\d.]+)%? to ([−+]?(?:[\d.]+|infinity))")


def _own_intervals(plain: Any) -> Iterator[tuple[float, float]]:
    # those of numbers, not those of all comparisons together
    if isinstance(plain, dict):
        if {"low", "high"} <= plain.keys() and None not in (plain["low"], plain["high"]):
            yield float(plain["low"]), float(plain["high"])
        plain = [each for key, each in plain.items() if key != "simultaneous"]
    for each in plain if isinstance(plain, list) else ():
        yield from _own_intervals(each)


def _printed_text(report: Report, format_: str, options: dict[str, Any], folder: Any) -> str:
    if format_ == "xlsx":
        report.save(folder / "report.xlsx")
        book = openpyxl.load_workbook(folder / "report.xlsx")
        cells = (cell.value for sheet in book for row in sheet for cell in row)
        return " ".join(each for each in cells if isinstance(each, str))
    text = re.sub("<style.*?</style>|<script.*?</script>", "", render(report, format_, **options))
    text = text if format_ == "junit" else re.sub("<[a-z/][^>]*>", " ", text)
    return " ".join(html.unescape(text).split())


@pytest.mark.parametrize("name", REPORTS)
def test_every_interval_that_a_format_prints_is_one_of_json(name: str, tmp_path: Any) -> None:
    """A gap has one interval in text, Markdown, HTML, CSV, XLSX, JUnit and JSON."""
    report = REPORTS[name]()
    known = [*_own_intervals(report.to_dict())]
    known += [(-high, -low) for low, high in known]
    known += [(1 / high, 1 / low if low else math.inf) for low, high in known if low >= 0 < high]
    formats = [*FORMATS, ("html", {}), ("xlsx", {})]
    for format_, options in formats:
        printed = _PRINTED.findall(_printed_text(report, format_, options, tmp_path))
        assert printed, format_
        for pair in printed:
            ends = [float(end.replace("−", "-").replace("infinity", "inf")) for end in pair]
            units = [10 ** -len(end.partition(".")[2]) * 0.5001 for end in pair]
            assert any(
                all(n == end or abs(n * scale - end) <= unit
                    for n, end, unit in zip(each, ends, units, strict=True))
                for each in known for scale in (1, 100)
            ), (format_, pair)  # fmt: skip


def _tables(section: Any) -> Iterator[tree.Table]:
    for block in section.blocks:
        if isinstance(block, tree.Section):
            yield from _tables(block)
        elif isinstance(block, tree.Table):
            yield block


@pytest.mark.parametrize("name", every_result.RESULTS)
def test_every_interval_of_a_table_names_its_level(name: str) -> None:
    """In the head of its column, or in each of its cells."""
    whole = document(every_result.result(name), full=True)
    for table in (each for section in whole.sections for each in _tables(section)):
        if table.caption.startswith("Values"):  # whose values may be ranges
            continue
        for i, column in enumerate(table.columns):
            cells = [f"{row[i].text} {row[i].below}" for row in (*table.rows, *table.totals)]
            ends = [text for text in cells if re.search(r"\d\S* to [−+-]?\d", text)]
            noted = any("% confidence interval" in note for note in table.notes)
            if ends and not noted and "% CI" not in column.heading:
                assert all("% CI" in text for text in ends), (table.caption, column.heading, ends)
